"""Counts of an expectation's calls by a value in them, such as a refid, and the shortest distance between them."""

from bisect import insort
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

import msgspec

from simulator.domain.model.expectations import ANY_COUNT, Expectation, Verdict, verdict
from simulator.domain.model.rules import VALUE_CHARS_MAX, VALUES_MAX

RECENT_MAX = 8
SHOWN_MAX = 3


class MatchingCall(NamedTuple):
    """A request that matched: its arrival in sandbox time, and its number in the journal."""

    at: datetime
    n: int


class Closest(NamedTuple):
    """The two requests with the same value that came closest to each other."""

    gap: timedelta
    seen: "ValueCalls"
    first: MatchingCall
    second: MatchingCall


class ValueCalls(msgspec.Struct, eq=False):
    """The calls with the same value (and the same sender, if senders are distinguished): their number, and the latest
    ones in order of arrival. Calls are counted when they are answered, so an earlier call may be added later.
    `forgotten` is the latest call that is no longer in `recent`."""

    value: str
    sender: str
    count: int = 0
    recent: list[MatchingCall] = msgspec.field(default_factory=list)
    forgotten: MatchingCall | None = None


class KeptCounts(NamedTuple):
    """The contents of `ValueCounts`: the values of each sender with their calls; values of the same count, by place;
    the distance, place and calls of the closest pair; and the numbers of uncounted calls, in the order of the
    attributes."""

    known: list[tuple[str, str, int, list[MatchingCall], MatchingCall | None]]
    by_count: list[tuple[int, list[int]]]
    nearest: tuple[timedelta, int, MatchingCall, MatchingCall] | None
    counted: tuple[str, int, int, int, int, int]
    size: int


class ExpectationBudget:
    """The budget for the distinct values of all expectations of a sandbox: ten times that of a single expectation."""

    most = 10 * VALUES_MAX

    def __init__(self) -> None:
        self.taken = 0

    def take(self) -> bool:
        """Reserve a place for a value. Return False when the budget is used up."""
        if self.taken >= self.most:
            return False
        self.taken += 1
        return True


class ValueCounts:
    """Counts the calls of each value and the distances between them, in bounded memory. With more values than
    `VALUES_MAX` no verdict can be given. The time for a verdict depends on the number of different counts, not of
    values."""

    def __init__(self, expectation: Expectation, budget: ExpectationBudget | None = None) -> None:
        self.expectation = expectation
        self.size = 0
        self._budget = budget or ExpectationBudget()
        self._seen: dict[str, dict[str, ValueCalls]] = {}  # by value and sender
        self._by_count: dict[int, dict[ValueCalls, None]] = {}
        self._full = ""
        self._left_out = 0
        self._without = 0
        self._unseen = 0
        self._closest: Closest | None = None
        self._too_close = 0
        self._unordered = 0

    def kept(self) -> "KeptCounts":
        """Return the contents for a snapshot."""
        known = [seen for senders in self._seen.values() for seen in senders.values()]
        place = {id(seen): at for at, seen in enumerate(known)}
        nearest = self._closest and (self._closest.gap, place[id(self._closest.seen)], *self._closest[2:])
        return KeptCounts(
            [(call.value, call.sender, call.count, call.recent, call.forgotten) for call in known],
            [(count, [place[id(seen)] for seen in alike]) for count, alike in self._by_count.items()],
            nearest,
            (self._full, self._left_out, self._without, self._unseen, self._too_close, self._unordered),
            self.size,
        )

    def restore(self, kept: "KeptCounts") -> None:
        """Restore the contents from a snapshot."""
        known = [ValueCalls(*row) for row in kept.known]
        self._seen = {}
        for call in known:
            self._seen.setdefault(call.value, {})[call.sender] = call
        self._by_count = {count: {known[at]: None for at in places} for count, places in kept.by_count}
        if kept.nearest is not None:
            gap, at, first, second = kept.nearest
            self._closest = Closest(gap, known[at], first, second)
        self._full, self._left_out, self._without, self._unseen, self._too_close, self._unordered = kept.counted
        self.size = kept.size

    def add(self, value: str, request: MatchingCall, sender: str = "") -> None:
        """Count a call. Without a value it cannot be compared with other calls when values are distinguished. Equal
        values of different `sender`s are distinct. A call of an unknown sender, "", counts for the first sender with
        that value."""
        if self.expectation.per and not value:
            self._without += 1
            return
        seen = self._find(_bounded(value), sender)
        if seen is None:
            self._left_out += 1
            return
        alike = self._by_count.get(seen.count, {})
        alike.pop(seen, None)
        if not alike:
            self._by_count.pop(seen.count, None)
        seen.count += 1
        self._by_count.setdefault(seen.count, {})[seen] = None
        self._compare(seen, request)

    def add_unseen(self) -> None:
        """Count a call whose value is unknown; after that there is no verdict."""
        self._unseen += 1

    def _find(self, value: str, sender: str) -> ValueCalls | None:
        """Return the record of a value and its sender, creating it as needed; None when the budget is used up."""
        senders = self._seen.get(value, {})
        if sender in senders:
            return senders[sender]
        if senders and not sender:
            return next(iter(senders.values()))
        if "" in senders:  # the sender of this value was unknown so far
            seen = senders[sender] = senders.pop("")
            seen.sender = sender
            return seen
        if self.expectation.per:
            if self.size >= VALUES_MAX:
                self._full = f"there are more than {VALUES_MAX} values of {self.expectation.per}"
                return None
            if not self._budget.take():
                self._full = f"the expectations of this sandbox have more than {self._budget.most} values together"
                return None
            self.size += 1
        seen = ValueCalls(value, sender)
        self._seen.setdefault(value, {})[sender] = seen
        return seen

    def _compare(self, seen: ValueCalls, request: MatchingCall) -> None:
        """Compare the call with its predecessor and its successor."""
        before = [] if seen.forgotten is None else [seen.forgotten]
        if before and request.at < before[0].at:
            self._unordered += 1
            return
        insort(seen.recent, request)
        known = before + seen.recent
        at = known.index(request)
        pairs = [pair for pair in (known[max(at - 1, 0) : at + 1], known[at : at + 2]) if len(pair) == 2]
        gaps = [Closest(second.at - first.at, seen, first, second) for first, second in pairs]
        nearest = min(gaps, key=lambda gap: gap.gap, default=None)
        if nearest is not None:
            if self._closest is None or nearest.gap < self._closest.gap:
                self._closest = nearest
            self._too_close += self.expectation.apart is not None and nearest.gap < self.expectation.apart
        if len(seen.recent) > RECENT_MAX:
            seen.forgotten = seen.recent.pop(0)

    def verdict(self, note: str = "") -> Verdict:
        """Judge whether every value has the expected count, and no two of its calls are too close. `note` says what the
        counts have missed."""
        expectation = self.expectation
        each = f" for each {expectation.per}" if expectation.per else ""
        notes = [note] if note else []
        if self._without:
            notes.append(f"without {expectation.per}, and not counted: {_calls(self._without)}")
        if unknown := self._unknown():
            got = f"no verdict: {unknown}"
            return verdict(expectation, self._left_out, f"{self._wanted()}{each}", got, "; ".join(notes), ok=False)
        actual, counts = self._counts()
        distance = self._distance()
        got = " and ".join(filter(None, (counts, distance))) or f"no value of {expectation.per or 'them'}"
        is_apart = expectation.apart is None or not self._too_close
        ok = is_apart and all(map(expectation.count.admits, self._judged()))
        return verdict(expectation, actual, f"{self._wanted()}{each}", got, "; ".join(notes), ok=ok)

    def _unknown(self) -> str:
        if self._left_out:
            return self._full
        if self._unseen:
            return f"{_calls(self._unseen)} had a body that was not seen: too large, incomplete or not kept"
        if self._unordered and self.expectation.apart is not None:
            return f"{_calls(self._unordered)} came so long before others that their distance is unknown"
        return ""

    def _wanted(self) -> str:
        expectation = self.expectation
        count = "" if expectation.count == ANY_COUNT else str(expectation.count)
        apart = "" if expectation.apart is None else f"at least {_seconds(expectation.apart)} between two"
        return " and ".join(filter(None, (count, apart)))

    def _judged(self) -> list[int]:
        """Return the counts that occur. Without `per`, all calls count as a single value, even if no call was made."""
        return list(self._by_count) or ([] if self.expectation.per else [0])

    def _counts(self) -> tuple[int, str]:
        """Return the worst count with a text about it; without an expected count, the number of calls that came too
        early."""
        expectation = self.expectation
        if expectation.count == ANY_COUNT:
            return self._too_close, ""
        if not self._by_count:
            return 0, "" if expectation.per else "0"
        worst = max(self._by_count, key=lambda count: (expectation.count.exceeds(count), count))
        seen = next(iter(self._by_count[worst]))
        found = in_requests([request.n for request in seen.recent], worst)
        if not expectation.per:
            return worst, str(worst) + ("" if expectation.count.admits(worst) else found)
        wrong = sum(len(alike) for count, alike in self._by_count.items() if not expectation.count.admits(count))
        others = f"; wrong for {wrong} of {self.size}" if wrong > 1 else ""
        return worst, f"{worst} for {self._named(seen)}{found}{others}"

    def _named(self, seen: ValueCalls) -> str:
        """Return the value, with its sender if another sender uses the same value."""
        of = f" of {seen.sender}" if len(self._seen[seen.value]) > 1 else ""
        return seen.value + of

    def _distance(self) -> str:
        expectation, closest = self.expectation, self._closest
        if expectation.apart is None:
            return ""
        if closest is None:
            return "no two calls" + (f" with the same {expectation.per}" if expectation.per else "")
        whose = f" for {self._named(closest.seen)}" if expectation.per else ""
        early = f"; too early: {_calls(self._too_close)}" if self._too_close > 1 else ""
        return f"{_seconds(closest.gap)}{whose} between requests {closest.first.n} and {closest.second.n}{early}"


def in_requests(numbers: Sequence[int], count: int) -> str:
    """Return the first of some requests by their numbers, as a phrase after their count; empty when none is known."""
    if not numbers:
        return ""
    shown = ", ".join(map(str, numbers[:SHOWN_MAX]))
    more = ", …" if count > min(SHOWN_MAX, len(numbers)) else ""
    return f" in request{'s' * (count > 1)} {shown}{more}"


def _calls(count: int) -> str:
    return f"{count} call{'s' * (count != 1)}"


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():.3f}".rstrip("0").rstrip(".") + " s"


def _bounded(value: str) -> str:
    """Return a long value as its beginning and a digest, so that memory is bounded and values stay distinct."""
    if len(value) <= VALUE_CHARS_MAX:
        return value
    return f"{value[:VALUE_CHARS_MAX]}…{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
