"""Compares a sandbox with its scenario's expectations: calls from counters, everything else from the current state."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from simulator.domain.model.expectations import (
    Expectation,
    ExpectationKind,
    Verdict,
    judge_balance,
    judge_count,
)
from simulator.domain.model.rules import Fields
from simulator.domain.state import State
from simulator.runtime.counters import Counters
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.payments import CALLBACK_STATUS_NAMES, STATUS_NAMES

RECORDS_PER_TURN_MAX = 1_000


async def verdicts(live: LiveSandbox) -> list[Verdict]:
    """One verdict for each expectation, in the scenario's order. Scans all records of the sandbox, while the event loop
    goes on: what happens meanwhile may count or not."""
    counters, state = live.counters, live.core.state
    expected = counters.expected
    outcomes = live.coverage().outcomes if any(one.kind is ExpectationKind.OUTCOME for one in expected) else Counter()
    return [await _verdict(state, counters, place, one, outcomes) for place, one in enumerate(expected)]


async def _verdict(state: State, counters: Counters, place: int, one: Expectation, outcomes: Counter[str]) -> Verdict:
    match one.kind:
        case ExpectationKind.CALLS:
            return judge_count(one, counters.calls[place])
        case ExpectationKind.RULE:
            return judge_count(one, _chosen(state, one.label))
        case ExpectationKind.OUTCOME:
            return judge_count(one, outcomes[one.label])
        case ExpectationKind.BALANCE:
            return judge_balance(one, state.resellers[one.label].wallet.balance)
    found = 0
    for scanned, facts in enumerate(_FACTS[one.kind](state), 1):
        found += one.test(facts)
        if scanned % RECORDS_PER_TURN_MAX == 0:
            await asyncio.sleep(0)
    return judge_count(one, found, _evicted(state, one.kind))


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


def _payments(state: State) -> Iterator[Fields]:
    for one in list(state.transactions.values()):
        yield {
            "reseller": one.reseller,
            "product": one.product,
            "account": one.account,
            "amount": one.amount,
            "refid": one.refid,
            "extras": one.extras,
            "status": STATUS_NAMES[one.result.status],
            "statusCode": str(one.result.code),
        }


def _callbacks(state: State) -> Iterator[Fields]:
    for one in list(state.callbacks):
        yield {
            "reseller": one.transaction.reseller,
            "product": one.transaction.product,
            "account": one.transaction.account,
            "refid": one.transaction.refid,
            "status": CALLBACK_STATUS_NAMES[one.result.status],
            "statusCode": str(one.result.code),
            "state": one.state.value,
        }


def _webhooks(state: State) -> Iterator[Fields]:
    for one in list(state.deliveries):
        yield {"reseller": one.reseller, "type": one.event.type, "state": one.state.value}


_FACTS: Mapping[ExpectationKind, Callable[[State], Iterator[Fields]]] = {
    ExpectationKind.PAYMENTS: _payments,
    ExpectationKind.CALLBACKS: _callbacks,
    ExpectationKind.WEBHOOKS: _webhooks,
}
