"""Three servers through HAProxy as one: 300 resellers, 60 sandboxes, and one server killed."""

import json
from collections import Counter
from collections.abc import Iterator
from http.client import IncompleteRead, RemoteDisconnected
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml

from simulator.staging.signing import Credentials
from tests.support.browser import page
from tests.support.sharded import SHARD, Sharded, sharded

pytestmark = [pytest.mark.slow, pytest.mark.needs("haproxy")]

NAMES = ("a", "b", "c")
RESELLERS = [f"RS{number:03}" for number in range(1, 301)]
SANDBOXES = [f"shop-{number:02}" for number in range(60)]
SECRET = "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE="
PAYMENT = {"product": "RELOAD", "account": "0123456789", "amount": 10}


def key_of(code: str, number: int = 1) -> Credentials:
    return Credentials(f"key-{number}-of-{code}", SECRET)


def scenario() -> dict[str, Any]:
    """The default one with 300 resellers, each with two keys and a user."""
    return {
        "scenario": "many",
        "extends": "default",
        "resellers": [
            {
                "code": code,
                "email": f"{code.lower()}@example.com",
                "balance": "500.00",
                "api_keys": [{"key": key_of(code, number).key, "secret": SECRET} for number in (1, 2)],
                "users": [{"username": f"user of {code}".replace(" ", "+"), "password": "password"}],
            }
            for code in RESELLERS
        ],
    }


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sharded]:
    folder = tmp_path_factory.mktemp("sharded")
    (folder / "many.yaml").write_text(yaml.safe_dump(scenario()))
    with sharded(NAMES, folder, "--trust-forwarded", scenario=str(folder / "many.yaml")) as running:
        for name in SANDBOXES:
            made = running.ask("POST", "/_sim/sandboxes", {"id": name, "scenario": "default"})
            assert made.status == 201, made
            assert made.json["url"] == f"{running.url}/s/{name}"
        yield running


DEFAULT_KEY = Credentials("test_key_RS001", "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE=")


def pay(servers: Sharded, refid: str, credentials: Credentials = DEFAULT_KEY, sandbox: str = "") -> Any:
    return servers.call("POST", "/v2/topup", credentials, PAYMENT | {"refid": refid}, sandbox)


def test_each_sandbox_is_answered_by_its_owner_alone(servers: Sharded) -> None:
    for name in SANDBOXES:
        paid = pay(servers, f"order-of-{name}", sandbox=name)
        assert (paid.status, paid.headers[SHARD]) == (200, servers.ring.owner(name))
        for path in ("", "/transactions", "/requests", "/requests/1", "/requests/1.curl", "/clock", "/ledger"):
            shown = servers.ask("GET", f"/_sim/sandboxes/{name}{path}")
            assert (shown.status, shown.headers[SHARD]) == (200, servers.ring.owner(name)), path
        assert servers.ask("POST", f"/_sim/inbox/{name}/callbacks", {}).headers[SHARD] == servers.ring.owner(name)
        first = servers.ask("GET", f"/_sim/sandboxes/{name}/transactions").json["transactions"]
        assert f"order-of-{name}" in [one["refid"] for one in first]
    assert Counter(map(servers.ring.owner, SANDBOXES)).keys() == set(NAMES)


def test_each_reseller_is_answered_only_by_its_owner_with_any_credentials(servers: Sharded) -> None:
    for code in RESELLERS:
        owner = servers.ring.owner(code)
        for number in (1, 2):
            paid = pay(servers, f"order-{number}", key_of(code, number))
            assert (paid.status, paid.headers[SHARD]) == (200, owner)
        balance = servers.call("GET", "/v2/balance", key_of(code), sandbox="default")
        assert (balance.status, balance.headers[SHARD]) == (200, owner)
        deposit = servers.ask("POST", f"/_sim/sandboxes/default/resellers/{code}/deposits", {"amount": 1})
        assert (deposit.status, deposit.headers[SHARD]) == (201, owner)
        shown = servers.ask("GET", f"/_sim/sandboxes/default/requests?reseller={code}")
        assert shown.headers[SHARD] == owner
        assert {one["reseller"] for one in shown.json["requests"]} == {code}
    assert Counter(map(servers.ring.owner, RESELLERS)).keys() == set(NAMES)


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded"])
def test_a_token_is_issued_and_taken_by_the_owner_of_its_reseller(servers: Sharded, media_type: str) -> None:
    def body(fields: dict[str, str]) -> bytes:
        return (json.dumps(fields) if media_type == "application/json" else urlencode(fields)).encode()

    for code in RESELLERS[::10]:
        owner = servers.ring.owner(code)
        wanted = {"username": f"user+of+{code}", "password": "password"}
        issued = servers.send("POST", "/v2/token", body(wanted), {"content-type": media_type})
        assert (issued.status, issued.headers[SHARD]) == (200, owner)
        renewed = {"refresh_token": issued.json["RefreshToken"]}
        again = servers.send("POST", "/v2/token/refresh", body(renewed), {"content-type": media_type})
        assert (again.status, again.headers[SHARD]) == (200, owner)
        for token in (issued.json["IdToken"], again.json["IdToken"]):
            balance = servers.ask("GET", "/v2/balance", authorization=f"Bearer {token}")
            assert (balance.status, balance.headers[SHARD]) == (200, owner)


def test_a_token_of_a_sandbox_with_keys_of_its_own_finds_it_from_the_root(servers: Sharded) -> None:
    made = servers.ask("POST", "/_sim/sandboxes", {"credentials": "unique", "scenario": "default"}).json
    user = made["resellers"][0]
    wanted = {"username": user["username"], "password": user["password"]}
    issued = servers.ask("POST", f"/s/{made['id']}/v2/token", wanted).json
    balance = servers.ask("GET", "/v2/balance", authorization=f"bearer {issued['IdToken']}")
    assert (balance.status, balance.headers[SHARD]) == (200, servers.ring.owner(made["id"]))
    servers.ask("DELETE", f"/_sim/sandboxes/{made['id']}")


@pytest.mark.parametrize("spelling", ["/s/%73hop-01", "/s/shop%2d01", "http://127.0.0.1/s/shop-01"])
def test_an_address_that_is_spelled_otherwise_leads_to_the_same_server(servers: Sharded, spelling: str) -> None:
    answer = servers.raw(f"GET {spelling}/v2/balance HTTP/1.1")
    assert f"x-sim-shard: {servers.ring.owner('shop-01')}" in answer


def test_a_sandbox_is_created_at_the_server_that_owns_it_wherever_the_request_comes_in(servers: Sharded) -> None:
    made = [servers.ask("POST", "/_sim/sandboxes") for _ in range(9)]
    chosen = {one.json["id"]: one.headers[SHARD] for one in made}
    assert {servers.ring.owner(name) for name in chosen} == set(NAMES)
    assert all(servers.ring.owner(name) == shard for name, shard in chosen.items())
    text = yaml.safe_dump({"scenario": "mine", "extends": "default"}).encode()
    for number in range(6):
        asked = servers.send(
            "POST", f"/_sim/sandboxes?id=yaml-{number}&clock=manual", text, {"content-type": "application/yaml"}
        )
        assert (asked.status, asked.json["id"], asked.json["clock"]["mode"]) == (201, f"yaml-{number}", "manual")
        chosen[f"yaml-{number}"] = servers.ring.owner(f"yaml-{number}")
    for name, shard in chosen.items():
        shown = servers.ask("GET", f"/_sim/sandboxes/{name}")
        assert (shown.status, shown.headers[SHARD]) == (200, shard)
        assert servers.ask("DELETE", f"/_sim/sandboxes/{name}").status == 204


def test_a_refusal_of_the_owner_is_passed_on_unchanged(servers: Sharded) -> None:
    for _ in NAMES:  # each server is asked once, and passes it on unless it is the owner
        taken = servers.ask("POST", "/_sim/sandboxes", {"id": "shop-01"})
        assert (taken.status, taken.json["error"]) == (409, "sandbox_exists")
        wrong = servers.ask("POST", "/_sim/sandboxes", {"id": "new-one", "scenario": "nothing"})
        assert (wrong.status, wrong.json["path"]) == (400, "scenario")


def test_a_fork_is_with_its_original_and_has_an_id_that_leads_there(servers: Sharded) -> None:
    owner = servers.ring.owner("shop-02")
    pay(servers, "order-of-shop-02", sandbox="shop-02")
    for _ in NAMES:
        forked = servers.ask("POST", "/_sim/sandboxes", {"fork": {"of": "shop-02"}})
        assert forked.status == 201
        name = forked.json["id"]
        assert servers.ring.owner(name) == owner
        shown = servers.ask("GET", f"/_sim/sandboxes/{name}/transactions")
        assert [one["refid"] for one in shown.json["transactions"]] == ["order-of-shop-02"]
        assert servers.ask("DELETE", f"/_sim/sandboxes/{name}").status == 204
    foreign = next(f"fork-{n}" for n in range(99) if servers.ring.owner(f"fork-{n}") != owner)
    own = next(f"fork-{n}" for n in range(99) if servers.ring.owner(f"fork-{n}") == owner)
    refused = servers.ask("POST", "/_sim/sandboxes", {"id": foreign, "fork": {"of": "shop-02"}})
    assert (refused.status, refused.json["error"], refused.json["path"]) == (409, "belongs_elsewhere", "id")
    assert servers.ask("POST", "/_sim/sandboxes", {"id": own, "fork": {"of": "shop-02"}}).status == 201
    assert servers.ask("DELETE", f"/_sim/sandboxes/{own}").status == 204


def test_a_list_has_the_sandboxes_of_all_servers_and_says_which_they_are(servers: Sharded) -> None:
    for _ in NAMES:
        answer = servers.ask("GET", "/_sim/sandboxes").json
        listed = [one["id"] for one in answer["sandboxes"]]
        assert sorted(listed) == sorted([*SANDBOXES, "default"])
        assert all(one["url"] == f"{servers.url}/s/{one['id']}" for one in answer["sandboxes"])
        counts = Counter(map(servers.ring.owner, listed))
        assert answer["servers"] == [
            {
                "name": name,
                "url": servers.addresses[name],
                "answered": True,
                "reason": None,
                "sandboxes": counts[name],
                "misplaced": [],
                "left_out": 0,
            }
            for name in NAMES
        ]


def test_the_address_of_a_client_is_the_address_that_the_proxy_sees(servers: Sharded) -> None:
    servers.call("GET", "/v2/balance", DEFAULT_KEY, sandbox="shop-03", headers={"x-forwarded-for": "192.0.2.1"})
    shown = servers.ask("GET", "/_sim/sandboxes/shop-03/requests?limit=1").json["requests"]
    assert shown[0]["client"] == "127.0.0.1"


@pytest.mark.parametrize(
    ("then", "ending"), [({"disconnect": True}, RemoteDisconnected), ({"disconnect": "body"}, IncompleteRead)]
)
def test_an_answer_that_a_fault_damages_is_damaged_through_the_proxy(
    servers: Sharded, then: dict[str, Any], ending: type[Exception]
) -> None:
    rule = {"when": {"path": "/v2/topup"}, "times": 1, "then": {"after_commit": True, **then}}
    made = servers.ask("POST", "/_sim/sandboxes/shop-06/rules", {"section": "faults", "rule": rule})
    assert made.status == 201, made
    refid = f"order-{ending.__name__}"
    with pytest.raises(ending):
        pay(servers, refid, sandbox="shop-06")
    shown = servers.ask("GET", "/_sim/sandboxes/shop-06/requests?limit=1").json["requests"]
    assert (shown[0]["refid"], shown[0]["fault"] != "") == (refid, True)
    assert pay(servers, refid, sandbox="shop-06").status == 200


def test_a_stream_of_events_comes_through_as_it_happens(servers: Sharded) -> None:
    with servers.stream("/_sim/sandboxes/shop-04/events?only=request") as lines:
        assert next(lines).startswith("retry:")
        pay(servers, "order-of-shop-04", sandbox="shop-04")
        found = next(line for line in lines if line.startswith("data:"))
    assert json.loads(found.removeprefix("data:"))["sandbox"] == "shop-04"


def test_a_callback_is_sent_by_its_owner_and_finds_the_inbox_of_a_sandbox_elsewhere(servers: Sharded) -> None:
    receiver = "shop-07"
    sender = next(one for one in SANDBOXES if servers.ring.owner(one) != servers.ring.owner(receiver))
    hook = f"{servers.url}/_sim/inbox/{receiver}/hook"
    set_url = f"/v2/callback-url?{urlencode({'url': hook, 'method': 'POST'})}"
    assert servers.call("POST", set_url, DEFAULT_KEY, sandbox=sender).status == 200
    clock = servers.ask("PUT", f"/_sim/sandboxes/{sender}/clock", {"mode": "manual"})
    assert clock.status == 200
    pay(servers, "called-back", sandbox=sender)
    advanced = servers.ask("POST", f"/_sim/sandboxes/{sender}/clock/advance", {"until": "idle"})
    assert advanced.json["idle"]
    came = servers.ask("GET", f"/_sim/sandboxes/{receiver}/inbox/hook").json["items"]
    assert "called-back" in {one["json"]["data"]["refid"] for one in came}


def test_the_console_shows_any_sandbox_at_the_address_of_the_proxy(servers: Sharded) -> None:
    with page() as (shown, mistakes):
        for name in ("shop-08", "shop-09", "shop-10"):
            shown.goto(f"{servers.url}/_sim/s/{name}/live")
            pay(servers, f"seen-{name}", sandbox=name)
            shown.get_by_text(f"seen-{name}").first.wait_for()
        shown.goto(f"{servers.url}/_sim/ui/sandboxes")
        for name in SANDBOXES[:3]:
            shown.get_by_role("link", name=name, exact=True).wait_for()
    assert mistakes == []


@pytest.mark.parametrize("path", ["/_sim/", "/_sim/s/shop-05/live", "/openapi.json", "/_sim/health", "/_sim/scenarios"])
def test_requests_without_a_sandbox_are_answered_by_any_server(servers: Sharded, path: str) -> None:
    answered = [servers.ask("GET", path) for _ in range(6)]
    assert {one.status for one in answered} == {200}
    assert {one.headers[SHARD] for one in answered} == set(NAMES)
