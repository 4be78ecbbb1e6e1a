"""The ledger's invariants detect each violation; each case breaks one by hand."""

import math
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal

import msgspec
import pytest

from simulator.domain.commands import Credit, OpenCase
from simulator.domain.model.cases import CaseKind, CaseThen
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import Status, Transaction
from simulator.domain.reports import invariants
from simulator.domain.sandbox import Sandbox
from simulator.domain.state import State
from tests.support.worlds import (
    fire_due,
    order,
    pay,
    sandbox,
    seconds,
)


def done() -> tuple[Sandbox, Transaction]:
    box = sandbox()
    transaction = pay(box).transaction
    fire_due(box, seconds(5))
    assert box.violations() == []
    return box, transaction


def lose_money(box: Sandbox, _: Transaction) -> None:
    box.state.resellers["R1"].wallet.balance -= 1


def change_an_entry(box: Sandbox, _: Transaction) -> None:
    wallet = box.state.resellers["R1"].wallet
    wallet.entries.records[0] = msgspec.structs.replace(wallet.entries[0], amount=Decimal(-1))


def debit_twice(box: Sandbox, transaction: Transaction) -> None:
    transaction.refund = transaction.debit


def add_result(transaction: Transaction, status: Status) -> None:
    kind = msgspec.structs.replace(transaction.result.kind, status=status)
    transaction.results += (msgspec.structs.replace(transaction.result, kind=kind),)


def end_twice(box: Sandbox, transaction: Transaction) -> None:
    add_result(transaction, Status.FAILED)


def lose_a_refid(box: Sandbox, transaction: Transaction) -> None:
    box.state.resellers["R1"].refids.pop(transaction.refid)


def refund_without_a_void(box: Sandbox, transaction: Transaction) -> None:
    add_result(transaction, Status.REFUNDED)


def lose_a_transaction(box: Sandbox, transaction: Transaction) -> None:
    box.state.transactions.pop(transaction.trxid)


def lose_it_everywhere(box: Sandbox, transaction: Transaction) -> None:
    lose_a_transaction(box, transaction)
    lose_a_refid(box, transaction)


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lose_money, "add up to"),
        (change_an_entry, "add up to"),
        (debit_twice, "was debited"),
        (end_twice, "cannot become"),
        (refund_without_a_void, "0 voids that were refunded"),
        (lose_a_refid, "leads elsewhere"),
        (lose_a_transaction, "its trxid leads elsewhere"),
        (lose_it_everywhere, "has 0 refids, but 1 transactions"),
        (lose_it_everywhere, "there are 0 transactions, but 1 in the histories"),
    ],
)
def test_each_kind_of_damage_is_found(damage: Callable[[Sandbox, Transaction], None], expected: str) -> None:
    box, transaction = done()
    damage(box, transaction)
    assert any(expected in text for text in box.violations()), box.violations()


def many(count: int) -> Sandbox:
    box = sandbox(voids=(Rule("v", lambda facts: True, CaseThen(is_accepted=True, refund_after=timedelta(0))),))
    for number in range(count):
        pay(box, order(f"ref-{number}", amount=1))
    fire_due(box, seconds(5))
    return box


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_slice_checks_a_bounded_number_of_records(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(invariants, "SLICE", size)
    visited: list[str] = []
    check = invariants._transaction

    def counting(state: State, one: Transaction) -> Iterator[str]:
        visited.append(one.trxid)
        return check(state, one)

    monkeypatch.setattr(invariants, "_transaction", counting)
    box, slices, before = many(20), 0, 0
    for found in invariants.violations(box.state):
        assert found == []
        assert len(visited) - before <= size
        slices, before = slices + 1, len(visited)
    assert sorted(visited) == sorted(box.state.transactions)
    records = 1 + 20 + 20  # the indexes, entries and transactions
    assert slices == math.ceil(records / size)


def test_changes_between_two_slices_are_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariants, "SLICE", 1)
    box = many(10)
    for number, found in enumerate(invariants.violations(box.state)):
        assert found == []
        at = seconds(10 + number)
        box.apply(order(f"new-{number}", amount=1), at)
        box.apply(Credit("R2" if number % 2 else "R1", Decimal(1)), at)
        box.apply(OpenCase(CaseKind.VOID, "R1", f"ref-{number % 10}"), at)
        fire_due(box, at)
    assert box.violations() == []


def test_damage_is_found_while_the_sandbox_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariants, "SLICE", 3)
    box = many(10)
    change_an_entry(box, box.state.resellers["R1"].refids["ref-0"])
    found = []
    for number, part in enumerate(invariants.violations(box.state)):
        found += part
        pay(box, order(f"new-{number}", amount=1), at=10)
    assert any("add up to" in text for text in found)
    assert any("was debited" in text for text in found)
