"""Compares a sandbox with its scenario's expectations: calls are counted as they happen, and records with a state are
tested as they are now."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, starmap
from typing import Any, NamedTuple

from msgspec.structs import replace

from simulator.domain.model.expectations import (
    Expectation,
    ExpectationKind,
    Verdict,
    judge_balance,
    judge_count,
)
from simulator.domain.model.rules import Fields
from simulator.domain.state import State
from simulator.runtime.counters import of_call, of_callback, of_payment, of_webhook
from simulator.runtime.expectation_hints import NearMisses, of_rule, upcoming
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.value_counts import in_requests

SLICE = 500
"""The number of records that are tested per turn, which takes about two milliseconds."""

NEAR_MAX = 2_000
"""The number of latest records that are searched for near misses of an expectation that is not met."""


def verdicts(live: LiveSandbox) -> list[Verdict]:
    """Return a verdict for each expectation, in the scenario's order."""
    return list(chain.from_iterable(verdicts_in_slices(live)))


def verdicts_in_slices(live: LiveSandbox) -> Iterator[list[Verdict]]:
    """Yield the verdicts in slices of at most `SLICE` records, between which commands may be applied: only the last
    slice is not empty. All verdicts are as of the first slice."""
    expected, state = live.counters.expected, live.core.state
    outcomes = live.coverage().outcomes if any(one.kind is ExpectationKind.OUTCOME for one in expected) else Counter()
    scans = [
        _Scan(source, kind, live) for kind, source in _SOURCES.items() if any(one.kind is kind for one in expected)
    ]
    made = {place: _counted(live, place, outcomes) for place, one in enumerate(expected) if one.kind not in _SOURCES}
    for scan in scans:
        while scan.advance():
            yield []
        made |= scan.verdicts()
    for place, one in made.items():
        if not one.ok:
            explained = _nearest(live, one, {scan.kind: scan for scan in scans})
            for lines in explained:
                if lines is None:
                    yield []
                else:
                    made[place] = replace(one, nearest=lines, pending=upcoming(state, one.expectation))
    yield [made[place] for place in range(len(expected))]


def _counted(live: LiveSandbox, place: int, outcomes: Counter[str]) -> Verdict:
    """Return the verdict of an expectation that needs no scan."""
    state, counters = live.core.state, live.counters
    expectation = counters.expected[place]
    match expectation.kind:
        case ExpectationKind.CALLS:
            note = counters.notes.get(place, "")
            if place in counters.values:
                return counters.values[place].verdict(note)
            count = counters.calls[place]
            return judge_count(expectation, count, note, in_requests(counters.first[place], count))
        case ExpectationKind.OUTCOME:
            return judge_count(expectation, outcomes[expectation.label])
        case ExpectationKind.BALANCE:
            return judge_balance(expectation, state.resellers[expectation.label].wallet.balance)
    return judge_count(expectation, state.times_chosen(expectation.label))


class _Source(NamedTuple):
    """The current records that an expectation counts, each with its changing parts, and its facts from both. `left_out`
    returns the number of evicted records."""

    now: Callable[[State], Sequence[tuple[Any, Any]]]
    facts: Callable[[Any, Any], Fields]
    left_out: Callable[[State], int] = lambda state: 0


_SOURCES: Mapping[ExpectationKind, _Source] = {
    ExpectationKind.PAYMENTS: _Source(
        lambda state: [(transaction, transaction.results) for transaction in state.transactions.by_number], of_payment
    ),
    ExpectationKind.CALLBACKS: _Source(
        lambda state: [(callback, callback.state) for callback in state.callbacks],
        of_callback,
        lambda state: state.callbacks.left_out,
    ),
    ExpectationKind.WEBHOOKS: _Source(
        lambda state: [(delivery, delivery.state) for delivery in state.deliveries],
        of_webhook,
        lambda state: state.deliveries.left_out,
    ),
}


class _Scan:
    """Counts the matching records for each expectation of a kind, as of the start of the scan."""

    def __init__(self, source: _Source, kind: ExpectationKind, live: LiveSandbox) -> None:
        self.kind = kind
        self._facts = source.facts
        self._records = source.now(live.core.state)
        self._done = 0
        expected: Sequence[Expectation] = live.counters.expected
        self._expected = {place: expectation for place, expectation in enumerate(expected) if expectation.kind is kind}
        self._counts = dict.fromkeys(self._expected, 0)
        self._left_out = source.left_out(live.core.state)

    def advance(self) -> bool:
        """Test the next records. Return False when they were the last."""
        if self._done >= len(self._records):
            return False
        begin, end = self._done, self._done + SLICE
        for about in self._about(begin, end):
            for place, one in self._expected.items():
                if one.test(about):
                    self._counts[place] += 1
        self._done = end
        return end < len(self._records)

    def verdicts(self) -> dict[int, Verdict]:
        """Return the verdicts by the index of their expectation, after all records were tested."""
        return {
            place: judge_count(one, self._counts[place], left_out=self._left_out)
            for place, one in self._expected.items()
        }

    def latest(self) -> Iterator[list[Fields]]:
        """Yield the facts of the latest records, in slices."""
        for end in range(len(self._records), max(0, len(self._records) - NEAR_MAX), -SLICE):
            yield list(self._about(max(0, end - SLICE), end))

    def _about(self, begin: int, end: int) -> Iterator[Fields]:
        return starmap(self._facts, self._records[begin:end])


def _nearest(
    live: LiveSandbox, verdict: Verdict, scans: Mapping[ExpectationKind, _Scan]
) -> Iterator[tuple[str, ...] | None]:
    """Yield None after each slice, then the lines about the near misses of an expectation."""
    expected = verdict.expectation
    high = expected.count.high
    found = NearMisses(expected, too_many=high is not None and verdict.actual > high)
    if expected.kind in scans:
        slices: Iterable[list[Fields]] = scans[expected.kind].latest()
    elif expected.kind is ExpectationKind.CALLS and not expected.has_values:
        slices = _latest_calls(live)
    else:
        yield of_rule(live.core.state, expected)
        return
    for part in slices:
        found.add(part)
        yield None
    yield found.lines()


def _latest_calls(live: LiveSandbox) -> Iterator[list[Fields]]:
    calls = list(live.journal)[-NEAR_MAX:]
    for end in range(len(calls), 0, -SLICE):
        yield [{**of_call(each), "request": each.n} for each in calls[max(0, end - SLICE) : end]]
