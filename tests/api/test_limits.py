"""Limits per address: the request rate and its block, the allowlist, the address that counts (SPEC 8)."""

from typing import Any

import pytest

from simulator.api.clients import FORWARDED_FOR, ClientResolver, is_listed_address
from simulator.domain.commands import CountRequest
from tests.support.client import Client, Response, running

PEER = "127.0.0.1"  # where the tests' requests come from
RATE = {"requests_per_interval": 3}


def error(response: Response) -> tuple[int, str]:
    assert response.json.keys() == {"error", "message"}
    return response.status, response.json["error"]


def spend(client: Client, count: int, **more: Any) -> list[int]:
    return [client.call("GET", "/v2/balance", **more).status for _ in range(count)]


def test_requests_after_the_last_allowed_request_are_blocked() -> None:
    with running({"limits": RATE}) as client:
        assert spend(client, 3) == [200, 200, 200]
        blocked = client.call("GET", "/v2/balance")
        assert error(blocked) == (403, "ip_blocked")
        assert PEER in blocked.json["message"]
        assert "requests_per_interval" in blocked.headers["x-sim-diagnosis"]
        assert error(client.pay()) == (403, "ip_blocked")
        assert not client.live.core.state.transactions


def test_a_block_ends_after_240_minutes_of_the_sandboxs_time() -> None:
    with running({"limits": RATE}) as client:
        assert spend(client, 4) == [200, 200, 200, 403]
        client.advance(240 * 60 - 1)
        assert spend(client, 1) == [403]
        client.advance(1)
        assert spend(client, 4) == [200, 200, 200, 403]


def test_an_interval_of_five_minutes_begins_with_the_first_request() -> None:
    with running({"limits": RATE}) as client:
        client.advance(1000)
        assert spend(client, 3) == [200, 200, 200]
        client.advance(300)
        assert spend(client, 3) == [200, 200, 200]
        client.advance(299)
        assert spend(client, 1) == [403]


def test_a_fast_clock_shortens_the_block() -> None:
    with running({"limits": RATE, "clock": "x100"}) as client:
        assert spend(client, 4) == [200, 200, 200, 403]
        client.pass_time(143)
        assert spend(client, 1) == [403]
        client.pass_time(2)
        assert spend(client, 1) == [200]


def test_interval_and_block_are_the_scenarios_to_set() -> None:
    limits = {"requests_per_interval": 1, "rate_limit_interval": "2s", "rate_limit_block": "10s"}
    with running({"limits": limits}) as client:
        assert spend(client, 1) == [200]
        client.advance(2)
        assert spend(client, 2) == [200, 403]
        client.advance(9)
        assert spend(client, 1) == [403]
        client.advance(1)
        assert spend(client, 1) == [200]


def test_the_default_scenario_has_the_limit_of_the_specification_and_null_lifts_it() -> None:
    with running() as client:
        assert client.app.scenario.limits.requests_per_interval == 30_000
        for _ in range(30_000 - 1):
            client.live.apply_and_record(CountRequest(PEER))
        assert spend(client, 2) == [200, 403]
    with running({"limits": {"requests_per_interval": None}}) as client:
        assert client.live.core.state.rates is None
        assert spend(client, 2) == [200, 200]


def test_every_request_counts_with_any_answer() -> None:
    with running({"limits": RATE}) as client:
        assert client.send("GET", "/nowhere").status == 404
        assert client.send("DELETE", "/v2/balance").status == 405
        assert client.send("GET", "/v2/balance").status == 401
        assert error(client.send("GET", "/nowhere")) == (403, "ip_blocked")
        assert error(client.send("DELETE", "/v2/balance")) == (403, "ip_blocked")
        assert error(client.send("GET", "/v2/catalog")) == (403, "ip_blocked")


def test_the_control_api_neither_counts_nor_is_blocked() -> None:
    with running({"limits": RATE}) as client:
        assert all(client.sim("GET", "/sandboxes/default").status == 200 for _ in range(5))
        assert spend(client, 4) == [200, 200, 200, 403]
        assert client.sim("GET", "/sandboxes/default").status == 200


def test_each_sandbox_counts_for_itself_and_a_reset_forgives() -> None:
    with running({"limits": RATE}) as client:
        client.sandbox({"scenario": "other", "extends": "default", "limits": RATE}, "other")
        assert spend(client, 4) == [200, 200, 200, 403]
        assert spend(client, 4, sandbox="other") == [200, 200, 200, 403]
        assert client.sim("POST", "/sandboxes/default/reset").status == 200
        assert (spend(client, 1), spend(client, 1, sandbox="other")) == ([200], [403])


def test_refused_addresses_are_in_the_journal_with_their_error() -> None:
    with running({"limits": {"requests_per_interval": 2}}) as client:
        client.sim("PATCH", "/sandboxes/default/resellers/RS001/settings", {"ip_allowlist": ["192.0.2.1"]})
        assert spend(client, 3) == [403, 403, 403]
        rows = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        assert [row["error"] for row in rows] == ["ip_blocked", "ip_not_allowed", "ip_not_allowed"]


# Allowlists


ALLOWED: list[tuple[str, str, bool]] = [
    ("192.0.2.1", "192.0.2.1", True),
    ("192.0.2.2", "192.0.2.1", False),
    ("192.0.2.200", "192.0.2.0/24", True),
    ("192.0.3.1", "192.0.2.0/24", False),
    ("192.0.2.200", "192.0.2.77/24", True),  # a network may be named by any of its addresses
    ("192.0.2.200", "192.0.2.0/255.255.255.0", True),
    ("1.2.3.4", "0.0.0.0/0", True),
    ("::1", "0.0.0.0/0", False),
    ("1.2.3.4", "::/0", False),
    ("2001:db8::1", "2001:db8::/32", True),
    ("2001:db9::1", "2001:db8::/32", False),
    ("2001:db8::1", "2001:0DB8:0:0:0:0:0:1", True),
    ("::1", "::1", True),
    ("10.0.0.1", "::ffff:10.0.0.1", True),
    ("::ffff:10.0.0.1", "10.0.0.1", True),
    ("::ffff:10.0.0.1", "::ffff:10.0.0.1", True),
    ("::FFFF:0a00:0001", "::ffff:10.0.0.0/104", True),
    ("10.0.0.1", "::ffff:10.0.0.0/104", True),
    ("11.0.0.1", "::ffff:10.0.0.0/104", False),
    ("10.0.0.2", "::ffff:10.0.0.1", False),
    ("10.0.0.1", "::ffff:0:0/96", True),
    ("10.0.0.1", "::ffff:0:0/95", False),
    ("::10.0.0.1", "10.0.0.1", False),
    ("", "0.0.0.0/0", False),
    ("no address", "0.0.0.0/0", False),
]


@pytest.mark.parametrize(("client", "allowed", "expected"), ALLOWED)
def test_an_allowlist_names_addresses_and_networks_of_both_kinds(client: str, allowed: str, expected: bool) -> None:
    assert is_listed_address(client, (allowed,)) is expected
    assert is_listed_address(client, ("203.0.113.0/24", allowed)) is expected


def test_an_empty_allowlist_lets_every_address_in() -> None:
    with running({"resellers": [{"code": "RS001", "settings": {"ip_allowlist": []}}]}) as client:
        assert spend(client, 1) == [200]


def test_a_scenarios_allowlist_holds_from_the_start() -> None:
    with running({"resellers": [{"code": "RS001", "settings": {"ip_allowlist": ["10.0.0.0/8", "::1"]}}]}) as client:
        assert error(client.call("GET", "/v2/balance")) == (403, "ip_not_allowed")
        assert client.send("GET", "/v2/balance").status == 401  # whose list would it be?


@pytest.mark.parametrize("entry", ["::ffff:10.0.0.1", "::ffff:10.0.0.0/104", "10.0.0.1"])
@pytest.mark.parametrize("address", ["10.0.0.1", "::ffff:10.0.0.1", "[::ffff:10.0.0.1]:4711"])
def test_an_address_within_ipv6_is_the_same_address(entry: str, address: str) -> None:
    scenario = {"resellers": [{"code": "RS001", "settings": {"ip_allowlist": [entry]}}]}
    with running(scenario, trust_forwarded=True) as client:
        assert client.call("GET", "/v2/balance", headers={"X-Forwarded-For": address}).status == 200
        other = client.call("GET", "/v2/balance", headers={"X-Forwarded-For": "::ffff:11.0.0.2"})
        assert error(other) == (403, "ip_not_allowed")


@pytest.mark.parametrize("state", ["unknown", "revoked"])
def test_an_invalid_key_is_refused_as_such_from_any_address(state: str) -> None:
    with running() as client:
        client.sim("PATCH", "/sandboxes/default/resellers/RS001/settings", {"ip_allowlist": ["192.0.2.1"]})
        keys = client.live.core.state.keys
        key = next((name for name, (_, held) in keys.items() if held.state == state), "unknown")
        assert error(client.call("GET", "/v2/balance", key=key)) == (401, "invalid_api_key")
        assert error(client.call("GET", "/v2/balance")) == (403, "ip_not_allowed")


def test_a_key_that_was_revoked_meanwhile_meets_no_allowlist() -> None:
    with running() as client:
        path = "/sandboxes/default/resellers/RS001"
        client.sim("PATCH", f"{path}/settings", {"ip_allowlist": ["192.0.2.1"]})
        assert error(client.call("GET", "/v2/balance")) == (403, "ip_not_allowed")
        assert client.sim("DELETE", f"{path}/api-keys/{client.key}").status == 204
        assert error(client.call("GET", "/v2/balance")) == (401, "invalid_api_key")


BAD_ENTRIES: list[Any] = ["", "localhost", "10.0.0.0/33", "10.0.0", "::1/129", "10.0.0.0/8 ", "1.2.3.4:80", 7, None, []]


@pytest.mark.parametrize("entry", BAD_ENTRIES, ids=repr)
def test_an_allowlist_with_a_bad_entry_is_refused_whole(entry: Any) -> None:
    with running() as client:
        path = "/sandboxes/default/resellers/RS001/settings"
        refused = client.sim("PATCH", path, {"ip_allowlist": ["10.0.0.1", entry]})
        assert (refused.status, refused.json["error"]) == (400, "bad_request")
        assert refused.json["path"] == "ip_allowlist.1"
        assert spend(client, 1) == [200]


# The address that counts


FORWARDED: list[tuple[str, str]] = [
    ("192.0.2.1", "192.0.2.1"),
    (" 192.0.2.1 ", "192.0.2.1"),
    ("192.0.2.1, 10.0.0.1, 10.0.0.2", "192.0.2.1"),
    ("192.0.2.1:4711", "192.0.2.1"),
    ("2001:DB8::0001", "2001:db8::1"),
    ("[2001:db8::1]", "2001:db8::1"),
    ("[2001:db8::1]:4711, 10.0.0.1", "2001:db8::1"),
    ("::ffff:192.0.2.1", "192.0.2.1"),
    ("", PEER),
    (",", PEER),
    (", 192.0.2.1", PEER),
    ("unknown", PEER),
    ("_hidden", PEER),
    ("localhost", PEER),
    ("192.0.2", PEER),
    ("192.0.2.256", PEER),
    ("192.0.2.1/24", PEER),
    ("0xC0000201", PEER),
    ("3221225985", PEER),
    ("192.0.2.1 10.0.0.1", PEER),
    ("fe80::1%eth0", PEER),
    ("fe80::1%<script>", PEER),
    ("[", PEER),
    ("[]:80", PEER),
    (":", PEER),
    (":80", PEER),
    ("\xff\xfe", PEER),
    ("1.2.3.4" + " " * 200, "1.2.3.4"),
    ("9" * 60_000, PEER),
    ("1." * 30_000, PEER),
    ("\u0661.2.3.4".encode().decode("latin-1"), PEER),
]


@pytest.mark.parametrize(("header", "expected"), FORWARDED, ids=[header[:30] for header, _ in FORWARDED])
def test_a_trusted_header_names_the_client_when_it_names_an_address(header: str, expected: str) -> None:
    resolver = ClientResolver(trust_forwarded=True)
    assert resolver.resolve(PEER, {FORWARDED_FOR: header.encode("latin-1")})[0] == expected


@pytest.mark.parametrize(
    ("peer", "expected"),
    [(PEER, PEER), ("::1", "::1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("", "")],
)
def test_otherwise_the_socket_does(peer: str, expected: str) -> None:
    assert ClientResolver(trust_forwarded=True).resolve(peer, {})[0] == expected


def test_a_forwarded_address_counts_everywhere_where_it_is_trusted() -> None:
    forwarded: dict[str, Any] = {"headers": {"X-Forwarded-For": "192.0.2.9, 10.0.0.1"}}
    allowed = {"code": "RS001", "settings": {"ip_allowlist": ["192.0.2.9"]}}
    with running({"limits": RATE, "resellers": [allowed]}, trust_forwarded=True) as client:
        assert error(client.pay()) == (403, "ip_not_allowed")
        assert client.pay(**forwarded).status == 200
        (transaction,) = client.live.core.state.transactions.values()
        assert transaction.sender == "192.0.2.9"
        assert spend(client, 3, **forwarded) == [200, 200, 403]
        assert spend(client, 3) == [403, 403, 403]
        rows = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        assert [row["error"] for row in rows[:4]] == ["ip_blocked", "ip_not_allowed", "ip_not_allowed", "ip_blocked"]


def test_a_forwarded_address_is_ignored_where_it_is_not_trusted() -> None:
    with running({"limits": RATE}) as client:
        assert client.pay(headers={"X-Forwarded-For": "192.0.2.9"}).status == 200
        (transaction,) = client.live.core.state.transactions.values()
        assert transaction.sender == PEER
        assert [spend(client, 1, headers={"X-Forwarded-For": f"192.0.2.{n}"}) for n in range(3)] == [
            [200],
            [200],
            [403],
        ]


# The integration timeout


def test_the_answer_names_a_shorter_integration_timeout() -> None:
    fault = {"when": {"path": "/v2/balance"}, "then": {"delay": "10m"}}
    scenario = {"clock": "x100000", "faults": [fault], "limits": {"integration_timeout": "90s"}}
    with running(scenario) as client:
        late = client.call("GET", "/v2/balance")
        assert error(late) == (504, "integration_timeout")
        assert late.json["message"] == "The integration did not answer within 90 seconds."


@pytest.mark.parametrize("when", [{"path": "/v2/topup"}, {"product": "RELOAD"}], ids=["early", "by the body"])
@pytest.mark.parametrize("made", [False, True])
def test_an_integration_timeout_is_a_504_after_29_seconds_of_a_fault(when: dict[str, str], made: bool) -> None:
    fault = {"name": "slow", "when": when, "times": 1, "then": {"status": 504, "delay": "29s"}}
    if made:
        fault["then"] = {**fault["then"], "after_commit": True}  # type: ignore[dict-item]  # an object of its own
    with running({"clock": "x100000", "faults": [fault]}) as client:
        late = client.pay()
        assert error(late) == (504, "integration_timeout")
        assert "29 seconds" in late.json["message"]
        assert len(client.live.core.state.transactions) == made
        assert client.pay().status == 200
        assert client.live.core.violations() == []
