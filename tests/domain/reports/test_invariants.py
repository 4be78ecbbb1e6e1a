"""The ledger's invariants detect each violation; each case breaks one by hand."""

from collections.abc import Callable
from decimal import Decimal

import msgspec
import pytest

from simulator.domain.commands import Credit, SetWebhook
from simulator.domain.model.effects import Attempt
from simulator.domain.model.transactions import Status, Transaction
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import (
    START,
    fire_due,
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
    wallet.entries[0] = msgspec.structs.replace(wallet.entries[0], amount=Decimal(-1))


def debit_twice(box: Sandbox, transaction: Transaction) -> None:
    transaction.entry_ids *= 2


def end_twice(box: Sandbox, transaction: Transaction) -> None:
    transaction.results += (msgspec.structs.replace(transaction.result, status=Status.FAILED),)


def lose_a_refid(box: Sandbox, transaction: Transaction) -> None:
    del box.state.resellers["R1"].refids[transaction.refid]


def refund_without_a_void(box: Sandbox, transaction: Transaction) -> None:
    transaction.results += (msgspec.structs.replace(transaction.result, status=Status.REFUNDED),)


def try_too_often(box: Sandbox, _: Transaction) -> None:
    callback = next(iter(box.state.callbacks))
    callback.attempts.extend(Attempt(number, START) for number in range(5))


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lose_money, "add up to"),
        (change_an_entry, "add up to"),
        (debit_twice, "was debited"),
        (end_twice, "cannot become"),
        (refund_without_a_void, "0 voids that were refunded"),
        (lose_a_refid, "leads elsewhere"),
        (try_too_often, "attempts, at most 4"),
    ],
)
def test_each_kind_of_damage_is_found(damage: Callable[[Sandbox, Transaction], None], expected: str) -> None:
    box, transaction = done()
    damage(box, transaction)
    assert any(expected in text for text in box.violations()), box.violations()


def test_too_many_attempts_or_replays_are_reported() -> None:
    box = sandbox()
    box.apply(SetWebhook("R1", "inbox:w"), START)
    box.apply(Credit("R1", Decimal(1)), START)
    (delivery,) = box.state.deliveries
    assert box.violations() == []
    delivery.attempts.extend(Attempt(number, START) for number in range(5))
    delivery.event.replays = 4
    first, second = box.violations()
    assert "5 attempts, at most 4" in first
    assert "replayed 4 times, at most 3" in second
