"""`GET …/tape`: the tape up to now, and its refusals."""

import asyncio
import gzip

import pytest

from simulator.domain.commands import RemoveRule, SetNetwork
from simulator.domain.errors import DomainError
from simulator.domain.model.schedule import NetworkStatus
from simulator.persistence.replay.rebuilding import nowhere, player_for
from simulator.persistence.replay.tape_reader import read_tapes
from tests.support.client import running
from tests.support.replaying import play

TAPE = "/sandboxes/default/tape"
SECRET = "c2VjcmV0LW9mLWEtcmVhbC1hY2NvdW50"
OWN = {
    "resellers": [{"code": "RS001", "balance": "100.00", "api_keys": [{"key": "rk_own_account", "secret": SECRET}]}],
}


def test_the_tape_up_to_now_replays() -> None:
    with running() as client:
        client.pay("one")
        answer = client.sim("GET", TAPE)
        assert answer.headers["content-disposition"] == 'attachment; filename="default.tape"'
        client.pay("two")
        (tape,) = read_tapes(gzip.decompress(answer.body).splitlines(keepends=True))
        player = player_for(tape.head, client.app.replayer, nowhere())
        assert play(player, tape.entries) is None
        assert [one.refid for one in player.live.core.state.transactions.values()] == ["one"]


def test_secrets_are_on_it_only_when_they_are_asked_for() -> None:
    with running(OWN) as client:
        client.pay("one")
        assert SECRET.encode() not in gzip.decompress(client.sim("GET", TAPE).body)
        assert SECRET.encode() not in gzip.decompress(client.sim("GET", f"{TAPE}?secrets=hidden").body)
        assert SECRET.encode() in gzip.decompress(client.sim("GET", f"{TAPE}?secrets=shown").body)


def test_other_queries_are_refused() -> None:
    with running() as client:
        for query in ("secrets=yes", "secrets=", "secrets=Shown"):
            assert client.sim("GET", f"{TAPE}?{query}").status == 400
        assert client.sim("GET", "/sandboxes/nobody/tape").status == 404
        assert client.sim("POST", TAPE).status == 405


def test_invalid_names_are_on_the_tape_all_the_same() -> None:
    with running() as client:
        for command in (RemoveRule("\udcff"), SetNetwork("\ud800", NetworkStatus.HEALTHY)):
            with pytest.raises(DomainError):
                client.run(client.live.settle_and_apply(command))
        client.send("GET", "/v2/balance", "a=\xff", b"\xff\xfe", {"x-sim-rule": "\xff"})
        (tape,) = read_tapes(gzip.decompress(client.sim("GET", TAPE).body).splitlines(keepends=True))
        assert not tape.damage
        assert play(player_for(tape.head, client.app.replayer, nowhere()), tape.entries) is None


def test_a_tape_is_taken_while_a_request_waits() -> None:
    slow = {"when": {"path": "/v2/topup"}, "then": {"delay": "50ms"}}
    with running({"faults": [slow]}) as client:

        async def meanwhile() -> bytes:
            body = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10}
            waiting = asyncio.ensure_future(client.acall("POST", "/v2/topup", body))
            await asyncio.sleep(0)
            answer = await client.asim("GET", TAPE)
            await waiting
            return answer.body

        (tape,) = read_tapes(gzip.decompress(client.run(meanwhile())).splitlines(keepends=True))
        player = player_for(tape.head, client.app.replayer, nowhere())
        assert play(player, tape.entries) is None
        assert not player.live.core.state.transactions
