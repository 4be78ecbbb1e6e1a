"""The calls of an expectation by a value that they have, such as a refid: how many, and how far apart."""

from bisect import insort
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from simulator.domain.model.expectations import Expectation, Verdict, verdict

VALUES_MAX = 10_000
"""How many values are told apart for each expectation. With more, no verdict can be given."""

RECENT_MAX = 8
VALUE_CHARS_MAX = 80
SHOWN_MAX = 3


class Request(NamedTuple):
    """A request that matched: the sandbox's time at which it came, and its number in the journal."""

    at: datetime
    n: int


class Closest(NamedTuple):
    """The two requests of one value that came closest to each other."""

    gap: timedelta
    value: str
    first: Request
    second: Request


@dataclass(slots=True)
class Seen:
    """The calls of one value: their number, and the latest in order of arrival. Calls are counted when they are
    answered, so that an earlier one may come later; `forgotten` is the latest that is no longer in `recent`."""

    count: int = 0
    recent: list[Request] = field(default_factory=list)
    forgotten: Request | None = None


class ValueCounts:
    """Counts the calls of each value and the distances between them, in bounded memory."""

    def __init__(self, expectation: Expectation) -> None:
        self.expectation = expectation
        self._seen: dict[str, Seen] = {}
        self._left_out = 0
        self._without = 0
        self._closest: Closest | None = None
        self._too_close = 0
        self._unordered = 0

    def add(self, value: str, request: Request) -> None:
        """Count a call; without a value, when values are told apart, it cannot be compared with others."""
        if self.expectation.per and not value:
            self._without += 1
            return
        key = _bounded(value)
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= VALUES_MAX:
                self._left_out += 1
                return
            seen = self._seen[key] = Seen()
        seen.count += 1
        self._compare(key, seen, request)

    def _compare(self, value: str, seen: Seen, request: Request) -> None:
        """Compare the call with the one before it and the one after it."""
        before = [] if seen.forgotten is None else [seen.forgotten]
        if before and request.at < before[0].at:
            self._unordered += 1
            return
        insort(seen.recent, request)
        known = before + seen.recent
        at = known.index(request)
        pairs = [pair for pair in (known[max(at - 1, 0) : at + 1], known[at : at + 2]) if len(pair) == 2]
        gaps = [Closest(second.at - first.at, value, first, second) for first, second in pairs]
        nearest = min(gaps, key=lambda one: one.gap, default=None)
        if nearest is not None:
            if self._closest is None or nearest.gap < self._closest.gap:
                self._closest = nearest
            self._too_close += self.expectation.apart is not None and nearest.gap < self.expectation.apart
        if len(seen.recent) > RECENT_MAX:
            seen.forgotten = seen.recent.pop(0)

    def verdict(self, note: str = "") -> Verdict:
        """Whether every value has the expected count, and no two of its calls are too close. `note` says what the
        counts have missed."""
        one = self.expectation
        each = f" for each {one.per}" if one.per else ""
        notes = [note] if note else []
        if self._without:
            notes.append(f"without {one.per}, and not counted: {_calls(self._without)}")
        if unknown := self._unknown():
            got = f"no verdict: {unknown}"
            return verdict(one, self._left_out, f"{self._wanted()}{each}", got, "; ".join(notes), ok=False)
        actual, counts = self._counts()
        distance = self._distance()
        got = " and ".join(filter(None, (counts, distance))) or f"no value of {one.per or 'them'}"
        is_apart = one.apart is None or not self._too_close
        ok = is_apart and all(one.count.admits(seen.count) for seen in self._judged())
        return verdict(one, actual, f"{self._wanted()}{each}", got, "; ".join(notes), ok=ok)

    def _unknown(self) -> str:
        if self._left_out:
            return f"there are more than {VALUES_MAX} values of {self.expectation.per}"
        if self._unordered and self.expectation.apart is not None:
            return f"{_calls(self._unordered)} came so long before others that their distance is unknown"
        return ""

    def _wanted(self) -> str:
        one = self.expectation
        count = "" if one.count.is_any else str(one.count)
        apart = "" if one.apart is None else f"at least {_seconds(one.apart)} between two"
        return " and ".join(filter(None, (count, apart)))

    def _judged(self) -> list[Seen]:
        """Without `per` there is one value, also when there was no call."""
        return list(self._seen.values()) if self.expectation.per else [self._seen.get("", Seen())]

    def _counts(self) -> tuple[int, str]:
        """The worst count, and a text about it; without an expected count, the calls that came too early."""
        one = self.expectation
        if one.count.is_any:
            return self._too_close, ""
        if not one.per:
            count = self._judged()[0].count
            return count, str(count)
        if not self._seen:
            return 0, ""
        value, worst = max(self._seen.items(), key=lambda item: (one.count.exceeds(item[1].count), item[1].count))
        wrong = sum(1 for seen in self._seen.values() if not one.count.admits(seen.count))
        numbers = ", ".join(str(request.n) for request in worst.recent[:SHOWN_MAX])
        requests = "request" + "s" * (worst.count > 1)
        more = ", …" if worst.count > min(SHOWN_MAX, len(worst.recent)) else ""
        others = f"; wrong for {wrong} of {len(self._seen)}" if wrong > 1 else ""
        return worst.count, f"{worst.count} for {value} in {requests} {numbers}{more}{others}"

    def _distance(self) -> str:
        one, closest = self.expectation, self._closest
        if one.apart is None:
            return ""
        if closest is None:
            return "no two calls" + (f" of one {one.per}" if one.per else "")
        whose = f" for {closest.value}" if one.per else ""
        early = f"; too early: {_calls(self._too_close)}" if self._too_close > 1 else ""
        return f"{_seconds(closest.gap)}{whose} between requests {closest.first.n} and {closest.second.n}{early}"


def _calls(count: int) -> str:
    return f"{count} call{'s' * (count != 1)}"


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():.3f}".rstrip("0").rstrip(".") + " s"


def _bounded(value: str) -> str:
    """A long value by its beginning and a digest, so that memory is bounded and different ones stay different."""
    if len(value) <= VALUE_CHARS_MAX:
        return value
    return f"{value[:VALUE_CHARS_MAX]}…{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
