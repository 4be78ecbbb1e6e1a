"""One of three servers is killed: its sandboxes wait for it, and the others keep answering."""

import json
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from itertools import count
from typing import Any

import pytest

from simulator.shards.haproxy import READ_TIMEOUT
from simulator.staging.signing import Credentials
from tests.support.processes import DEADLINE_S, run
from tests.support.sharded import SHARD, Sharded, sharded

pytestmark = [pytest.mark.slow, pytest.mark.needs("haproxy")]

NAMES = ("a", "b", "c")
SANDBOXES = [f"shop-{number:02}" for number in range(12)]
KEY = Credentials("test_key_RS001", "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE=")


@pytest.fixture
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sharded]:
    with sharded(NAMES, tmp_path_factory.mktemp("killed")) as running:
        for name in SANDBOXES:
            wanted = {"id": name, "clock": {"mode": "manual"}}
            assert running.ask("POST", "/_sim/sandboxes", wanted).status == 201
        yield running


def pay(servers: Sharded, sandbox: str, refid: str) -> Any:
    body = {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": 10}
    return servers.call("POST", "/v2/topup", KEY, body, sandbox)


def test_a_killed_server_loses_nothing_and_its_sandboxes_wander_nowhere(servers: Sharded) -> None:
    paid = {name: pay(servers, name, "first").json["data"] for name in SANDBOXES}
    lost = servers.ring.owner(SANDBOXES[0])
    servers.kill(lost)
    for known in (False, True):  # by the proxy, which at first finds a connection refused, and then by its checks
        if known:
            servers.await_known(lost, up=False)
        for name in SANDBOXES:
            answer = pay(servers, name, "second")
            made = servers.ask("POST", "/_sim/sandboxes", {"id": name})
            if servers.ring.owner(name) == lost:
                assert (answer.status, answer.json["error"], answer.headers["retry-after"]) == (503, "shard_down", "1")
                assert servers.ask("GET", f"/_sim/sandboxes/{name}").status == 503
                assert made.status == 503
            else:
                assert (answer.status, answer.headers[SHARD]) == (200, servers.ring.owner(name))
                assert (made.status, made.json["error"]) == (409, "sandbox_exists")
    assert_listed_without(servers, lost)

    servers.start(lost)
    servers.await_known(lost, up=True)
    assert {one["id"] for one in servers.ask("GET", "/_sim/sandboxes").json["sandboxes"]} == {"default", *SANDBOXES}
    for name in SANDBOXES:
        assert pay(servers, name, "first").json["data"] | {"balance": 0} == paid[name] | {"balance": 0}
        shown = servers.ask("GET", f"/_sim/sandboxes/{name}/transactions").json["transactions"]
        wanted = ["first"] if servers.ring.owner(name) == lost else ["second", "first"]
        assert [one["refid"] for one in shown] == wanted


def test_a_server_that_is_killed_under_load_disturbs_no_other_and_keeps_what_it_answered(servers: Sharded) -> None:
    lost = servers.ring.owner(SANDBOXES[0])
    answers: dict[tuple[str, str], int] = {}
    some, over = threading.Event(), threading.Event()

    def client(name: str) -> None:
        for number in count():
            if over.is_set() and number >= 20:
                return
            with suppress(HTTPException, OSError):  # it was killed in the middle
                answers[name, f"order-{number}"] = pay(servers, name, f"order-{number}").status
            if number == 10:
                some.set()

    with ThreadPoolExecutor(len(SANDBOXES)) as pool:
        clients = [pool.submit(client, name) for name in SANDBOXES]
        try:
            assert some.wait(DEADLINE_S)
            servers.kill(lost)
            servers.await_known(lost, up=False)
        finally:
            over.set()
    for each in clients:
        each.result()
    by_owner = {
        name: [status for (sandbox, _), status in answers.items() if servers.ring.owner(sandbox) == name]
        for name in NAMES
    }
    assert {name: set(found) for name, found in by_owner.items() if name != lost} == {
        name: {200} for name in NAMES if name != lost
    }
    assert set(by_owner[lost]) == {200, 503}
    servers.start(lost)
    servers.await_known(lost, up=True)
    for name in SANDBOXES:
        shown = servers.ask("GET", f"/_sim/sandboxes/{name}/transactions?limit=1000").json["transactions"]
        paid = {refid for (sandbox, refid), status in answers.items() if sandbox == name and status == 200}
        assert paid <= {one["refid"] for one in shown}
        assert servers.ask("GET", f"/_sim/sandboxes/{name}/invariants").json["ok"]


def assert_listed_without(servers: Sharded, lost: str) -> None:
    answer = servers.ask("GET", "/_sim/sandboxes").json
    others = {name for name in ("default", *SANDBOXES) if servers.ring.owner(name) != lost}
    assert {one["id"] for one in answer["sandboxes"]} == others
    told = {one["name"]: one for one in answer["servers"]}
    assert {name: one["answered"] for name, one in told.items()} == {name: name != lost for name in NAMES}
    assert told[lost]["reason"] == f"{lost} cannot be asked: Connection refused"


def test_a_reader_does_not_wait_for_a_suspended_server(servers: Sharded) -> None:
    """Until its checks have failed, which takes half a minute, it is up for the proxy."""
    file = servers.folder / "haproxy.cfg"
    written = file.read_text()
    file.write_text(written.replace(f"set-timeout server {READ_TIMEOUT}", "set-timeout server 1s"))
    servers.proxy.reload()
    servers.running["b"].process.send_signal(signal.SIGSTOP)
    try:
        answers = [servers.ask("GET", "/_sim/health") for _ in NAMES]
    finally:
        servers.running["b"].process.send_signal(signal.SIGCONT)
    assert {one.status for one in answers} == {200}
    assert {one.headers[SHARD] for one in answers} == {"a", "c"}


def test_a_sandbox_is_created_while_a_server_is_down_unless_that_would_own_it(servers: Sharded) -> None:
    servers.kill("b")
    servers.await_known("b", up=False)
    made = [servers.ask("POST", "/_sim/sandboxes") for _ in range(8)]
    assert {one.status for one in made} == {201}
    assert {servers.ring.owner(one.json["id"]) for one in made} == {"a", "c"}
    name = next(f"of-b-{n}" for n in range(99) if servers.ring.owner(f"of-b-{n}") == "b")
    refused = servers.ask("POST", "/_sim/sandboxes", {"id": name})
    assert (refused.status, refused.json["error"], refused.headers["retry-after"]) == (503, "shard_unreachable", "1")
    assert refused.json["message"] == "this belongs to the server b, which cannot be asked: Connection refused"


def test_a_sandbox_on_the_wrong_server_is_reported_and_is_moved_by_export_and_import(servers: Sharded) -> None:
    moved = SANDBOXES[0]
    owner = servers.ring.owner(moved)
    other = next(name for name in NAMES if name != owner)
    pay(servers, moved, "first")
    servers.kill(owner)
    servers.kill(other)
    servers.await_known(owner, other, up=False)
    file = servers.folder / "moved.sandbox"
    assert run("data", "export", str(servers.folder / owner), str(file), "--sandbox", moved).status == 0
    assert run("data", "import", str(servers.folder / other), str(file)).status == 0
    servers.start(owner)
    servers.start(other)
    servers.await_known(owner, other, up=True)
    told = {one["name"]: one for one in servers.ask("GET", "/_sim/sandboxes").json["servers"]}
    assert {name: one["misplaced"] for name, one in told.items()} == {
        name: [moved] if name == other else [] for name in NAMES
    }
    listed = run("sandbox", "list", "--url", servers.url)
    assert f"sandbox list: {other} has {moved}, which belong to others: see docs/scale.md" in listed.err
    assert json.loads(pay(servers, moved, "first").body)["data"]["refid"] == "first"


def test_a_reseller_that_is_added_has_an_owner_and_its_keys_have_it_when_the_map_does(servers: Sharded) -> None:
    code = next(f"NEW{n}" for n in range(99) if servers.ring.owner(f"NEW{n}") != servers.ring.owner("default"))
    wanted = {"code": code, "balance": 100, "users": [{"username": "new", "password": "p"}]}
    made = servers.ask("POST", "/_sim/sandboxes/default/resellers", wanted)
    assert (made.status, made.headers[SHARD]) == (201, servers.ring.owner(code))
    deposit = servers.ask("POST", f"/_sim/sandboxes/default/resellers/{code}/deposits", {"amount": 1})
    assert deposit.status == 201
    credentials = Credentials(made.json["api_key"], made.json["api_secret"])
    with (servers.folder / "resellers.map").open("a") as file:
        file.write(f"key/{credentials.key} {code}\nuser/new {code}\n")
    servers.proxy.reload()
    balance = servers.call("GET", "/v2/balance", credentials)
    assert (balance.status, balance.json["data"]["balance"]) == (200, 101)
    assert servers.ask("POST", "/v2/token", {"username": "new", "password": "p"}).headers[SHARD] == made.headers[SHARD]
    servers.kill("a")
    servers.await_known("a", up=False)
    name = next(one for one in SANDBOXES if servers.ring.owner(one) == "a")
    assert servers.ask("GET", f"/_sim/sandboxes/{name}").json["error"] == "shard_down"
    other = next(one for one in SANDBOXES if servers.ring.owner(one) != "a")
    assert servers.ask("GET", f"/_sim/sandboxes/{other}").status == 200
