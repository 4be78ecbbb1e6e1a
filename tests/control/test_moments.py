"""`…/marks` and `…/rewind`: what they answer, and what they refuse."""

import asyncio
from typing import Any

import pytest

from simulator.runtime.marks import MARKS_MAX
from tests.support.client import Client, running

DEFAULT = "/sandboxes/default"
MARKS, REWIND = f"{DEFAULT}/marks", f"{DEFAULT}/rewind"


def refused(client: Client, path: str, body: Any) -> tuple[int, str]:
    answer = client.sim("POST", path, body)
    return answer.status, answer.json["error"]


def test_marks_are_listed_in_their_order_and_forgotten() -> None:
    with running() as client:
        client.pay("one")
        first = client.sim("POST", MARKS, {"name": "b"}).json
        client.pay("two")
        second = client.sim("POST", MARKS, {"name": "a b-c_d.e"}).json
        assert (first["n"], second["n"]) == (2, 4)  # a body that is awaited takes two entries
        assert first["at"] == client.sim("GET", f"{DEFAULT}/clock").json["now"]
        assert client.sim("GET", MARKS).json == {"marks": [first, second]}
        assert client.sim("DELETE", f"{MARKS}/a%20b-c_d.e").status == 404  # the path is taken as it is here
        assert client.sim("DELETE", f"{MARKS}/a b-c_d.e").status == 204
        assert client.sim("GET", MARKS).json == {"marks": [first]}
        assert client.sim("POST", f"{DEFAULT}/reset").status == 200
        assert client.sim("GET", MARKS).json == {"marks": []}


@pytest.mark.parametrize("name", ["", " a", "a/b", "é", "x" * 65, "a\n", 7, None])
def test_a_name_that_no_mark_can_have_is_refused(name: Any) -> None:
    with running() as client:
        assert refused(client, MARKS, {"name": name}) == (400, "bad_request")
        assert not list(client.live.marks)


def test_marks_are_bounded_and_a_name_is_used_once() -> None:
    with running() as client:
        for number in range(MARKS_MAX):
            assert client.sim("POST", MARKS, {"name": f"m{number}"}).status == 201
        assert refused(client, MARKS, {"name": "m0"}) == (409, "mark_exists")
        assert refused(client, MARKS, {"name": "more"}) == (409, "too_many_marks")


def test_a_full_tape_has_no_moments_after_its_end() -> None:
    with running({"limits": {"tape": 2}}) as client:
        client.pay("one")
        assert client.sim("POST", MARKS, {"name": "full, and nothing lost"}).status == 400
        assert client.sim("POST", MARKS, {"name": "full and nothing lost"}).status == 201
        client.pay("two")
        assert refused(client, MARKS, {"name": "late"}) == (409, "tape_full")
        assert refused(client, REWIND, {"n": 3}) == (409, "tape_full")
        assert refused(client, REWIND, {"to": client.live.clock.now().isoformat()}) == (409, "tape_full")
        assert client.sim("POST", REWIND, {"mark": "full and nothing lost"}).status == 200
        assert [one.refid for one in client.live.core.state.transactions.values()] == ["one"]
        assert client.live.tape.left_out == 0


def test_a_sandbox_that_keeps_no_tape_says_so() -> None:
    with running({"limits": {"tape": 0}}) as client:
        client.pay("one")
        for path, body in ((MARKS, {"name": "a"}), (REWIND, {"n": 1}), ("/sandboxes", {"fork": {"of": "default"}})):
            answer = client.sim("POST", path, body)
            assert answer.json["error"] == "tape_full"
            assert answer.json["message"].startswith("the tape was full after 0 entries"), answer.json
            assert "limits.tape" in answer.json["message"]


@pytest.mark.parametrize("what", ["rewound", "reset"])
def test_a_waiting_request_learns_how_its_life_ended(what: str) -> None:
    body = None if what == "reset" else {"n": 0}
    path = f"{DEFAULT}/reset" if what == "reset" else REWIND
    with running() as client:
        client.pay("one")

        async def meanwhile() -> None:
            assert (await client.asim("POST", path, body)).status == 200

        answer = client.run(client.acall("POST", "/v2/topup", {"refid": "two"}, before_body=meanwhile))
        assert (answer.status, answer.json["error"]) == (409, "sandbox_reset")
        assert answer.json["message"] == f"The sandbox was {what} before this request was carried out."
        sent = client.asend("POST", "/_sim/inbox/default/a", "", b"{}", {}, meanwhile)
        assert f"was {what} while the body" in client.run(sent).json["message"]


def test_a_refusal_of_a_fork_is_located_in_its_body() -> None:
    with running() as client:
        for fork, path in (
            ({"of": "nobody"}, "fork.of"),
            ({"of": "default", "mark": "nowhere"}, "fork.mark"),
            ({"of": "default", "n": 7}, "fork.n"),
            ({"of": "default", "to": "2020-01-01T00:00:00Z"}, "fork.to"),
            ({"of": "default", "to": "yesterday"}, "fork.to"),
        ):
            assert client.sim("POST", "/sandboxes", {"fork": fork}).json["path"] == path
        taken = client.sim("POST", "/sandboxes", {"id": "default", "fork": {"of": "default"}})
        assert taken.json["path"] == "id"


def test_impossible_moments_are_refused_and_change_nothing() -> None:
    with running() as client:
        client.pay("one")
        client.advance(10)
        last, now, life = len(client.live.tape), client.live.clock.now(), client.live.life
        for body in (
            {"n": last + 1},
            {"to": "2026-11-21T03:59:59.999999Z"},
            {"to": "2026-11-21T04:00:10.000001Z"},
        ):
            assert refused(client, REWIND, body) == (400, "unknown_moment")
        assert refused(client, REWIND, {"mark": "nowhere"}) == (404, "unknown_mark")
        shapes: list[Any] = [{}, {"n": 1, "mark": "a"}, {"n": -1}, {"n": 0.5}, {"to": "yesterday"}, {"at": 1}, []]
        for wrong in shapes:
            assert refused(client, REWIND, wrong) == (400, "bad_request")
        assert refused(client, "/sandboxes/nobody/rewind", {"n": 0}) == (404, "unknown_sandbox")
        assert (len(client.live.tape), client.live.clock.now(), client.live.life) == (last, now, life)


def test_a_sandbox_that_advances_is_neither_marked_nor_rewound_nor_forked() -> None:
    inboxes = {"callbacks": [{"status": 200, "delay": "60s"}]}
    with running({"inboxes": inboxes, "limits": {"callback_timeout_manual": "60s"}}) as client:
        client.call("POST", "/v2/callback-url?url=inbox%3Acallbacks&method=POST")
        client.pay("one")

        async def meanwhile() -> list[tuple[int, str]]:
            advancing = asyncio.ensure_future(client.asim("POST", f"{DEFAULT}/clock/advance", {"until": "idle"}))
            while not client.live.inboxes.peek("callbacks").received:  # noqa: ASYNC110
                await asyncio.sleep(0)  # the first callback rings no bell
            fork = {"fork": {"of": "default"}}
            asked = [(MARKS, {"name": "a"}), (REWIND, {"n": 0}), ("/sandboxes", fork)]
            found = [await client.asim("POST", path, body) for path, body in asked]
            advancing.cancel()
            return [(one.status, one.json["error"]) for one in found]

        assert client.run(meanwhile()) == [(409, "advance_running")] * 3


def test_events_report_a_rewind_that_ends_the_current_life() -> None:
    with running() as client:
        client.pay("one")
        client.sim("POST", REWIND, {"n": 0})
        told = client.sim("GET", f"{DEFAULT}/events?after=0&timeout=0&only=request").body.decode()
        assert '"action":"rewound","about":"entry 0"' in told
        assert '"kind":"request"' not in told


def test_a_rewind_and_a_fork_show_credentials_as_a_reset_does() -> None:
    with running() as client:
        shown = client.sim("POST", f"{DEFAULT}/reset").json["resellers"]
        assert client.sim("POST", REWIND, {"n": 0}).json["resellers"] == shown
        assert client.sim("POST", "/sandboxes", {"fork": {"of": "default"}}).json["resellers"] == shown


def test_undone_traffic_is_judged_and_counted_as_a_life() -> None:
    with running(keeps_coverage=True) as client:
        endings: list[str] = []
        client.app.sandboxes.on_ended = lambda live, ending: endings.append(ending)
        client.call("GET", "/v2/balance")
        client.sim("POST", REWIND, {"n": 0})
        assert endings == ["rewound"]
        answers = client.app.sandboxes.coverage().answers
        assert [count for key, count in answers.items() if "/v2/balance" in key] == [1]
