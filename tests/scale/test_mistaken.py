"""A server with another server's name, or with another list than HAProxy's: it is noticed, and pays nothing."""

from collections.abc import Iterator

import pytest

from simulator.staging.signing import Credentials
from tests.support.pages import await_line
from tests.support.sharded import SHARD, Sharded, sharded

pytestmark = [pytest.mark.slow, pytest.mark.needs("haproxy")]

NAMES = ("a", "b")
KEY = Credentials("test_key_RS001", "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE=")
TOLD = (
    "the proxy takes this server for 'a', and it was started with --shard b; start it with --shard a, or write the"
    " configuration of the proxy anew with shard-config"
)


@pytest.fixture
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sharded]:
    with sharded(NAMES, tmp_path_factory.mktemp("mistaken")) as running:
        yield running


def owned_by(servers: Sharded, name: str) -> str:
    return next(f"shop-{n}" for n in range(99) if servers.ring.owner(f"shop-{n}") == name)


def test_a_server_that_was_started_under_the_name_of_another_gets_no_requests_and_says_why(servers: Sharded) -> None:
    shops = {name: owned_by(servers, name) for name in NAMES}
    for shop in shops.values():
        assert servers.ask("POST", "/_sim/sandboxes", {"id": shop}).status == 201
    servers.kill("a")
    servers.await_known("a", up=False)
    servers.start("a", own="b")
    await_line(servers.running["a"], TOLD)
    for path in (f"/s/{shops['a']}/v2/balance", f"/_sim/sandboxes/{shops['a']}"):
        refused = servers.ask("GET", path)
        assert (refused.status, refused.json["error"]) == (503, "shard_down")
    assert servers.call("GET", "/v2/balance", KEY, sandbox=shops["b"]).status == 200
    direct = servers.running["a"].ready["url"]
    assert servers.ask("GET", "/_sim/ready", **{"x-sim-shard": "z"}).status == 200  # a client cannot say it
    servers.kill("a")
    servers.start("a")
    servers.await_known("a", up=True)
    assert direct == servers.running["a"].ready["url"]
    paid = servers.call("GET", "/v2/balance", KEY, sandbox=shops["a"])
    assert (paid.status, paid.headers[SHARD]) == (200, "a")


def test_a_list_that_differs_from_the_list_of_the_proxy_is_reported_and_disturbs_no_client(servers: Sharded) -> None:
    listed = (servers.folder / "shards.yaml").read_text()
    (servers.folder / "longer.yaml").write_text(f"{listed}  c: http://127.0.0.1:1\n")
    servers.kill("a")
    servers.await_known("a", up=False)
    servers.start("a", listed="longer.yaml")
    await_line(servers.running["a"], "the list of the proxy differs from --shards, which has a, b, c")
    servers.await_known("a", up=True)
