"""A fork begins as its original was, and they do not affect each other afterwards."""

from itertools import count
from typing import Any

import pytest

from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import SandboxSpec
from simulator.wire.traffic import Notification
from tests.support.client import Client, running
from tests.support.replaying import assert_replays, replayed
from tests.support.taped_plays import FIRST, a_load, drawn_outcomes, parts, set_callback, set_clock
from tests.support.webhooks import DELIVERIES, deposit, put

DEFAULT = "/sandboxes/default"


def forked(client: Client, of: str, id_: str, **moment: Any) -> LiveSandbox:
    answer = client.sim("POST", "/sandboxes", {"id": id_, "fork": {"of": of, **moment}})
    assert answer.status == 201, answer.body
    assert answer.json["url"].endswith(f"/s/{id_}")
    return client.app.sandboxes.get(id_)


def answers(live: LiveSandbox) -> list[bytes]:
    return [one.content for one in live.journal]


@pytest.mark.parametrize("happens", [a_load, drawn_outcomes])
def test_a_fork_is_as_its_original_is(happens: Any) -> None:
    with running(FIRST) as client:
        set_callback(client)
        happens(client)
        made = forked(client, "default", "second")
        assert parts(made.core) == parts(client.live.core)
        assert answers(made) == answers(client.live)
        assert (made.seed, len(made.tape), made.clock.now()) == (
            client.live.seed,
            len(client.live.tape),
            client.live.clock.now(),
        )
        assert_replays(client.app)


def test_neither_affects_the_other_and_both_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = {"name": "drawn", "chance": 0.5, "then": [{"status": "Failed"}]}
    with running(FIRST | {"payments": [rule]}) as client:
        set_callback(client)
        client.pay("before")
        made = forked(client, "default", "second")
        before = parts(client.live.core)
        monkeypatch.setattr("tests.support.client._nonces", count(7000))
        for number in range(5):
            client.pay(f"r{number}", sandbox="second")
        client.sim("POST", "/sandboxes/second/clock/advance", {"until": "idle"})
        client.sim("POST", "/sandboxes/second/inbox/callbacks", {})
        assert parts(client.live.core) == before
        monkeypatch.setattr("tests.support.client._nonces", count(7000))
        for number in range(5):
            client.pay(f"r{number}")
        client.advance()
        assert answers(made) == answers(client.live)
        assert [one.body for one in made.inboxes.peek("callbacks").received] == [
            one.body for one in client.live.inboxes.peek("callbacks").received
        ]
        assert_replays(client.app)


def test_a_fork_of_a_fork_begins_at_a_mark_of_the_first() -> None:
    with running(FIRST) as client:
        client.pay("one")
        client.sim("POST", f"{DEFAULT}/marks", {"name": "paid"})
        client.pay("two")
        second = forked(client, "default", "second")
        assert [one.name for one in second.marks] == ["paid"]
        third = forked(client, "second", "third", mark="paid")
        assert [one.refid for one in third.core.state.transactions.values()] == ["one"]
        assert client.sim("POST", "/sandboxes/second/rewind", {"n": 0}).status == 200
        assert not second.core.state.transactions
        assert len(client.live.core.state.transactions) == 2
        assert client.sim("DELETE", "/sandboxes/second").status == 204
        client.sim("POST", "/sandboxes/third/clock/advance", {"until": "idle"})
        (paid,) = client.sim("GET", "/sandboxes/third/transactions").json["transactions"]
        assert paid["status"] == "Succesful"
        assert_replays(client.app)


def test_a_fork_with_unique_credentials_answers_the_credentials_of_its_original_at_the_root() -> None:
    with running() as client:
        live = client.app.sandboxes.create(SandboxSpec(client.app.scenario, "own", unique_credentials=True))
        client.key, client.secret = next((key, one.secret) for key, (_, one) in live.core.state.keys.items())
        client.call("GET", "/v2/balance", secret="c2VjcmV0LW9mLXNvbWVib2R5")  # refused at the root
        made = forked(client, "own", "second")
        grandchild = forked(client, "second", "third")
        assert list(made.core.state.keys) == list(grandchild.core.state.keys) == list(live.core.state.keys)
        assert client.call("GET", "/v2/balance").headers["x-sim-sandbox"] == "own"
        assert client.call("GET", "/v2/balance", sandbox="third").headers["x-sim-sandbox"] == "third"
        client.sim("DELETE", "/sandboxes/own")
        assert client.sim("POST", "/sandboxes/third/reset").status == 200
        assert list(grandchild.core.state.keys) == list(made.core.state.keys)
        assert client.call("GET", "/v2/balance", sandbox="third").status == 200
        assert_replays(client.app)


def test_a_fork_of_a_running_sandbox_runs() -> None:
    with running(FIRST) as client:
        set_callback(client)
        set_clock(client, mode="xN", rate=60)
        client.pay("one")
        made = forked(client, "default", "second")
        set_clock(client, mode="manual")
        client.pass_time(600)
        (paid,) = client.sim("GET", "/sandboxes/second/transactions").json["transactions"]
        assert paid["status"] == "Succesful"
        assert client.live.clock.now() < made.clock.now()
        player, found = replayed(client.app, made)
        assert found is None
        assert parts(player.live.core) == parts(made.core)


def test_the_events_of_a_fork_begin_with_it() -> None:
    with running(FIRST) as client:
        client.pay("one")
        forked(client, "default", "second")
        client.pay("two", sandbox="second")
        told = client.sim("GET", "/sandboxes/second/events?after=0&timeout=0").body.decode()
        assert [line for line in told.splitlines() if line.startswith("event:")][:2] == [
            "event: action",
            "event: request",
        ]
        assert '"action":"forked","about":"default"' in told
        assert '"refid":"one"' not in told


def test_a_fork_that_is_impossible_is_refused_and_creates_nothing() -> None:
    with running(FIRST | {"limits": {"tape": 2}}) as client:
        for number in range(3):
            client.pay(f"r{number}")
        for body, status, code in (
            ({"fork": {"of": "nobody"}}, 404, "unknown_sandbox"),
            ({"fork": {"of": "default"}}, 409, "tape_full"),
            ({"fork": {"of": "default", "n": 3}}, 409, "tape_full"),
            ({"fork": {"of": "default", "to": client.live.clock.now().isoformat()}}, 409, "tape_full"),
            ({"fork": {"of": "default", "n": 1, "mark": "x"}}, 400, "bad_request"),
            ({"fork": {"of": "default", "n": 1}, "id": "default"}, 409, "sandbox_exists"),
            ({"fork": {"of": "default", "n": 1}, "id": "a.b"}, 400, "bad_request"),
            ({"fork": {"of": "default", "n": 1}, "scenario": "default"}, 400, "bad_request"),
        ):
            answer = client.sim("POST", "/sandboxes", body)
            assert (answer.status, answer.json["error"]) == (status, code), body
        assert [one.id for one in client.app.sandboxes] == ["default"]
        assert forked(client, "default", "second", n=2).tape.left_out == 0


def test_a_sandbox_whose_log_was_read_in_pages_is_forked_and_the_fork_reads_on() -> None:
    with running(FIRST) as client:
        put(client)
        for _ in range(3):
            deposit(client)
            client.advance(1)
        first = client.call("GET", f"{DELIVERIES}?limit=1").json
        made = forked(client, "default", "second")
        assert answers(made) == answers(client.live)
        pages = [
            client.call("GET", f"{DELIVERIES}?limit=2&cursor={first['cursor']}", sandbox=one).json["deliveries"]
            for one in ("default", "second")
        ]
        assert pages[0] == pages[1] != []
        forked(client, "second", "third")
        assert_replays(client.app)


@pytest.mark.parametrize("has_unique", [False, True])
def test_a_fork_has_the_tokens_of_its_original(has_unique: bool) -> None:
    with running(FIRST) as client:
        wanted = {"id": "first"} | ({"credentials": "unique"} if has_unique else {})
        reseller = client.sim("POST", "/sandboxes", wanted).json["resellers"][0]
        login = f"username={reseller['username']}&password={reseller['password']}".encode()
        form = {"content-type": "application/x-www-form-urlencoded"}
        answer = client.send("POST", "/s/first/v2/token", "", login, form)
        assert answer.status == 200
        token = {"authorization": f"Bearer {answer.json['AuthenticationResult']['IdToken']}"}
        forked(client, "first", "second")
        forked(client, "second", "third")
        for box in ("first", "second", "third"):
            assert client.send("GET", f"/s/{box}/v2/catalog", "", b"", token).status == 200
        assert client.send("GET", "/v2/catalog", "", b"", token).status == (200 if has_unique else 401)
        assert client.sim("POST", "/sandboxes", {"id": "fourth", "fork": {"of": "default"}}).status == 201
        assert_replays(client.app)


def test_a_fork_has_the_probes_of_its_original_up_to_its_moment() -> None:
    with running(FIRST) as client:
        for job in ("early", "late"):
            client.advance(10)
            at = client.live.clock.now()
            found = Notification(n=0, at=at, kind="callback", method="POST", url="http://receiver.test/")
            client.live.probes.append(found)
            assert client.sim("POST", f"{DEFAULT}/marks", {"name": job}).status == 201
        assert [one.at for one in forked(client, "default", "a").probes] == [one.at for one in client.live.probes]
        assert len(forked(client, "default", "b", mark="early").probes) == 1
