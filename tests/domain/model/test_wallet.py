"""A wallet: its ledger and its restoration."""

from decimal import Decimal

from simulator.domain.commands import Credit
from simulator.domain.model.history import Total
from simulator.domain.model.wallet import EntryType, Wallet
from tests.support.worlds import START, sandbox

NO_ENTRIES = {type_: Total() for type_ in EntryType}


def test_a_ledger_adds_up() -> None:
    box = sandbox()
    box.apply(Credit("R1", Decimal("0.01"), "a"), START)
    entry = box.apply(Credit("R1", Decimal("5"), "b", EntryType.COMMISSION), START)
    assert (entry.id, entry.balance, entry.type) == (2, Decimal("1005.01"), EntryType.COMMISSION)


def test_a_wallet_is_restored_with_its_threshold_and_the_last_balance() -> None:
    wallet = Wallet(Decimal(10))
    wallet.restore([], Decimal(5))
    assert (wallet.balance, wallet.threshold) == (Decimal(10), Decimal(5))
    first, second = (wallet.post(EntryType.DEPOSIT, Decimal(amount), START, "") for amount in (1, 2))
    restored = Wallet(Decimal(10))
    restored.restore([first, second], Decimal(6))
    assert (restored.balance, restored.threshold) == (Decimal(13), Decimal(6))
    assert (restored.entry(1), restored.entry(2), first.id, second.id) == (first, second, 1, 2)
    days = START.date(), START.date(), frozenset(EntryType), 0, 9
    assert (
        restored.find(*days)
        == wallet.find(*days)
        == ([second, first], {**NO_ENTRIES, EntryType.DEPOSIT: Total(2, Decimal(3))})
    )
