"""What to find in a text: byte strings, of which any number may begin alike.

At a place of a text it is looked up which of them stands there, whole or cut off. That takes as long among twenty
thousand that have their first eight bytes in common as with a few.
"""

import re
from bisect import bisect_left
from itertools import takewhile
from typing import Final, NamedTuple

BEGINNING_BYTES: Final = 8
STRONG_BYTES_MIN: Final = 24  # of letters alone, or digits alone
CUT_BYTES_MIN: Final = 12  # a diagnosis may have cut the rest of a longer secret off

_FEW: Final = 4
_WORD: Final = re.compile(rb"\w")


class Found(NamedTuple):
    """A needle, and where the part of it that the text has ends."""

    needle: bytes
    end: int


class Needles:
    """Those of at least `BEGINNING_BYTES`, which can be added to."""

    def __init__(self) -> None:
        self._by_beginning: dict[bytes, list[bytes]] = {}
        self._all: set[bytes] = set()
        self._sorted: dict[bytes, _Sorted] = {}  # of those of which many begin alike

    def add(self, needle: bytes) -> bool:
        """Find this one, too; False when it is known or too short."""
        beginning = needle[:BEGINNING_BYTES]
        if len(beginning) < BEGINNING_BYTES or needle in self._all:
            return False
        self._all.add(needle)
        self._by_beginning.setdefault(beginning, []).append(needle)
        self._sorted.pop(beginning, None)
        return True

    def at(self, text: bytes, start: int, *, strong_only: bool = False) -> Found | None:
        """The needle that stands at this place, a whole one rather than a cut one, and of those the longest.
        `strong_only` leaves weak ones out."""
        beginning = text[start : start + BEGINNING_BYTES]
        alike = self._by_beginning.get(beginning)
        if alike is None:
            return None
        if len(alike) > _FEW:
            if beginning not in self._sorted:
                self._sorted[beginning] = _Sorted(alike)
            alike = self._sorted[beginning].candidates(text, start)
        there = [one for one in alike if _is_there(text, start, one, strong_only=strong_only)]
        found = [Found(one, _end(text, start, one)) for one in there]
        return max(found, key=lambda one: (one.end - start == len(one.needle), one.end), default=None)


class _Sorted:
    """Many needles with the same beginning."""

    def __init__(self, needles: list[bytes]) -> None:
        self._sorted = sorted(needles)
        self._all = set(needles)
        self._lengths = sorted({len(one) for one in needles})

    def candidates(self, text: bytes, start: int) -> list[bytes]:
        """The ones that stand there whole, and those that have most of their beginning there."""
        whole = [one for length in self._lengths if (one := text[start : start + length]) in self._all]
        place = bisect_left(self._sorted, text[start : start + self._lengths[-1]])
        return [*whole, *self._sorted[max(0, place - 1) : place + 1]]


def _is_weak(needle: bytes) -> bool:
    """True for what might be a word or a number of somebody else's."""
    return len(needle) < STRONG_BYTES_MIN and (needle.isalpha() or needle.isdigit())


def _is_there(text: bytes, start: int, needle: bytes, *, strong_only: bool) -> bool:
    """True when a needle, or enough of a strong one, is in the text at `start`; a weak one as a word of its own."""
    if not _is_weak(needle):
        beginning = needle[:CUT_BYTES_MIN]
        is_word = beginning.isalpha() or beginning.isdigit()
        return text.startswith(needle if is_word else beginning, start)
    if strong_only or not text.startswith(needle, start):
        return False
    end = start + len(needle)
    return not (_WORD.match(text, end) or (start and _WORD.match(text, start - 1)))


def _end(text: bytes, start: int, needle: bytes) -> int:
    """Where the part of a needle that the text has at `start` ends."""
    end = start + len(needle)
    if text.startswith(needle, start):
        return end
    equal = takewhile(lambda pair: pair[0] == pair[1], zip(needle, text[start:end], strict=False))
    return start + sum(1 for _ in equal)
