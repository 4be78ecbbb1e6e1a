"""Invariants of a sandbox, checked against its records in slices between which the state may change.

No check trusts a running total: balances are computed from the opening balance and the entries. Checking all records
may take seconds, so commands may be applied between two slices. The result is still sound:

- Entries are immutable and only appended. The check adds up the entries that existed when it began, and compares the
  total with the wallet's balance at that moment.
- Transactions are only appended, too. Each is compared with its own entries and cases within one slice, so no command
  intervenes; the invariants must hold after every command.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import chain, islice

from simulator.domain.model.cases import CaseState
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import SETTLED, Status, Transaction, may_follow
from simulator.domain.model.wallet import EntryType
from simulator.domain.state import State

SLICE = 200
"""The number of records in a slice, which takes about two milliseconds."""


def violations(state: State) -> Iterator[list[str]]:
    """Yield the violations of each slice, a sentence each; a slice checks at most `SLICE` records."""
    records = _records(state)
    while checked := list(islice(records, SLICE)):
        yield [text for texts in checked for text in texts]


def _records(state: State) -> Iterator[Iterable[str]]:
    """Yield the violations of each record that exists now; a transaction's are computed lazily."""
    resellers = list(state.resellers.values())
    wallets = [_wallet(reseller, len(reseller.wallet.entries), reseller.wallet.balance) for reseller in resellers]
    transactions = [islice(reseller.history.transactions, len(reseller.history)) for reseller in resellers]
    return chain([list(_indexes(state))], *wallets, (_transaction(state, one) for one in chain(*transactions)))


def _indexes(state: State) -> Iterator[str]:
    """Yield a violation for a transaction missing under its trxid, its refid or in its reseller's history."""
    total = 0
    for reseller in state.resellers.values():
        count = len(reseller.history)
        total += count
        if len(reseller.refids) != count:
            yield f"{reseller.code}: has {len(reseller.refids)} refids, but {count} transactions"
    if len(state.transactions) != total:
        yield f"there are {len(state.transactions)} transactions, but {total} in the histories of the resellers"


def _wallet(reseller: Reseller, count: int, balance: Decimal) -> Iterator[list[str]]:
    """Check that the first `count` entries lead to `balance`."""
    running, code = reseller.wallet.opening, reseller.code
    for number, entry in enumerate(islice(reseller.wallet.entries, count), 1):
        found = []
        running += entry.amount
        if entry.balance != running:
            found.append(f"{code}: entry {entry.id} says balance {entry.balance}, the entries add up to {running}")
        if entry.id != number:
            found.append(f"{code}: entry {entry.id} stands at place {number}")
        yield found
    if balance != running:
        yield [f"{code}: balance {balance}, but opening and entries add up to {running}"]
    if balance < 0:
        yield [f"{code}: the balance {balance} is below zero"]


def _transaction(state: State, transaction: Transaction) -> Iterator[str]:
    name = f"transaction {transaction.trxid}"
    reseller = state.resellers[transaction.reseller]
    if reseller.refids.get(transaction.refid) is not transaction:
        yield f"{name}: its refid {transaction.refid!r} leads elsewhere"
    if state.transactions.get(transaction.trxid) is not transaction:
        yield f"{name}: its trxid leads elsewhere"
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
    entries = [reseller.wallet.entry(id_) for id_ in transaction.entry_ids]
    debits = [entry.amount for entry in entries if entry.type is EntryType.TRANSACTION]
    if debits != [-transaction.cost]:
        yield f"{name}: was debited {debits} for a cost of {transaction.cost}"
    is_returned = transaction.result.status in (Status.FAILED, Status.REFUNDED)
    expected = Decimal(0) if is_returned else -transaction.cost
    if sum(entry.amount for entry in entries) != expected:
        yield f"{name}: is {transaction.result.status}, but its entries add up to something else than {expected}"
