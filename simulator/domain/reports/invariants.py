"""Invariants of a sandbox, checked from its records."""

from collections.abc import Iterator
from decimal import Decimal

from simulator.domain.model.cases import CaseState
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import (
    SETTLED,
    Status,
    Transaction,
    may_follow,
)
from simulator.domain.model.wallet import EntryType
from simulator.domain.model.webhooks import REPLAYS_MAX
from simulator.domain.state import State


def violations(state: State) -> list[str]:
    """One sentence for each violation; empty when there is none."""
    return [
        *(text for reseller in state.resellers.values() for text in _wallet(reseller)),
        *(text for transaction in state.transactions.values() for text in _transaction(state, transaction)),
        *_callbacks(state),
        *_deliveries(state),
    ]


def _wallet(reseller: Reseller) -> Iterator[str]:
    running = reseller.wallet.opening
    for number, entry in enumerate(reseller.wallet.entries, 1):
        running += entry.amount
        if entry.balance != running:
            yield f"{reseller.code}: entry {entry.id} says balance {entry.balance}, the entries add up to {running}"
        if entry.id != number:
            yield f"{reseller.code}: entry {entry.id} stands at place {number}"
    if reseller.wallet.balance != running:
        yield f"{reseller.code}: balance {reseller.wallet.balance}, but opening and entries add up to {running}"
    if reseller.wallet.balance < 0:
        yield f"{reseller.code}: the balance {reseller.wallet.balance} is below zero"


def _transaction(state: State, transaction: Transaction) -> Iterator[str]:
    name = f"transaction {transaction.trxid}"
    reseller = state.resellers[transaction.reseller]
    if reseller.refids.get(transaction.refid) is not transaction:
        yield f"{name}: its refid {transaction.refid!r} leads elsewhere"
    before: Status | None = None
    for result in transaction.results:
        if not may_follow(before, result.status):
            yield f"{name}: {before} cannot become {result.status}"
        before = result.status
    finals = sum(result.status in (Status.SUCCESSFUL, Status.FAILED) for result in transaction.results)
    if finals > 1 or (before in SETTLED and finals != 1):
        yield f"{name}: has {finals} provider results"
    refunds = sum(case.state is CaseState.REFUNDED for case in state.cases.get(transaction.trxid, ()))
    if refunds != (before is Status.REFUNDED):
        yield f"{name}: is {before} with {refunds} voids that were refunded"
    yield from _money(transaction, reseller, name)


def _money(transaction: Transaction, reseller: Reseller, name: str) -> Iterator[str]:
    entries = [reseller.wallet.entry(id_) for id_ in transaction.entry_ids]
    debits = [entry.amount for entry in entries if entry.type is EntryType.TRANSACTION]
    if debits != [-transaction.cost]:
        yield f"{name}: was debited {debits} for a cost of {transaction.cost}"
    is_returned = transaction.result.status in (Status.FAILED, Status.REFUNDED)
    expected = Decimal(0) if is_returned else -transaction.cost
    if sum(entry.amount for entry in entries) != expected:
        yield f"{name}: is {transaction.result.status}, but its entries add up to something else than {expected}"


def _callbacks(state: State) -> Iterator[str]:
    most = state.scenario.limits.callback_retry.retries + 1
    for callback in state.callbacks:
        if len(callback.attempts) > most:
            yield f"callback {callback.id}: {len(callback.attempts)} attempts, at most {most} are allowed"


def _deliveries(state: State) -> Iterator[str]:
    for delivery in state.deliveries:
        name = f"delivery {delivery.id}"
        if len(delivery.attempts) > delivery.retry_limit + 1:
            yield f"{name}: {len(delivery.attempts)} attempts, at most {delivery.retry_limit + 1} are allowed"
        if delivery.event.replays > REPLAYS_MAX:
            yield f"{name}: its event was replayed {delivery.event.replays} times, at most {REPLAYS_MAX} are allowed"
