"""A wallet's balance over time in few points, which keep the first and last balance and the extremes between them."""

from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from simulator.domain.model.wallet import Entry, Wallet

POINTS_MAX = 300
SPANS_MAX = POINTS_MAX // 8 * 2  # of up to four points each; an even number
SLICE = 2_000
"""How many entries are looked at in one go, which takes a millisecond."""

_balance = attrgetter("balance")


class Span(NamedTuple):
    """The entries of a part of the curve that stand for all of it."""

    first: Entry
    lowest: Entry
    highest: Entry
    last: Entry


class BalanceCurve:
    """Looks at each entry once, when somebody asks, and never at what it has seen. A span has as many entries as every
    other, the last one fewer; with too many spans each two become one."""

    __slots__ = ("_entries", "_length", "_seen", "_spans")

    def __init__(self, wallet: Wallet) -> None:
        self._entries = wallet.entries
        self._spans: list[Span] = []
        self._length = 1
        self._seen = 0

    def catch_up(self) -> Iterator[None]:
        """Look at the entries that came since, a slice at a time; between two slices there may come more."""
        while self._seen < len(self._entries):
            end = min(len(self._entries), self._seen + SLICE)
            while self._seen < end:
                room = self._length - self._seen % self._length
                part = self._entries[self._seen : min(end, self._seen + room)]
                self._add(part, is_new=self._seen % self._length == 0)
            yield

    def points(self) -> list[Entry]:
        """The entries to draw, oldest first: all of them while they are few."""
        if len(self._entries) <= POINTS_MAX:
            return self._entries[:]
        return sorted({entry.id: entry for span in self._spans for entry in span}.values(), key=attrgetter("id"))

    def _add(self, part: list[Entry], *, is_new: bool) -> None:
        span = Span(part[0], min(part, key=_balance), max(part, key=_balance), part[-1])
        self._seen += len(part)
        if not is_new:
            self._spans[-1] = _joined(self._spans[-1], span)
            return
        if len(self._spans) == SPANS_MAX:
            self._spans = [_joined(*pair) for pair in zip(self._spans[::2], self._spans[1::2], strict=True)]
            self._length *= 2
        self._spans.append(span)


def _joined(a: Span, b: Span) -> Span:
    lowest, highest = min(a.lowest, b.lowest, key=_balance), max(a.highest, b.highest, key=_balance)
    return Span(a.first, lowest, highest, b.last)
