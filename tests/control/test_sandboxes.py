"""`/_sim`: sandboxes, resellers, rules, the journal, the guard."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, Response, running


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as made:
        yield made


def created(client: Client, **wanted: Any) -> Any:
    response = client.sim("POST", "/sandboxes", wanted)
    assert response.status == 201, response.body
    return response.json


def test_a_sandbox_has_its_own_address_money_clock_and_journal(client: Client) -> None:
    made = created(client, id="mine", clock={"mode": "manual"})
    assert made["url"] == "http://127.0.0.1:8080/s/mine"
    assert made["resellers"][0]["api_key"] == client.key
    client.pay(sandbox="mine")
    assert client.call("GET", "/v2/balance", sandbox="mine").data["balance"] < 5000
    assert client.call("GET", "/v2/balance").data["balance"] == 5000
    paths = [row["path"] for row in client.sim("GET", "/sandboxes/mine/requests").json["requests"]]
    assert paths == ["/v2/balance", "/v2/topup"]


def test_a_sandbox_is_created_from_an_object_a_name_a_seed_a_clock(client: Client) -> None:
    made = created(
        client,
        scenario={"scenario": "one", "resellers": [{"code": "A", "balance": "7.50", "email": "a@example.com"}]},
        seed=99,
        clock={"mode": "xN", "rate": 60, "start": "2027-01-10T23:59:00+08:00"},
    )
    assert (made["scenario"], made["seed"]) == ("one", 99)
    assert (made["clock"]["mode"], made["clock"]["rate"], made["clock"]["now"][:16]) == ("xN", 60, "2027-01-10T15:59")
    assert (made["resellers"][0]["code"], made["resellers"][0]["balance"]) == ("A", 7.5)
    assert created(client, scenario="default")["resellers"][0]["balance"] == 5000


def test_unique_credentials_lead_from_the_root_to_their_sandbox(client: Client) -> None:
    one, two = (created(client, credentials="unique")["resellers"][0] for _ in range(2))
    assert len({one["api_key"], two["api_key"], client.key}) == 3
    first = {"key": one["api_key"], "secret": one["api_secret"]}
    paid = client.pay(**first)
    assert paid.status == 200
    assert client.call("GET", "/v2/balance", **first).data["balance"] < 5000
    assert client.call("GET", "/v2/balance", key=two["api_key"], secret=two["api_secret"]).data["balance"] == 5000


def test_shared_credentials_stay_in_the_sandbox_of_the_address(client: Client) -> None:
    created(
        client,
        id="other",
        scenario={
            "scenario": "x",
            "resellers": [
                {
                    "code": "A",
                    "email": "a@example.com",
                    "api_keys": [{"key": "only-here-0001", "secret": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MDE="}],
                }
            ],
        },
    )
    answer = client.call(
        "GET", "/v2/balance", key="only-here-0001", secret="c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MDE="
    )
    assert answer.json["error"] == "invalid_api_key"


def test_a_reset_goes_back_to_where_the_scenario_starts(client: Client) -> None:
    before = client.pay().data
    client.advance(until="idle")
    client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": {"then": [{"status": "Failed"}]}})
    reset = client.sim("POST", "/sandboxes/default/reset")
    assert reset.json["resellers"][0]["balance"] == 5000
    assert client.inbox() == []
    assert client.pay().data == before


def test_a_deleted_sandbox_is_gone(client: Client) -> None:
    created(client, id="gone")
    assert client.sim("DELETE", "/sandboxes/gone").status == 204
    assert client.sim("GET", "/sandboxes/gone").status == 404
    assert client.call("GET", "/v2/balance", sandbox="gone").json["error"] == "unknown_sandbox"
    assert client.sim("DELETE", "/sandboxes/default").status == 409


def test_a_sandbox_says_whether_a_run_audits_it(client: Client) -> None:
    yaml = {"content-type": "application/yaml"}
    made = [
        client.send("POST", "/_sim/sandboxes", f"audit={said}", b"extends: default", yaml)
        for said in ("true", "false", "no")
    ]
    assert [one.status for one in made] == [201, 201, 400]
    assert made[2].json["message"] == "audit must be true or false"
    shown = [client.sim("GET", f"/sandboxes/{one.json['id']}").json["audit"] for one in made[:2]]
    assert shown == [True, False]
    in_json = [created(client, **body) for body in ({}, {"audit": True}, {"audit": False})]
    assert [one["audit"] for one in in_json] == [True, True, False]
    again = client.sim("POST", f"/sandboxes/{in_json[2]['id']}/reset").json
    assert again["audit"] is False


BAD_SANDBOXES: list[Any] = [
    {"id": ""},
    {"id": "a/b"},
    {"id": "x" * 65},
    {"id": 5},
    {"seed": "seven"},
    {"seed": 1.5},
    {"scenario": "no-such"},
    {"scenario": "../../etc/passwd"},
    {"scenario": "/etc/passwd"},
    {"scenario": 5},
    {"scenario": {"colour": "green"}},
    {"scenario": {"scenario": "x", "payments": [{"then": []}]}},
    {"clock": {"mode": "slow"}},
    {"clock": {"mode": "xN", "rate": 0}},
    {"clock": {"mode": "xN", "rate": 1e300}},
    {"clock": {"start": "yesterday"}},
    {"clock": "manual"},
    {"credentials": "none"},
    {"audit": "no"},
    {"colour": "green"},
]


@pytest.mark.parametrize("wanted", BAD_SANDBOXES, ids=lambda wanted: json.dumps(wanted)[:50])
def test_a_bad_sandbox_is_refused_whole(client: Client, wanted: Any) -> None:
    refused = client.sim("POST", "/sandboxes", wanted)
    assert refused.status == 400, refused.body
    assert refused.json["message"]
    assert len(client.sim("GET", "/sandboxes").json["sandboxes"]) == 1


def test_an_id_is_taken_once(client: Client) -> None:
    created(client, id="one")
    assert client.sim("POST", "/sandboxes", {"id": "one"}).status == 409


def test_deposits_add_up(client: Client) -> None:
    path = "/sandboxes/default/resellers/RS001/deposits"
    entry = client.sim("POST", path, {"amount": "12.30", "description": "bank"}).json
    assert (entry["type"], entry["amount"], entry["balance"], entry["remarks"]) == ("DEPOSIT", 12.3, 5012.3, "bank")
    assert client.sim("POST", path, {"amount": 5, "type": "COMMISSION"}).json["balance"] == 5017.3
    for amount in ("0", "-1", "1.005", "x", "1e400", True, None, "9" * 15 + ".00"):
        assert client.sim("POST", path, {"amount": amount}).status == 400, amount
    assert client.call("GET", "/v2/balance").data["balance"] == 5017.3
    assert client.sim("GET", "/sandboxes/default/invariants").json == {"ok": True, "violations": []}


def test_another_reseller_pays_from_its_own_wallet(client: Client) -> None:
    made = client.sim("POST", "/sandboxes/default/resellers", {"code": "NEW", "balance": "20.00"}).json
    credentials = {"key": made["api_key"], "secret": made["api_secret"]}
    assert client.pay(**credentials).status == 200
    assert client.pay().status == 200, "the same refid belongs to each of them"
    assert client.pay("ref-2", "100", **credentials).data["remarks"] == "Insufficient_Balance"
    assert client.sim("POST", "/sandboxes/default/resellers", {"code": "NEW"}).status == 409


def test_a_key_is_made_and_revoked(client: Client) -> None:
    path = "/sandboxes/default/resellers/RS001/api-keys"
    made = client.sim("POST", path).json
    credentials = {"key": made["api_key"], "secret": made["api_secret"]}
    assert client.call("GET", "/v2/balance", **credentials).status == 200
    assert client.sim("DELETE", f"{path}/{made['api_key']}").status == 204
    assert client.call("GET", "/v2/balance", **credentials).json["error"] == "invalid_api_key"
    assert client.sim("DELETE", f"{path}/nobody").status == 404


def test_a_rule_is_placed_first_and_taken_out(client: Client) -> None:
    path = "/sandboxes/default/rules"
    rule = {"name": "fails", "when": {"product": "RELOAD"}, "then": [{"status": "Failed"}]}
    made = client.sim("POST", path, {"section": "payments", "rule": rule})
    assert made.status == 201
    assert client.sim("POST", path, {"section": "payments", "rule": rule}).status == 409
    assert client.pay("a").data["status"] == "Failed"
    assert client.sim("DELETE", f"{path}/{made.json['id']}").status == 204
    assert client.sim("DELETE", f"{path}/{made.json['id']}").status == 404
    assert client.pay("b").data["status"] == "Accepted"


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"section": "payments"},
        {"section": "colours", "rule": {}},
        {"section": "payments", "rule": {"then": [{"status": "Paid"}]}},
        {"section": "payments", "rule": {"then": [{"status": "Failed"}, {"after": "1s", "status": "Succesful"}]}},
        {"section": "payments", "rule": {"when": {"colour": "green"}, "then": [{"status": "Failed"}]}},
        {"section": "payments", "rule": {"when": {"account": {"pattern": "("}}, "then": [{"status": "Failed"}]}},
        {"section": "faults", "rule": {"then": {"explode": True}}},
    ],
)
def test_a_bad_rule_is_refused(client: Client, wanted: Any) -> None:
    assert client.sim("POST", "/sandboxes/default/rules", wanted).status == 400


def test_the_journal_has_the_whole_exchange_and_no_secret(client: Client) -> None:
    client.pay(headers={"Authorization": "Bearer very-secret", "Cookie": "session=very-secret"})
    client.call("GET", "/v2/balance", secret="d3Jvbmcgd3Jvbmcgd3Jvbmcgd3Jvbmcgd3Jvbmcgd3I=")
    rows = client.sim("GET", "/sandboxes/default/requests").json["requests"]
    assert [(row["path"], row["status"], row["error"]) for row in rows] == [
        ("/v2/balance", 401, "invalid_signature"),
        ("/v2/topup", 200, ""),
    ]
    assert (rows[1]["rule"], rows[1]["reseller"]) == ("ordinary", "RS001")
    whole = client.sim("GET", f"/sandboxes/default/requests/{rows[1]['n']}")
    assert json.loads(whole.json["request"]["body"])["refid"] == "ref-1"
    assert json.loads(whole.json["response"]["body"])["data"]["refid"] == "ref-1"
    assert b"very-secret" not in whole.body
    assert client.secret.encode() not in whole.body


def test_the_journal_pages_and_filters(client: Client) -> None:
    for _ in range(5):
        client.call("GET", "/v2/balance")
    client.pay()
    path = "/sandboxes/default/requests"
    first = client.sim("GET", f"{path}?limit=4").json
    second = client.sim("GET", f"{path}?limit=4&cursor={first['cursor']}").json
    assert [row["n"] for row in first["requests"] + second["requests"]] == [6, 5, 4, 3, 2, 1]
    assert (second["has_more"], second["cursor"]) == (False, None)
    assert len(client.sim("GET", f"{path}?path=/v2/topup").json["requests"]) == 1
    for bad in ("limit=0", "limit=x", "cursor=-1", "colour=green", "wait_for=1&timeout=nan", "timeout=1e9"):
        assert client.sim("GET", f"{path}?{bad}").status == 400, bad
    assert client.sim("GET", f"{path}/999").status == 404


def headers_of(**named: str) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in named.items()}


GUARDED: list[tuple[dict[str, str], int]] = [
    ({}, 200),
    ({"host": "localhost:8080"}, 200),
    ({"host": "[::1]:8080"}, 200),
    ({"host": "127.0.0.5"}, 200),
    ({"host": "evil.example"}, 403),
    ({"host": "127.0.0.1.evil.example"}, 403),
    ({"host": ""}, 403),
    ({"origin": "http://127.0.0.1:8080"}, 200),
    ({"origin": "http://127.0.0.1:9999"}, 403),
    ({"origin": "https://evil.example"}, 403),
    ({"origin": "null"}, 403),
    ({"sec_fetch_site": "same-origin"}, 200),
    ({"sec_fetch_site": "none"}, 200),
    ({"sec_fetch_site": "cross-site"}, 403),
    ({"sec_fetch_site": "same-site"}, 403),
]


@pytest.mark.parametrize(("headers", "status"), GUARDED)
def test_the_guard_keeps_foreign_pages_out(client: Client, headers: dict[str, str], status: int) -> None:
    assert client.send("GET", "/_sim/sandboxes", headers=headers_of(**headers)).status == status


@pytest.mark.parametrize(("headers", "_"), GUARDED)
def test_the_health_check_is_open_to_everybody(client: Client, headers: dict[str, str], _: int) -> None:
    assert client.send("GET", "/_sim/health", headers=headers_of(**headers)).status == 200


def test_a_token_is_asked_for_everywhere_but_at_the_inbox_and_for_health() -> None:
    with running(control_token="let-me-in", allowed_hosts=("sim",)) as client:

        def ask(path: str, **headers: str) -> Response:
            return client.send("GET", f"/_sim{path}", headers=headers_of(**headers))

        assert ask("/health", host="10.1.2.3").status == 200
        assert ask("/health/").status == 401
        assert ask("/sandboxes").status == 401
        assert ask("/sandboxes", authorization="Bearer wrong").status == 401
        assert ask("/sandboxes", authorization="Bearer let-me-in").status == 200
        assert ask("/sandboxes", authorization="Bearer let-me-in", host="sim:80").status == 200
        assert ask("/inbox/default/cb", host="anything.example").status == 200


def test_unknown_control_paths_and_methods(client: Client) -> None:
    for path in ("/nothing", "/nothing/", "/sandboxes/"):
        answer = client.sim("GET", path).json
        assert answer["error"] == "unknown_path"
        assert "/_sim/docs lists them" in answer["message"] or "did you mean" in answer["message"]
    wrong = client.sim("PATCH", "/sandboxes").json
    assert (wrong["error"], wrong["message"].partition("; ")[2]) == ("wrong_method", "it takes GET, HEAD, POST")
    assert client.send("GET", "/_simulator").status == 404


@pytest.mark.parametrize(
    "body", [b"", b"x", b"[]", b"\xff", b'{"id":"a","id":"b"}', b'{"seed":' + b"[" * 5000, b" " * 3_000_000]
)
def test_bad_bodies_are_refused(client: Client, body: bytes) -> None:
    expected = 201 if not body else 400
    assert client.send("POST", "/_sim/sandboxes", body=body).status == expected


def test_the_inbox_takes_any_request_and_answers_it(client: Client) -> None:
    path = "/sandboxes/default/inbox/mine"
    client.sim("PUT", path, {"replies": [{"status": 418, "body": "tea", "headers": {"X-Pot": "1"}}]})
    answer = client.send("PATCH", "/_sim/inbox/default/mine", "a=1&b=", b'{"x":1}')
    assert (answer.status, answer.body, answer.headers["x-pot"]) == (418, b"tea", "1")
    (item,) = client.sim("GET", path).json["items"]
    assert (item["method"], item["query"], item["json"]) == ("PATCH", {"a": "1", "b": ""}, {"x": 1})
    assert client.sim("DELETE", path).status == 204
    assert client.sim("GET", path).json["count"] == 0
    assert client.send("POST", "/_sim/inbox/nobody/mine").status == 404
    bad_replies: list[Any] = [{"status": 99}, {"status": 600}, {"delay": -1}, {"delay": 1e9}, {"colour": 1}]
    bad_replies += [{"headers": {"a b": "c"}}, {"headers": {"a": "b\r\nc"}}]
    for bad in bad_replies:
        assert client.sim("PUT", path, {"replies": [bad]}).status == 400, bad
    client.sim("PUT", path, {"replies": []})
    assert client.send("POST", "/_sim/inbox/default/mine").status == 200, "without replies it answers 200"


def test_health_and_assumptions(client: Client) -> None:
    assert client.sim("GET", "/health").json["status"] == "ok"
    assert len(client.sim("GET", "/assumptions").json["assumptions"]) > 20


@pytest.mark.parametrize("path", ["/requests", "/transactions", "/callbacks"])
@pytest.mark.parametrize(
    "query", ["cursor=" + "9" * 20, "cursor=" + "0" * 12 + "9" * 5000, "limit=0000000000019999999"]
)
def test_numbers_beyond_their_bounds_are_refused(client: Client, path: str, query: str) -> None:
    assert client.sim("GET", f"/sandboxes/default{path}?{query}").status == 400


@pytest.mark.parametrize("path", ["/requests", "/transactions", "/callbacks"])
def test_a_misspelt_filter_is_refused(client: Client, path: str) -> None:
    assert client.sim("GET", f"/sandboxes/default{path}?reffid=a").status == 400


def test_a_text_with_thousands_of_placeholders_is_refused_at_once(client: Client) -> None:
    rule = {"then": [{"status": "Succesful", "sn": "{digits:64}" * 20_000}]}
    assert client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule}).status == 400


@pytest.mark.parametrize(
    "reply",
    [
        {"status": 204, "body": "x"},
        {"status": 304, "body": "x"},
        {"headers": {"Content-Length": "5"}},
        {"headers": {"transfer-encoding": "chunked"}},
    ],
)
def test_replies_that_http_cannot_carry_are_refused(client: Client, reply: Any) -> None:
    assert client.sim("PUT", "/sandboxes/default/inbox/x", {"replies": [reply]}).status == 400


def test_reading_inboxes_creates_none(client: Client) -> None:
    client.sim("PUT", "/sandboxes/default/inbox/keep", {"replies": [{"status": 500}]})
    for number in range(1100):
        assert client.sim("GET", f"/sandboxes/default/inbox/e{number}").status == 200
    assert client.send("POST", "/_sim/inbox/default/keep").status == 500


def test_a_client_that_waits_on_a_deleted_sandbox_is_answered(client: Client) -> None:
    created(client, id="gone")

    async def main() -> list[Response]:
        paths = ("requests", "callbacks", "inbox/a")
        waits = [
            asyncio.create_task(client.asim("GET", f"/sandboxes/gone/{path}?wait_for=1&timeout=60")) for path in paths
        ]
        await asyncio.sleep(0)
        await client.asim("DELETE", "/sandboxes/gone")
        return await asyncio.wait_for(asyncio.gather(*waits), 60)

    assert [answer.json["complete"] for answer in client.run(main())] == [False] * 3


@pytest.mark.parametrize("clock", [{"mode": "real", "rate": 5}, {"mode": "manual", "rate": 5}, {"rate": 0.001}])
def test_a_rate_that_cannot_be_is_refused(client: Client, clock: Any) -> None:
    assert client.sim("PUT", "/sandboxes/default/clock", clock).status == 400
    assert client.sim("POST", "/sandboxes", {"clock": clock}).status == 400


def test_keys_made_in_unique_sandboxes_are_unique_too(client: Client) -> None:
    boxes = [created(client, credentials="unique")["id"] for _ in range(2)]
    made = [client.sim("POST", f"/sandboxes/{box}/resellers/RS001/api-keys").json for box in (*boxes, "default")]
    assert len({pair["api_key"] for pair in made}) == 3
    for box, pair in zip(boxes, made, strict=False):
        answer = client.call("GET", "/v2/balance", key=pair["api_key"], secret=pair["api_secret"])
        assert (answer.status, answer.headers["x-sim-sandbox"]) == (200, box)


def test_a_failed_request_belongs_to_the_sandbox_of_its_key_or_its_address(client: Client) -> None:
    box = created(client, credentials="unique")
    refused = client.call("GET", "/v2/balance", key=box["resellers"][0]["api_key"], secret=client.secret)
    assert (refused.status, refused.headers["x-sim-sandbox"]) == (401, box["id"])
    assert client.sim("GET", "/sandboxes/default/requests").json["requests"] == []
    assert client.call("GET", "/v2/balance", key="nobody's").headers["x-sim-sandbox"] == "default"


def test_an_idle_sandbox_goes_after_its_time_and_a_used_one_stays() -> None:
    with running(sandbox_ttl_s=10) as client:
        for name in ("idle", "used"):
            created(client, id=name)
        now_s = 1000.0

        async def sweep(at_s: float) -> None:
            client.app.sandboxes.sweep(at_s, 10)

        client.run(sweep(now_s))
        client.call("GET", "/v2/balance", sandbox="used")
        client.run(sweep(now_s + 5))
        client.run(sweep(now_s + 11))
        assert [box["id"] for box in client.sim("GET", "/sandboxes").json["sandboxes"]] == ["default", "used"]


WAITING = [
    ("GET", "requests?wait_for=1&timeout=60"),
    ("GET", "callbacks?wait_for=1&timeout=60"),
    ("GET", "inbox/callbacks?wait_for=1&timeout=60"),
    ("POST", "clock/advance"),
]


@pytest.mark.parametrize(("method", "path"), WAITING, ids=[path.partition("?")[0] for _, path in WAITING])
def test_a_sandbox_with_a_waiting_request_is_never_idle(method: str, path: str) -> None:
    async def main(client: Client) -> int:
        body = {"until": "idle"} if method == "POST" else None
        waiting = asyncio.create_task(client.asim(method, f"/sandboxes/waited/{path}", body))
        waited = client.app.sandboxes.get("waited")
        async with asyncio.timeout(60):
            while not waited.is_busy:  # noqa: ASYNC110 - what makes it busy rings no bell
                await asyncio.sleep(0)
        for now_s in (1000.0, 1011.0, 1022.0):
            client.app.sandboxes.sweep(now_s, 10)
        assert not waiting.done()
        assert client.app.sandboxes.find("waited") is not None
        await client.asim("DELETE", "/sandboxes/waited")
        return (await waiting).status

    with running(sandbox_ttl_s=10) as client:
        created(client, id="waited", clock={"mode": "manual"})
        slow = {"replies": [{"delay": 60}]}
        client.sim("PUT", "/sandboxes/waited/inbox/callbacks", slow)
        client.pay(sandbox="waited")
        if "requests" in path:
            path = path.replace("wait_for=1", "wait_for=2")
        assert client.run(main(client)) in (200, 409)


def test_a_forwarded_address_counts_only_when_it_is_trusted() -> None:
    for trusted, expected in ((False, 403), (True, 200)):
        with running(trust_forwarded=trusted) as client:
            settings = "/sandboxes/default/resellers/RS001/settings"
            client.sim("PATCH", settings, {"ip_allowlist": ["203.0.113.7"]})
            answer = client.call("GET", "/v2/balance", headers={"X-Forwarded-For": "203.0.113.7, 10.0.0.1"})
            assert answer.status == expected


def test_resellers_and_keys_above_the_limits_are_refused() -> None:
    resellers, keys = "/sandboxes/default/resellers", "/sandboxes/default/resellers/RS001/api-keys"
    with running({"limits": {"resellers": 2, "api_keys": 6}}) as client:
        assert client.sim("POST", resellers, {"code": "B"}).status == 201
        refused = client.sim("POST", resellers, {"code": "C"})
        assert (refused.status, refused.json["error"]) == (409, "too_many_resellers")
        assert client.sim("POST", keys).status == 201
        refused = client.sim("POST", keys)
        assert (refused.status, refused.json["error"]) == (409, "too_many_api_keys")
        assert len(client.live.core.state.keys) == 6


def test_a_reseller_with_more_keys_than_the_limit_is_not_added() -> None:
    with running({"limits": {"api_keys": 5}}) as client:
        keys = [{"key": f"k{number}", "state": "no_secret"} for number in range(2)]
        refused = client.sim("POST", "/sandboxes/default/resellers", {"code": "B", "api_keys": keys})
        assert (refused.status, refused.json["error"]) == (409, "too_many_api_keys")
        assert list(client.live.core.state.resellers) == ["RS001"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/v2/balance", "/v2/balance is a path of the service: send it without /_sim, to RESELLER_BASE_URL"),
        ("/sandboxes/default/payments", "did you mean /_sim/sandboxes/default/transactions?"),
        ("/sandboxes/defualt/clock", "there is no sandbox 'defualt'; did you mean default?"),
        ("/sandboxes/other/clock", "there is no sandbox 'other'; GET /_sim/sandboxes lists them"),
    ],
)
def test_an_unknown_path_suggests_the_likely_path(client: Client, path: str, said: str) -> None:
    answer = client.sim("GET", path)
    assert (answer.status, answer.json["message"].endswith(said)) == (404, True), answer.json["message"]


def test_an_unknown_path_is_named_and_one_with_two_prefixes_explained() -> None:
    with running() as client:
        wrong, twice = client.sim("GET", "/sandbox").json, client.sim("GET", "/_sim/sandboxes").json
    assert (wrong["error"], wrong["path"]) == ("unknown_path", "/_sim/sandbox")
    assert twice["path"] == "/_sim/_sim/sandboxes"
    assert "RESELLER_SIM_URL ends in /_sim already" in twice["message"]
