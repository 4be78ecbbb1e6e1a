"""One of three servers is killed: what it has waits for it, and the others go on."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.cli.signing import Credentials
from tests.support.processes import run
from tests.support.sharded import SHARD, Sharded, sharded

pytestmark = pytest.mark.slow

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


def assert_listed_without(servers: Sharded, lost: str) -> None:
    answer = servers.ask("GET", "/_sim/sandboxes").json
    others = {name for name in ("default", *SANDBOXES) if servers.ring.owner(name) != lost}
    assert {one["id"] for one in answer["sandboxes"]} == others
    told = {one["name"]: one for one in answer["servers"]}
    assert {name: one["answered"] for name, one in told.items()} == {name: name != lost for name in NAMES}
    assert told[lost]["reason"] == f"{lost} cannot be asked: Connection refused"


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


def test_a_sandbox_on_the_wrong_server_is_told_and_is_moved_by_export_and_import(servers: Sharded) -> None:
    moved = SANDBOXES[0]
    owner = servers.ring.owner(moved)
    other = next(name for name in NAMES if name != owner)
    pay(servers, moved, "first")
    servers.kill(owner)
    servers.kill(other)
    file = servers.folder / "moved.sandbox"
    assert run("data", "export", str(servers.folder / owner), str(file), "--sandbox", moved).status == 0
    assert run("data", "import", str(servers.folder / other), str(file)).status == 0
    servers.start(owner)
    servers.start(other)
    servers.await_known(owner, up=True)
    told = {one["name"]: one for one in servers.ask("GET", "/_sim/sandboxes").json["servers"]}
    assert {name: one["misplaced"] for name, one in told.items()} == {
        name: [moved] if name == other else [] for name in NAMES
    }
    assert json.loads(pay(servers, moved, "first").body)["data"]["refid"] == "first"
