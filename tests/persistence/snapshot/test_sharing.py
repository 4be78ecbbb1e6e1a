"""What many payments have in common is one object in memory, also after a snapshot was restored."""

from decimal import Decimal

import msgspec

from simulator.domain.model.request_limits import nonce_key
from simulator.domain.model.transactions import Transaction
from simulator.persistence.snapshot.document import ENCODER
from simulator.persistence.snapshot.rows import NonceRow, spent_nonce
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


def test_a_nonce_of_an_earlier_build_stays_spent() -> None:
    at, text = "2027-01-01T00:00:00Z", b"RS001\nn-0123456789"
    row = msgspec.msgpack.decode(ENCODER.encode([text, at, 7]), type=NonceRow)
    spent = spent_nonce(row)
    assert (spent.key, spent.timestamp_s) == (nonce_key(text), 7)
    assert spent_nonce(msgspec.msgpack.decode(ENCODER.encode(spent), type=NonceRow)) == spent
