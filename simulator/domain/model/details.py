"""Why something was refused, ignored or answered differently than requested, as facts; `wire/diagnoses` renders them.

A detail is created only for a problem, so that valid requests pay nothing for it.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum, auto
from functools import lru_cache
from itertools import islice

import msgspec

# Above these, fuzzy matching is skipped, which takes milliseconds; above `FOLDED_WORDS_MAX`, case folding, too.
FUZZY_WORDS_MAX = 100
FOLDED_WORDS_MAX = 2000
FUZZY_CHARS_MAX = 40

# A diagnosis names at most this many things that are wrong in the same way.
NAMES_MAX = 5


class DetailKind(StrEnum):
    """The kinds of details; each kind's facts are those that its sentence names."""

    NO_PRODUCT = auto()
    BLANK_PRODUCT = auto()
    INACTIVE_PRODUCT = auto()
    NO_ACCOUNT = auto()
    ACCOUNT_PATTERN = auto()
    ACCOUNT_OF_ANOTHER = auto()
    ACCOUNT_OF_INACTIVE = auto()
    ACCOUNT_OF_NONE = auto()
    MISSING = auto()
    EXTRA_NO_TEXT = auto()
    EXTRA_PATTERN = auto()
    EXTRA_TOO_LARGE = auto()
    NO_OPTION = auto()
    INACTIVE_OPTION = auto()
    OPTION_NOT_OFFERED = auto()
    NOTHING_OFFERED = auto()
    UNSUPPORTED_EXTRAS = auto()
    IGNORED_EXTRAS = auto()
    NO_NUMBER = auto()
    TOO_LONG = auto()
    TOO_MANY_DIGITS = auto()
    NOT_POSITIVE = auto()
    NOT_WHOLE = auto()
    NO_CENTS = auto()
    NOT_SOLD = auto()
    NOTHING_SOLD = auto()
    TOO_LITTLE = auto()
    TOO_MUCH = auto()
    PRICE_AMOUNT = auto()
    PRICE_AMOUNT_TAKEN = auto()
    PRICE_OF_ANOTHER = auto()
    PLAN_MISMATCH = auto()
    PLAN_REQUIRED = auto()
    BALANCE = auto()
    REFID_EXISTS = auto()
    REFID_CONFLICT = auto()
    NO_TRANSACTION = auto()
    OTHER_REFERENCE = auto()
    OTHER_RESELLER = auto()
    REFID_IGNORED = auto()
    NOT_SUCCESSFUL = auto()
    CASE_EXISTS = auto()
    NOT_VOIDABLE = auto()
    NO_BILLS = auto()
    IGNORED_BILLER = auto()


class Detail(msgspec.Struct, frozen=True, gc=False):
    """A kind with its facts: texts, Decimals (amounts), `Money`, statuses, tuples of these, and mappings of field names
    to values. An empty fact omits the part of the sentence that would name it."""

    kind: DetailKind
    facts: Mapping[str, object]


def detail(kind: DetailKind, /, **facts: object) -> Detail:
    """Create a detail with these facts."""
    return Detail(kind=kind, facts=facts)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, ignoring case; empty when none is similar."""
    words = tuple(islice(known, FOLDED_WORDS_MAX + 1))
    by_folded = {one.casefold(): one for one in words} if len(words) <= FOLDED_WORDS_MAX else {}
    folded = word.strip().casefold()
    if folded in by_folded or len(by_folded) > FUZZY_WORDS_MAX or len(word) > FUZZY_CHARS_MAX:
        return by_folded.get(folded, "")
    return by_folded.get(_alike(folded, tuple(by_folded)), "")


@lru_cache(maxsize=256)
def _alike(word: str, words: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(word, words, 1)), "")
