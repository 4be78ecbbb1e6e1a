"""Servers on one PostgreSQL: sandboxes are stored, shared, taken over and fenced."""

import signal

import pytest

from tests.support.postgres import PASSWORD, rows_of
from tests.support.processes import ask, run
from tests.support.sharing import await_true, control, pay, refids, server

pytestmark = pytest.mark.needs("initdb")


def test_a_server_continues_the_sandboxes_that_it_left(database: str) -> None:
    with server(database) as running:
        assert control(running, "POST", "/sandboxes", {"id": "shop"}).status == 201
        assert (pay(running, "one").status, pay(running, "two", "shop").status) == (200, 200)
        assert running.stop(signal.SIGTERM)[0] == 0
    with server(database) as running:
        assert refids(running) == {"one"}
        assert refids(running, "shop") == {"two"}


def test_every_server_answers_for_every_sandbox(database: str) -> None:
    with server(database) as first, server(database) as second:
        assert control(second, "POST", "/sandboxes", {"id": "shop"}).status == 201
        assert control(first, "POST", "/sandboxes", {"id": "shop"}).json["error"] == "sandbox_exists"
        assert pay(first, "one", "shop").status == 200
        assert pay(second, "two").status == 200
        assert refids(second, "shop") == refids(first, "shop") == {"one"}
        assert refids(first) == refids(second) == {"two"}
        forked = control(first, "POST", "/sandboxes", {"id": "copy", "fork": {"of": "shop"}})
        assert forked.status == 201
        assert refids(first, "copy") == {"one"}
        listed = control(first, "GET", "/sandboxes").json
        assert [row["id"] for row in listed["sandboxes"]] == ["copy", "default", "shop"]
        assert [(row["answered"], row["sandboxes"]) for row in listed["servers"]] == [(True, 1), (True, 2)]
        assert control(first, "DELETE", "/sandboxes/copy").status == 204
        assert control(first, "GET", "/sandboxes/copy").status == 404
        inbox = ask(f"{first.ready['url']}/_sim/inbox/shop/mine", "POST", b"{}")
        assert inbox.status == 200
        assert len(control(second, "GET", "/sandboxes/shop/inbox/mine").json["items"]) == 1


@pytest.mark.slow
def test_the_sandboxes_of_a_killed_server_answer_from_another_server(database: str) -> None:
    with server(database) as first, server(database) as second:
        assert control(first, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "real"}}).status == 201
        for number in range(5):
            assert pay(second, f"refid {number}", "shop").status == 200
        first.process.kill()
        first.process.wait()
        assert await_true(lambda: control(second, "GET", "/sandboxes/shop").status == 200) < 12
        assert refids(second, "shop") == {f"refid {number}" for number in range(5)}
        await_true(lambda: control(second, "GET", "/sandboxes/default").status == 200)
        assert pay(second, "later", "shop").status == 200
        inbox = "/sandboxes/shop/inbox/callbacks?wait_for=6&timeout=60"
        assert len(control(second, "GET", inbox).json["items"]) >= 6
        assert control(second, "GET", "/sandboxes/shop/invariants").json["ok"]


@pytest.mark.slow
def test_a_server_that_was_paused_for_longer_than_its_lease_changes_nothing(database: str) -> None:
    with server(database) as first, server(database) as second:
        assert control(first, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
        first.process.send_signal(signal.SIGSTOP)
        await_true(lambda: control(second, "GET", "/sandboxes/shop").status == 200)
        assert pay(second, "one", "shop").status == 200
        first.process.send_signal(signal.SIGCONT)
        await_true(lambda: pay(first, "two", "shop").status == 200)
        await_true(lambda: refids(first, "shop") == {"one", "two"})
        assert refids(second, "shop") == {"one", "two"}
        assert rows_of(database, "SELECT count(*) FROM owners WHERE sandbox = 'shop'") == [(1,)]
        assert "leases_lost_total 1" in control(first, "GET", "/metrics").body.decode()


@pytest.mark.slow
def test_the_password_is_never_shown(database: str) -> None:
    with server(database, "--log", "text") as running:
        assert PASSWORD not in running.first_line
        assert PASSWORD not in control(running, "GET", "/metrics").body.decode()
        _, out, err = running.stop(signal.SIGTERM)
        assert PASSWORD not in out + err
    done = run("serve", "--store", f"{database}missing")
    assert done.status == 3
    assert "does not answer (" in done.only_error_line or "does not exist" in done.only_error_line
    assert PASSWORD not in done.only_error_line
