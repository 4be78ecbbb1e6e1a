"""A sandbox is rebuilt from its tape, after any events: in memory, from lines, without secrets."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from simulator.persistence.replay.differences import Difference
from simulator.persistence.replay.player import Player
from simulator.persistence.replay.rebuilding import compiler_for, nowhere, player_for, prove
from simulator.runtime.driver import ITEMS_PER_TURN_MAX
from simulator.runtime.lives import SandboxSpec
from tests.support.client import Client, running
from tests.support.replaying import assert_replays, play, read_back, replayed
from tests.support.snapshots import resume
from tests.support.taped_plays import FIRST, PLAYS, parts, set_callback
from tests.support.unfinished import unfinished
from tests.support.wall import Wall


class TickingWall(Wall):
    """Each time that it is read it is a little later, so that no two readings are the same by chance."""

    def __call__(self) -> datetime:
        self.at += timedelta(microseconds=7)
        return self.at


def rebuilt(
    client: Client, sandbox: str = "default", *, shows_secrets: bool = True
) -> tuple[Player, Difference | None]:
    tape = read_back(client.app, client.app.sandboxes.get(sandbox), shows_secrets=shows_secrets)
    player = player_for(tape.head, client.app.replayer, nowhere())
    return player, play(player, tape.entries)


@pytest.mark.parametrize("share", [ITEMS_PER_TURN_MAX, 2])
@pytest.mark.parametrize("happens", PLAYS)
def test_a_sandbox_is_rebuilt_with_all_that_it_answered(
    monkeypatch: pytest.MonkeyPatch, happens: Callable[[Client], None], share: int
) -> None:
    monkeypatch.setattr("simulator.runtime.driver.ITEMS_PER_TURN_MAX", share)
    with running(FIRST, TickingWall()) as client:
        set_callback(client)
        happens(client)
        assert not client.live.tape.left_out
        of_memory, found = replayed(client.app, client.live)
        assert found is None, found
        of_lines, found = rebuilt(client)
        assert found is None, found
        for player in (of_memory, of_lines):
            assert parts(player.live.core) == parts(client.live.core)
            assert client.live.clock.runs or player.clock.now() == client.live.clock.now()
            assert len(player.live.journal) == len(client.live.journal)
            assert player.live.inboxes.counts() == client.live.inboxes.counts()
            assert [one.body for one in player.live.inboxes.peek("callbacks").received] == [
                one.body for one in client.live.inboxes.peek("callbacks").received
            ]


def test_a_rebuilt_sandbox_has_an_equal_tape() -> None:
    with running(FIRST) as client:
        set_callback(client)
        client.pay("one")
        client.advance()
        player, _ = rebuilt(client)
        again, found = replayed(client.app, player.live)
        assert found is None, found
        assert len(player.live.tape) == len(client.live.tape)
        assert parts(again.live.core) == parts(client.live.core)


def test_requests_that_wait_for_a_delay_resume_in_their_order() -> None:
    delays = {"name": "slow", "when": {"path": "/v2/topup"}, "then": {"delay": "30ms"}}
    late = {"name": "heard late", "when": {"path": "/v2/balance"}, "then": {"after_commit": True, "delay": "1ms"}}
    with running({"faults": [delays, late]}, TickingWall()) as client:

        async def several() -> None:
            slow = [asyncio.ensure_future(client.acall("POST", "/v2/topup", payment(one))) for one in range(3)]
            await asyncio.sleep(0)
            await client.acall("GET", "/v2/balance")
            await client.asim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5"})
            await asyncio.gather(*slow)

        client.run(several())
        assert [one.path for one in client.live.journal] == ["/v2/balance", *["/v2/topup"] * 3]
        assert_replays(client.app)


def payment(number: int) -> dict[str, Any]:
    return {"refid": f"r{number}", "product": "RELOAD", "account": "0123456789", "amount": 10}


def test_a_delay_beyond_the_integration_timeout_is_a_504_again() -> None:
    slow = {"when": {"path": "/v2/topup"}, "then": {"delay": "50ms"}}
    with running({"faults": [slow], "limits": {"integration_timeout": "10ms"}}) as client:
        assert client.pay().status == 504
        assert_replays(client.app)


def test_entries_between_the_head_and_the_body_of_a_request_take_effect_before_it() -> None:
    with running({}, TickingWall()) as client:
        head = client.signature("POST", "", Client.encoded(payment(1)))

        async def revoke() -> None:
            assert (
                await client.asim("DELETE", f"/sandboxes/default/resellers/RS001/api-keys/{client.key}")
            ).status == 204

        body = Client.encoded(payment(1))
        refused = client.run(client.asend("POST", "/v2/topup", "", body, head, revoke))
        assert (refused.status, refused.json["error"]) == (401, "invalid_api_key")
        assert_replays(client.app)


@pytest.mark.parametrize("announced", [b"11000000", None])
def test_a_body_over_its_bound_and_a_client_that_left_are_replayed(announced: bytes | None) -> None:
    with running() as client:
        client.run(unfinished(client, announced, b"x" * 11_000_000))
        client.run(unfinished(client, b"10", b"", leaves=True))
        client.pay("after")
        assert [one.status for one in client.live.journal] == [401, 0, 200]
        assert_replays(client.app)


def test_a_request_that_outlives_a_reset_is_shown_on_the_next_tape() -> None:
    slow = {"when": {"path": "/v2/topup"}, "then": {"delay": "30ms"}}
    with running({"faults": [slow]}) as client:

        async def reset_meanwhile() -> None:
            waiting = asyncio.ensure_future(client.acall("POST", "/v2/topup", payment(1)))
            await asyncio.sleep(0)
            assert (await client.asim("POST", "/sandboxes/default/reset")).status == 200
            await waiting

        client.run(reset_meanwhile())
        client.call("GET", "/v2/balance")
        assert [one.path for one in client.live.journal] == ["/v2/topup", "/v2/balance"]
        assert_replays(client.app)


def test_requests_of_unique_credentials_are_on_the_tape_of_their_sandbox() -> None:
    with running() as client:
        spec = SandboxSpec(client.app.scenario, "own", unique_credentials=True)
        live = client.app.sandboxes.create(spec)
        client.key, secret = next((key, one.secret) for key, (_, one) in live.core.state.keys.items())
        assert client.call("GET", "/v2/balance", secret=secret).status == 200
        assert client.call("GET", "/v2/balance", secret="c2VjcmV0LW9mLXNvbWVib2R5").status == 401
        assert client.call("GET", "/s/nobody/v2/balance", secret=secret).status == 404
        assert [one.status for one in live.journal] == [200, 401], "also what was refused"
        assert [one.status for one in client.live.journal] == [404]
        assert_replays(client.app)


def test_inboxes_are_programmed_and_receive_again() -> None:
    one = "/sandboxes/default/inbox/callbacks"
    with running(FIRST, TickingWall()) as client:
        set_callback(client)
        client.sim("PUT", one, {"replies": [{"status": 503}, {"status": 200, "delay": 0.01}]})
        client.sim("POST", "/inbox/default/callbacks?a=1", {"from": "outside"})
        client.pay("one")
        client.advance()
        client.sim("POST", "/sandboxes/default/probes", {})
        client.sim("DELETE", one)
        client.pay("two")
        client.advance()
        player, found = rebuilt(client)
        assert found is None, found
        assert player.live.inboxes.counts() == client.live.inboxes.counts()
        assert [one.status for one in player.live.inboxes.peek("callbacks").received] == [
            one.status for one in client.live.inboxes.peek("callbacks").received
        ]


def test_a_full_tape_replays_as_far_as_it_goes() -> None:
    with running({"limits": {"tape": 7}}) as client:
        for number in range(8):
            client.pay(f"r{number}")
        player, found = rebuilt(client)
        assert found is None, found
        assert len(player.live.core.state.transactions) == 3  # the fourth has begun


def test_a_resumed_sandbox_publishes_its_events_in_order_with_the_events_of_the_tape() -> None:
    with running(FIRST) as client:
        client.pay("one")
        client.advance()
        tape = read_back(client.app, client.live, shows_secrets=True)
    with running(FIRST) as client:
        player = prove(tape, client.app.replayer, client.app.sandboxes.surroundings).player
        client.app.sandboxes.adopt(resume(player, client.app.wall))
        client.pay("two")
        log = client.live.events
        serials = [one.serial for one in log.after(0, 1000)]
        assert serials == sorted(set(serials))
        body = client.sim("GET", "/sandboxes/default/events?after=0&timeout=0").body.decode()
        assert body.count("data:") == len(serials)
        assert '"refid":"one"' in body
        assert '"refid":"two"' in body


def test_rules_of_a_bundled_scenario_are_where_they_were_written() -> None:
    path = "/sandboxes/default/rules"
    with running("default") as client:
        client.pay("one")
        rules = client.sim("GET", path).body
        tape = read_back(client.app, client.live, shows_secrets=True)
    assert b'"place":{' in rules
    with running(FIRST) as client:
        proof = prove(tape, client.app.replayer, client.app.sandboxes.surroundings, compiler=compiler_for(tape.head))
        assert proof.difference is None
        client.app.sandboxes.adopt(resume(proof.player, client.app.wall))
        assert client.sim("GET", path).body == rules
