"""The autopsy of a signature: what is wrong with it, how to mend it, and the string that should have been signed."""

from dataclasses import dataclass
from itertools import takewhile

from simulator.auth.autopsy.candidates import rights
from simulator.auth.autopsy.facts import Facts, Parts
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.autopsy.search import whole_search
from simulator.auth.autopsy.strings import right

IS_RIGHT = "the signature is right"
_UNKNOWN = "no known mistake explains the signature, and no two of those that are tried together"
_UNKNOWN_FIX = "compare the string that your client signs with the expected one, and its secret with that of the key"
_UNFINISHED = (
    "no known mistake explains the signature, but not all pairs were tried: the request is long, or several forms of "
    "its query are accepted"
)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The string that the client signed, and where it first differs from the expected one: `at` is the number of equal
    characters before. `differs` names the places, of which the key and what follows it do not show in the string."""

    string: bytes
    differs: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Autopsy:
    """What a signature shows. `found` is empty when it is right, and when no known mistake explains it; `nearest` is
    None in the latter case."""

    is_right: bool
    found: tuple[Found, ...]
    sentence: str
    fix: str
    expected: Parts
    string: bytes
    nearest: Nearest | None


def autopsy(facts: Facts) -> Autopsy:
    """Search for what is wrong with a signature. Takes up to a second or two when nothing explains it."""
    match, is_complete = whole_search(facts)
    expected = match.right if match is not None else rights(facts)[0]
    string = right(expected)
    if match is None:
        text = _UNKNOWN if is_complete else _UNFINISHED
        return Autopsy(False, (), text, _UNKNOWN_FIX, expected, string, None)
    if not match.found:
        return Autopsy(True, (), IS_RIGHT, "", expected, string, Nearest(string, (), len(string)))
    does = ", and ".join(one.does for one in match.found)
    fix = "; ".join(dict.fromkeys(one.mistake.fix for one in match.found))
    differs = tuple(one.mistake.place.value for one in match.found)
    nearest = Nearest(match.string, differs, first_difference(string, match.string))
    return Autopsy(False, match.found, does, fix, expected, string, nearest)


def first_difference(one: bytes, other: bytes) -> int:
    """How many bytes at the beginning are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
