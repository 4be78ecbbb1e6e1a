"""Servers with proxies in front: trusted forwarders, the client's address, and the public address of the server."""

from ipaddress import ip_address
from typing import Any

import pytest

from simulator.api.clients import FORWARDED_FOR, ClientResolver
from tests.support.client import Client, exchange, running
from tests.support.replaying import assert_replays

PROXIES = ("127.0.0.0/8", "10.1.0.0/16", "fd00::/8")
PEER = "127.0.0.1"


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        (PEER, None, PEER),
        (PEER, "", PEER),
        (PEER, "203.0.113.9", "203.0.113.9"),
        (PEER, "203.0.113.9:4711", "203.0.113.9"),
        (PEER, "[2001:db8::1]:4711", "2001:db8::1"),
        (PEER, "::ffff:203.0.113.9", "203.0.113.9"),
        (PEER, " 203.0.113.9 , 10.1.0.3 ", "203.0.113.9"),
        (PEER, "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        (PEER, "10.1.0.4, 10.1.0.3", "10.1.0.4"),
        (PEER, "fd00::7, 10.1.0.3", "fd00::7"),
        (PEER, "198.51.100.1, unknown", PEER),
        (PEER, "198.51.100.1, unknown, 10.1.0.3", "10.1.0.3"),
        (PEER, "198.51.100.1,", PEER),
        (PEER, "203.0.113.9, fe80::1%eth0", PEER),
        (PEER, "127.1", PEER),
        (PEER, "0x7f.1, 1e3", PEER),
        (PEER, "9" * 100, PEER),
        (PEER, "198.51.100.1, " + ", ".join(["10.1.0.3"] * 40), "10.1.0.3"),
        ("::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("203.0.113.5", "198.51.100.1", "203.0.113.5"),
        ("203.0.113.5", "127.0.0.1", "203.0.113.5"),
        ("", "198.51.100.1", ""),
        ("unix:", "198.51.100.1", "unix:"),
    ],
)
def test_the_client_is_the_last_that_is_no_trusted_proxy(peer: str, forwarded: str | None, client: str) -> None:
    given = {} if forwarded is None else {FORWARDED_FOR: forwarded.encode()}
    assert ClientResolver(PROXIES).resolve(peer, given)[0] == client
    if client not in ("", "unix:"):
        ip_address(client)


@pytest.mark.parametrize(
    ("proto", "host", "told"),
    [
        ("https", "sim.example.com", ("https", b"sim.example.com")),
        ("HTTPS", "[2001:db8::1]:8443", ("https", b"[2001:db8::1]:8443")),
        ("http, https", "evil.example, sim.example.com", ("https", b"sim.example.com")),
        ("gopher", "a b", ("", b"")),
        ("https://", "sim.example.com/x", ("", b"")),
        ("", "", ("", b"")),
        ("ws", "user@sim", ("", b"")),
        ("https", "sim:123456", ("https", b"")),
        ("https", "x" * 300, ("https", b"")),
        ("https", "sim\r\nX: y", ("https", b"")),
    ],
)
def test_the_address_that_a_trusted_proxy_forwards_is_parsed_strictly(proto: str, host: str, told: Any) -> None:
    headers = {b"x-forwarded-proto": proto.encode(), b"x-forwarded-host": host.encode()}
    assert ClientResolver(PROXIES).forwarded(PEER, headers) == told
    assert ClientResolver(PROXIES).forwarded("203.0.113.5", headers) == ("", b"")


def ask(client: Client, path: str, peer: str, headers: dict[str, str], *, signed: bool = False) -> Any:
    """A request that comes from this address."""
    known = client.signature("GET", "", b"") if signed else {}
    lines = {"host": "127.0.0.1:8080", **known, **headers}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in lines.items()],
        "client": (peer, 50000),
        "server": ("127.0.0.1", 8080),
        "root_path": "",
        "extensions": {},
    }
    return client.run(exchange(client.app, scope, b""))


@pytest.mark.parametrize(
    ("peer", "forwarded", "status"),
    [
        (PEER, "203.0.113.9", 200),
        (PEER, "198.51.100.1, 203.0.113.9", 200),
        (PEER, "203.0.113.9, 198.51.100.1", 403),
        (PEER, "203.0.113.9, 10.1.0.3", 200),
        (PEER, "", 403),
        ("198.51.100.1", "203.0.113.9", 403),
        ("203.0.113.9", "198.51.100.1", 200),
    ],
)
def test_the_allowlist_of_the_service_sees_the_true_client(peer: str, forwarded: str, status: int) -> None:
    with running(trusted_forwarders=PROXIES) as client:
        change = {"ip_allowlist": ["203.0.113.9"]}
        assert client.sim("PATCH", "/sandboxes/default/resellers/RS001/settings", change).status == 200
        answer = ask(client, "/v2/balance", peer, {"X-Forwarded-For": forwarded}, signed=True)
        assert answer.status == status, answer.body
        shown = client.sim("GET", "/sandboxes/default/requests").json["requests"][0]
        assert shown["status"] == status


def test_forwarded_headers_are_ignored_by_default() -> None:
    with running() as client:
        change = {"ip_allowlist": ["203.0.113.9"]}
        client.sim("PATCH", "/sandboxes/default/resellers/RS001/settings", change)
        assert ask(client, "/v2/balance", PEER, {"X-Forwarded-For": "203.0.113.9"}, signed=True).status == 403


OUTSIDE = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "sim.example.com"}


@pytest.mark.parametrize("has_root", [True, False])
def test_the_control_api_shows_the_address_that_the_client_used(has_root: bool) -> None:
    """Whether the proxy removes what it has before the paths, or not."""
    with running(trusted_forwarders=PROXIES, root_path="/sim", allowed_hosts=("sim.example.com",)) as client:
        root = "/sim" if has_root else ""
        shown = ask(client, f"{root}/_sim/sandboxes/default", PEER, OUTSIDE).json
        assert shown["url"] == "https://sim.example.com/sim/s/default"
        for path in ("/v2/balance", "/s/default/v2/balance"):
            assert ask(client, f"{root}{path}", PEER, OUTSIDE, signed=True).status == 200
        assert [one["path"] for one in client.sim("GET", "/sandboxes/default/requests").json["requests"]] == [
            "/v2/balance"
        ] * 2


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/sim/_sim/health", True),
        ("/_sim/health", True),
        ("/simulated/_sim/health", False),
        ("/sim/sim/_sim/health", False),
        ("/SIM/_sim/health", False),
        ("/sim", False),
        ("//sim/_sim/health", False),
    ],
)
def test_only_a_whole_root_is_taken_away_once(path: str, known: bool) -> None:
    with running(root_path="/sim") as client:
        assert (ask(client, path, PEER, {}).status == 200) is known


def test_a_foreign_host_is_refused_from_every_header() -> None:
    with running(trusted_forwarders=PROXIES) as client:
        assert ask(client, "/_sim/sandboxes", PEER, OUTSIDE).json["error"] == "foreign_host"
        assert ask(client, "/_sim/sandboxes", "198.51.100.1", OUTSIDE).status == 200  # its own words do not count
        spoofed = {"host": "evil.example", "X-Forwarded-Host": "localhost"}
        assert ask(client, "/_sim/sandboxes", "198.51.100.1", spoofed).json["error"] == "foreign_host"


@pytest.mark.parametrize(
    ("is_tls", "trusted", "told", "scheme"),
    [
        (False, (), "https", "http"),
        (True, (), "http", "https"),
        (False, PROXIES, "https", "https"),
        (False, PROXIES, "gopher", "http"),
        (True, PROXIES, "http", "http"),
        (True, PROXIES, "", "https"),
    ],
)
def test_absolute_links_have_the_scheme_that_the_client_used(
    is_tls: bool, trusted: tuple[str, ...], told: str, scheme: str
) -> None:
    """Also when the request is sent again, and when its tape is replayed."""
    scenario = {"assume": {"statement-links": "absolute"}}
    with running(scenario, is_tls=is_tls, trusted_forwarders=trusted) as client:
        query = "/v2/balance-statement?date=2026-11-20%20-%202026-11-21"
        shown = client.call("GET", query, headers={"x-forwarded-proto": told}).json["meta"]["path"]
        assert shown.partition("://")[0] == scheme
        assert client.sim("POST", "/sandboxes/default/requests/1/replay").status == 201
        sent = str(client.sim("GET", "/sandboxes/default/requests/2").json)
        assert shown in sent
        assert_replays(client.app)


def test_links_lead_through_the_proxy() -> None:
    scenario = {"assume": {"statement-links": "relative"}}
    with running(scenario, root_path="/sim") as client:
        client.pay()
        answer = client.call("GET", "/v2/balance-statement?date=2026-11-20%20-%202026-11-21", sandbox="default")
        assert b'"/sim/s/default/v2/balance-statement' in answer.body
