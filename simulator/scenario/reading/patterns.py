"""Patterns of scenarios, matched by a linear-time engine, so that no pattern can hang the server."""

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import jsonschema_rs

from simulator.scenario.reading.nodes import HALF_LINE_CHARS

# The maximum size of a compiled pattern and its cache; rejects `a{5000}`, realistic patterns are far below.
COMPILED_BYTES_MAX = 512 * 1024

NOT_A_PATTERN = (
    "is not a regular expression of a linear-time engine (no look-around, no back-references, no huge repeats)"
)


@dataclass(frozen=True, slots=True)
class Finder:
    """A compiled pattern, called with a text. Finders with equal patterns are equal, so that catalogs compare."""

    pattern: str
    is_valid: Callable[[str], bool] = field(compare=False)

    def __call__(self, text: str) -> bool:
        """Return True if the pattern occurs anywhere in the text."""
        try:
            return self.is_valid(text)
        except UnicodeEncodeError:  # a lone surrogate matches nothing
            return False


@lru_cache(maxsize=1024)
def finder(pattern: str) -> Finder:
    """Return a test for `pattern` anywhere in a text. Raises `ValueError`."""
    options = jsonschema_rs.RegexOptions(size_limit=COMPILED_BYTES_MAX, dfa_size_limit=COMPILED_BYTES_MAX)
    try:
        is_valid = jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=options).is_valid
    except (jsonschema_rs.ValidationError, ValueError):
        raise ValueError(_reason(pattern)) from None
    return Finder(pattern, is_valid)


def _reason(pattern: str) -> str:
    """Return what is wrong with a pattern: its mistake, as the standard library names it, or else the limits. A long
    pattern is not parsed again."""
    try:
        re.compile(pattern if len(pattern) <= HALF_LINE_CHARS else "")
    except re.error as error:
        return f"is not a regular expression: {error}"
    except (OverflowError, Warning):
        pass
    return NOT_A_PATTERN


def glob(pattern: str) -> Callable[[str], bool]:
    """Return a test of a whole text against `pattern`; `*` matches any text."""
    match = re.compile(fnmatch.translate(re.sub(r"[?[]", r"[\g<0>]", pattern))).match
    return lambda text: match(text) is not None
