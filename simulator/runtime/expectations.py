"""Compares a sandbox with its scenario's expectations: calls from counters, everything else from the current state."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from simulator.domain.model.callbacks import Callback, CallbackState
from simulator.domain.model.expectations import (
    Expectation,
    ExpectationKind,
    Verdict,
    judge_balance,
    judge_count,
)
from simulator.domain.model.rules import Fields
from simulator.domain.model.transactions import Result, Transaction
from simulator.domain.model.webhooks import Delivery, DeliveryState
from simulator.domain.state import State
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.payments import CALLBACK_STATUS_NAMES, STATUS_NAMES

SLICE = 500
"""How many records are tested in one go, which takes about two milliseconds."""


def verdicts(live: LiveSandbox) -> list[Verdict]:
    """One verdict for each expectation, in the scenario's order. Scans all records of the sandbox."""
    return list(chain.from_iterable(verdicts_in_slices(live)))


def verdicts_in_slices(live: LiveSandbox) -> Iterator[list[Verdict]]:
    """The same in slices of at most `SLICE` records, between which commands may be applied: only the last is not empty.
    Every verdict is about the moment at which this begins."""
    expected, state = live.counters.expected, live.core.state
    outcomes = live.coverage().outcomes if any(one.kind is ExpectationKind.OUTCOME for one in expected) else Counter()
    scans = [_Scan(kind, state, expected) for kind in _SOURCES if any(one.kind is kind for one in expected)]
    made = {place: _counted(live, place, outcomes) for place, one in enumerate(expected) if one.kind not in _SOURCES}
    for scan in scans:
        while scan.advance():
            yield []
        made |= scan.verdicts()
    yield [made[place] for place in range(len(expected))]


def _counted(live: LiveSandbox, place: int, outcomes: Counter[str]) -> Verdict:
    """The verdict of an expectation that needs no scan."""
    state, one = live.core.state, live.counters.expected[place]
    match one.kind:
        case ExpectationKind.CALLS:
            return judge_count(one, live.counters.calls[place])
        case ExpectationKind.OUTCOME:
            return judge_count(one, outcomes[one.label])
        case ExpectationKind.BALANCE:
            return judge_balance(one, state.resellers[one.label].wallet.balance)
    return judge_count(one, _chosen(state, one.label))


class _Scan:
    """Counts, for each expectation of one kind, the records that match it as they were when the scan began."""

    def __init__(self, kind: ExpectationKind, state: State, expected: Sequence[Expectation]) -> None:
        source = _SOURCES[kind]
        self._facts = source.facts
        self._records = list(source.records(state))
        self._moments = list(map(source.moment, self._records))
        self._evicted = _evicted(state, kind)
        self._done = 0
        self._expected = {place: one for place, one in enumerate(expected) if one.kind is kind}
        self._counts = dict.fromkeys(self._expected, 0)

    def advance(self) -> bool:
        """Test the next records; False when they were the last."""
        begin, end = self._done, self._done + SLICE
        for record, moment in zip(self._records[begin:end], self._moments[begin:end], strict=True):
            facts = self._facts(record, moment)
            for place, one in self._expected.items():
                if one.test(facts):
                    self._counts[place] += 1
        self._done = end
        return end < len(self._records)

    def verdicts(self) -> dict[int, Verdict]:
        """The verdicts by the index of their expectation, after all records were tested."""
        return {place: judge_count(one, self._counts[place], self._evicted) for place, one in self._expected.items()}


def _chosen(state: State, label: str) -> int:
    """How often a rule decided; a magic rule may be in several sections."""
    counts = [0]
    for book in state.books.values():
        if (rule := book.named(label)) is not None:
            counts.append(book.times_chosen(rule) or book.magic_chosen[rule.id])
    return max(counts)


def _evicted(state: State, kind: ExpectationKind) -> str:
    logs: Mapping[ExpectationKind, int] = {
        ExpectationKind.CALLBACKS: state.callbacks.left_out,
        ExpectationKind.WEBHOOKS: state.deliveries.left_out,
    }
    count = logs.get(kind, 0)
    return f"the sandbox stores only the latest ones and has evicted {count} older ones" if count else ""


def _payment(one: Transaction, results: tuple[Result, ...]) -> Fields:
    return {
        "reseller": one.reseller,
        "product": one.product,
        "account": one.account,
        "amount": one.amount,
        "refid": one.refid,
        "extras": one.extras,
        "status": STATUS_NAMES[results[-1].status],
        "statusCode": str(results[-1].code),
    }


def _callback(one: Callback, state: CallbackState) -> Fields:
    return {
        "reseller": one.transaction.reseller,
        "product": one.transaction.product,
        "account": one.transaction.account,
        "refid": one.transaction.refid,
        "status": CALLBACK_STATUS_NAMES[one.result.status],
        "statusCode": str(one.result.code),
        "state": state.value,
    }


def _webhook(one: Delivery, state: DeliveryState) -> Fields:
    return {"reseller": one.reseller, "type": one.event.type, "state": state.value}


class _Source(NamedTuple):
    """The records that an expectation counts; what of a record changes; and its facts at a moment."""

    records: Callable[[State], Iterable[Any]]
    moment: Callable[[Any], Any]
    facts: Callable[[Any, Any], Fields]


_SOURCES: Mapping[ExpectationKind, _Source] = {
    ExpectationKind.PAYMENTS: _Source(lambda state: state.transactions.values(), attrgetter("results"), _payment),
    ExpectationKind.CALLBACKS: _Source(lambda state: state.callbacks, attrgetter("state"), _callback),
    ExpectationKind.WEBHOOKS: _Source(lambda state: state.deliveries, attrgetter("state"), _webhook),
}
