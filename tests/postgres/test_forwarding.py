"""Requests for a sandbox of another server: as if they had come to its owner, once, and nothing without an owner."""

import threading
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from simulator.postgres.routing import sandbox_of
from tests.support.client import Response
from tests.support.processes import DEADLINE_S, ask
from tests.support.sharing import await_true, control, pay, refids, server

pytestmark = [pytest.mark.needs("initdb"), pytest.mark.slow]


@pytest.mark.parametrize(
    ("path", "sandbox"),
    [
        ("/v2/topup", "default"),
        ("/", "default"),
        ("/s/shop/v2/topup", "shop"),
        ("/_sim/sandboxes/shop", "shop"),
        ("/_sim/sandboxes/shop/clock/advance", "shop"),
        ("/_sim/inbox/shop/mine", "shop"),
        ("/_sim/sandboxes", None),
        ("/_sim", None),
        ("/_sim/ready", None),
        ("/openapi.json", None),
    ],
)
def test_a_path_names_its_sandbox(path: str, sandbox: str | None) -> None:
    assert sandbox_of(path) == sandbox


def test_the_owner_records_a_forwarded_request_as_it_came(database: str) -> None:
    with server(database) as first, server(database) as second:
        assert control(first, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
        assert pay(second, "one", "shop").status == 200
        journal = control(first, "GET", "/sandboxes/shop/requests").json["requests"]
        shown = control(second, "GET", f"/sandboxes/shop/requests/{journal[0]['n']}").json
        names = [name.lower() for name, _ in shown["request"]["headers"]]
        assert "x-sim-forwarded" not in names
        assert shown["client"] == "127.0.0.1"
        assert control(second, "GET", "/sandboxes/shop").json["url"] == f"{second.ready['url']}/s/shop"
        assert "reseller_sim_forwarded_total 3" in control(second, "GET", "/metrics").body.decode()


def test_a_request_with_a_forged_mark_is_not_executed(database: str) -> None:
    with server(database) as running:
        mark = {"x-sim-forwarded": "guess 10.0.0.1 http"}
        refused = ask(f"{running.ready['url']}/_sim/sandboxes/default", "GET", None, mark)
        assert (refused.status, refused.json["error"]) == (421, "not_owner")


def test_a_scenario_that_answers_like_a_server_without_the_sandbox_is_asked_once(database: str) -> None:
    with server(database) as first, server(database) as second:
        misdirected = {"when": {"method": "POST"}, "then": {"after_commit": True, "status": 421}}
        scenario = {"extends": "default", "faults": [misdirected]}
        assert control(first, "POST", "/sandboxes", {"id": "shop", "scenario": scenario}).status == 201
        assert pay(second, "one", "shop").json["error"] == "scripted_fault"
        assert len(control(first, "GET", "/sandboxes/shop/requests").json["requests"]) == 1


@pytest.mark.parametrize("path", ["/s/a%00b/v2/balance", "/_sim/sandboxes/a%00b", "/_sim/inbox/a%00b/mine"])
def test_a_name_that_no_sandbox_may_have_is_not_looked_up_in_the_database(database: str, path: str) -> None:
    with server(database) as running:
        refused = ask(f"{running.ready['url']}{path}", "GET", None, {})
        assert (refused.status, refused.json["error"]) == (404, "unknown_sandbox")


def test_a_stream_of_events_is_forwarded_as_it_comes(database: str) -> None:
    with server(database) as first, server(database) as second:
        assert control(first, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
        connection = HTTPConnection(urlsplit(second.ready["url"]).netloc, timeout=DEADLINE_S)
        connection.request("GET", "/_sim/sandboxes/shop/events")
        stream = connection.getresponse()
        assert stream.status == 200
        assert pay(first, "watched", "shop").status == 200
        assert any(b"watched" in line for line in stream)
        connection.close()


def test_a_name_is_free_for_other_servers_again_after_its_sandbox_is_deleted(database: str) -> None:
    with server(database) as first, server(database) as second:
        for running, other in ((first, second), (second, first)):
            assert control(running, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
            assert pay(other, "one", "shop").status == 200
            assert control(other, "DELETE", "/sandboxes/shop").status == 204
            assert control(running, "GET", "/sandboxes/shop").json["error"] == "unknown_sandbox"


def test_a_fork_cannot_have_a_name_that_another_server_has_just_had(database: str) -> None:
    with server(database) as first, server(database) as second:
        assert control(first, "POST", "/sandboxes", {"id": "shop"}).status == 201
        assert control(second, "POST", "/sandboxes", {"id": "copy"}).status == 201
        assert control(second, "DELETE", "/sandboxes/copy").status == 204
        refused = control(second, "POST", "/sandboxes", {"id": "copy", "fork": {"of": "shop"}})
        assert (refused.status, refused.json["error"]) == (409, "sandbox_exists")
        assert "or had it within the last 10 minutes" in refused.json["message"]
        assert control(second, "POST", "/sandboxes", {"id": "other", "fork": {"of": "shop"}}).status == 201


def test_a_server_that_wakes_after_its_lease_answers_that_it_has_lost_it(database: str) -> None:
    import signal

    with server(database) as first, server(database) as second:
        assert control(first, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
        first.process.send_signal(signal.SIGSTOP)
        answers: list[Response] = []
        paying = threading.Thread(target=lambda: answers.append(pay(first, "late", "shop")))
        paying.start()
        await_true(lambda: control(second, "GET", "/sandboxes/shop").status == 200)
        first.process.send_signal(signal.SIGCONT)
        paying.join()
        assert [(answer.status, answer.json["error"]) for answer in answers] == [(503, "lease_lost")]
        assert refids(second, "shop") == set()
        await_true(lambda: pay(first, "later", "shop").status == 200)
        assert refids(second, "shop") == {"later"}
