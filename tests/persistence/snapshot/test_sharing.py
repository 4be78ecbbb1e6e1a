"""What many payments have in common is one object in memory, also after a snapshot was restored."""

from decimal import Decimal

from simulator.domain.model.transactions import Transaction
from tests.support.client import running
from tests.support.replaying import read_back
from tests.support.snapshots import resumed, take
from tests.support.taped_plays import FIRST, set_callback


def shared_by(one: Transaction) -> list[object]:
    return [one.amount, one.cost, one.face, one.account, *(result.kind for result in one.results)]


def test_restored_payments_share_amounts_accounts_and_results() -> None:
    with running(FIRST) as client:
        set_callback(client)
        for number in range(2):
            assert client.pay(f"ref-{number}").status == 200
        client.advance()
        tape = read_back(client.app, client.live, shows_secrets=True)
        core = resumed(client.app, tape, take(client.live, len(tape.entries))).live.core
        first, second = core.state.transactions.by_number
        assert len(first.results) == 3
        assert [id(value) for value in shared_by(first)] == [id(value) for value in shared_by(second)]
        entry = core.state.resellers["RS001"].wallet.entry(first.debit)
        assert all(result.balance is entry.balance for result in first.results)
        assert entry.balance == first.results[0].balance != Decimal(0)
