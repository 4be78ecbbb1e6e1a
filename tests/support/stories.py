"""The stories whose exchanges are the examples of the contract."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from simulator.runtime.background import PLACES, place
from simulator.runtime.operations import DRAINING
from tests.support.played import DEFAULT, Exchange, Player, Story, player

WEBHOOK = "/v2/balance-webhook"
DEPOSIT = {"amount": "250.00", "description": "bank transfer"}
RELOAD = {"refid": "order-1001", "product": "RELOAD", "account": "0123456789", "amount": "10"}
BENCH = {"method": "GET", "path": "/v2/catalog?product_code=RELOAD", "headers": {"X-Api-Key": "test_key_RS001",
         "X-Timestamp": "1795233600", "X-Nonce": "example-nonce-bench", "X-Signature": "v1=d3Jvbmc="}}  # fmt: skip
RULE = {"section": "payments", "rule": {"name": "number gone", "when": {"account": "0199999999"},
        "then": {"refuse": "Invalid_Account"}}}  # fmt: skip
SLOW = {"name": "slow", "when": {"account": "0199999999"}, "then": [{"status": "Accepted"}]}
SCENARIO = """scenario: two-wallets
extends: default
clock: manual
payments:
  - { name: hangs, when: { product: WATER }, then: [{ status: Accepted }, { after: 10m, status: Succesful }] }
"""
MISSPELT = "extends: default\nseed: 7\npayments:\n  - { when: { prodct: WATER }, then: [{ status: Failed }] }\n"
FAULTS = {
    "faults": [
        {"name": "nonce service down", "when": {"path": "/v2/balance"}, "then": {"nonce_service": "down"}},
        {"name": "slow", "when": {"path": "/v2/catalog"}, "then": {"status": 504}},
    ]
}


def payments(p: Player) -> None:
    """Pay, re-query, dispute, void, look back."""
    p.call("GET", "/v2/networkstatus?product=RELOAD")
    p.call("POST", "/v2/topup", RELOAD)
    p.call("POST", "/v2/topup", RELOAD | {"refid": "order-1002", "account": "12"})
    p.advance(5)
    p.call("POST", "/v2/topup", RELOAD)
    p.call("GET", "/v2/bill-presentment?product=ELECTRIC&account=210012345678")
    p.call("GET", "/v2/bill-presentment?product=ELECTRIC&account=12")
    p.pay("bill-2001", "ELECTRIC", "210012345678", "100.00")
    p.advance(5)
    reason = {"user_email": ["customer@example.com"]}
    p.call("POST", "/v2/transactions/check", {"refid": "order-1001"} | reason)
    p.call("POST", "/v2/transactions/check", {"refid": "order-9999"})
    p.call("POST", "/v2/transactions/void", {"refid": "bill-2001", "refund_type": 1} | reason)
    p.call("GET", "/v2/transactions?limit=2&date=2026-11-21")
    p.call("GET", "/v2/balance-statement?date=2026-11-21&limit=2&page=1")
    p.call("GET", "/v2/balance")
    p.advance()
    trxid = p.sim("GET", f"{DEFAULT}/transactions?refid=bill-2001").json["transactions"][0]["trxid"]
    p.sim("GET", f"{DEFAULT}/transactions/{trxid}")
    p.sim("POST", f"{DEFAULT}/transactions/{trxid}/callbacks")
    p.sim("POST", f"{DEFAULT}/transactions/0/callbacks")
    p.sim("GET", f"{DEFAULT}/callbacks?refid=bill-2001&limit=2")
    p.sim("GET", f"{DEFAULT}/inbox/callbacks?limit=1")
    p.sim("GET", f"{DEFAULT}/notifications?kind=void")
    p.sim("GET", f"{DEFAULT}/notifications?limit=1")
    kinds = "only=request,callback&refid=order-1001&with=bodies"
    p.sim("GET", f"{DEFAULT}/events?{kinds}&heartbeat=15&timeout=0&after=0")
    p.sim("GET", f"/events?{kinds}&heartbeat=15&timeout=0&after=0")
    p.sim("GET", f"{DEFAULT}/transactions?limit=1")
    page = p.sim("GET", f"{DEFAULT}/ledger?type=TRANSACTION&limit=1")
    p.sim("GET", f"{DEFAULT}/ledger?limit=1&cursor={page.json['cursor']}")
    p.sim("GET", f"{DEFAULT}/requests?path=/v2/topup&limit=2")
    p.sim("GET", f"{DEFAULT}/requests/2")
    p.sim("POST", f"{DEFAULT}/requests/2/replay")
    p.sim("POST", f"{DEFAULT}/explain", BENCH)
    p.sim("GET", f"{DEFAULT}/requests/2?string=v1:1795233600:nonce:GET::")
    p.sim("GET", f"{DEFAULT}/coverage")
    p.sim("GET", f"{DEFAULT}/audit")
    p.sim("GET", f"{DEFAULT}/invariants")


def catalog(p: Player) -> None:
    """Read the catalog, and change it."""
    p.call("GET", "/v2/catalog?product_code=DATA", headers={"X-API-Version": "2026-09-16"})
    p.call("GET", "/v2/catalog", key="unknown_key")
    p.call("GET", "/v2/options?product_code=DATA&field_id=plan&account_number=0123456789&limit=2&page=1")
    p.call("GET", "/v2/options?product_code=DATA&field_id=nothing")
    p.call("GET", "/v1/interbank/billers?limit=1&page=1&suggested_category=Insurance")
    p.sim("PATCH", f"{DEFAULT}/catalog/products/DATA", {"is_active": False, "note": "back on Monday"})
    p.sim("PATCH", f"{DEFAULT}/catalog/products/RELOAD?reseller=RS001", {"is_active": True})
    p.sim("GET", f"{DEFAULT}/catalog?limit=1")
    p.sim("PATCH", f"{DEFAULT}/catalog/categories/parking", {"name": "Parking and tolls"})
    p.sim("PATCH", f"{DEFAULT}/catalog/groups/travel", {"name": "On the road"})
    p.sim("PUT", f"{DEFAULT}/network/RELOAD", {"status": "Interruption"})
    p.advance()
    p.sim("GET", f"{DEFAULT}/inbox/catalog?limit=1")


def legacy(p: Player) -> None:
    """Tokens, and the endpoints of old integrations."""
    token = p.send("POST", "/v2/token", {"username": "test_user_RS001", "password": "test_password_RS001"})
    p.send("POST", "/v2/token", {"username": "test_user_RS001", "password": "guessed"})
    p.send("POST", "/v2/token/refresh", {"refresh_token": token.json["RefreshToken"]})
    p.call("GET", "/v2/product-list")
    p.call("GET", "/v2/subproducts?product_code=DATA&account_number=0123456789&limit=2")


def account(p: Player) -> None:
    """Where callbacks go and when to be warned."""
    p.call("GET", "/v2/callback-url")
    p.call("POST", "/v2/callback-url?url=inbox:callbacks&method=GET")
    p.pay("order-4001")
    p.pay("order-4002")
    p.sim("GET", f"{DEFAULT}/due?limit=1")
    p.sim("GET", f"{DEFAULT}/magic")
    p.beside([("POST", f"{DEFAULT}/clock/advance", {"until": "idle"})], "DELETE", f"{DEFAULT}/clock/advance")
    p.sim("DELETE", f"{DEFAULT}/clock/advance")
    p.advance()
    p.sim("GET", f"{DEFAULT}/inbox/callbacks?limit=1")
    p.call("POST", "/v2/low-balance-threshold?amount=100.00")
    p.call("DELETE", "/v2/balance")
    p.call("POST", "/v2/low-balance-threshold?amount=none")
    p.sim("PATCH", f"{DEFAULT}/resellers/RS001/settings", {"ip_allowlist": ["203.0.113.0/24"]})
    p.call("GET", "/v2/balance")
    p.call("GET", "/v2/balance", sandbox="nowhere")
    p.call("GET", "/v2/balance", key="unknown_key")


def webhooks(p: Player) -> None:
    """A webhook whose first event fails and is replayed."""
    p.call("GET", WEBHOOK)
    p.call("PATCH", f"{WEBHOOK}/enabled", {"enabled": True})
    p.call("PUT", WEBHOOK, {"url": "inbox:events"})
    p.call("GET", WEBHOOK)
    p.call("PATCH", f"{WEBHOOK}/enabled", {"enabled": True})
    p.call("POST", f"{WEBHOOK}/rotate-secret")
    p.sim("PUT", f"{DEFAULT}/inbox/events", {"replies": [{"status": 500, "body": "not now"}]})
    p.sim("POST", f"{DEFAULT}/resellers/RS001/deposits", DEPOSIT)
    p.advance()
    job = p.call("GET", f"{WEBHOOK}/deliveries?limit=1&status=failed").json["deliveries"][0]["id"]
    p.sim("GET", f"{DEFAULT}/deliveries?state=failed&limit=1")
    p.call("GET", f"{WEBHOOK}/deliveries/{job}")
    p.sim("GET", f"{DEFAULT}/deliveries/{job}")
    p.call("POST", f"{WEBHOOK}/deliveries/{job}/replay")
    p.advance()
    p.sim("POST", f"{DEFAULT}/deliveries/{job}/replay")
    p.advance()
    p.call("POST", f"{WEBHOOK}/deliveries/replay-bulk", {"job_ids": [job]})
    p.advance()
    p.call("POST", f"{WEBHOOK}/deliveries/{job}/replay")
    p.sim("POST", f"{DEFAULT}/deliveries/{job}/replay")
    p.sim("GET", f"{DEFAULT}/inbox/events?limit=1")
    p.call("GET", f"{WEBHOOK}/deliveries?limit=1")
    p.sim("GET", f"{DEFAULT}/deliveries?limit=1")
    p.call("DELETE", WEBHOOK)
    p.pay("order-4001")
    p.advance()
    page = p.sim("GET", f"{DEFAULT}/inbox?limit=1").json["cursor"]
    p.sim("GET", f"{DEFAULT}/inbox?limit=1&cursor={page}")
    p.sim("DELETE", f"{DEFAULT}/inbox/events")


def sandboxes(p: Player) -> None:
    """The server, its sandboxes and their clocks."""
    p.sim("GET", "/health")
    p.sim("GET", "/ready")
    p.client.app.operations.not_ready = DRAINING
    p.sim("GET", "/ready")
    p.client.app.operations.not_ready = None
    p.sim("GET", "/metrics")
    p.send("GET", "/openapi.json")
    p.sim("GET", "/openapi.json")
    p.sim("GET", "/assumptions")
    p.sim("GET", "/scenario.schema.json")
    page = p.sim("GET", "/scenarios?limit=2").json["cursor"]
    p.sim("GET", f"/scenarios?limit=2&cursor={page}")
    p.sim("GET", "/scenarios/rate-limit?source=bundled")
    p.sim("POST", "/scenarios/check", {"text": MISSPELT})
    p.sim("POST", "/scenarios/check", SCENARIO, content_type="application/yaml")
    wanted = {"id": "night-run", "scenario": "default", "seed": 7, "clock": {"mode": "manual"}}
    p.sim("POST", "/sandboxes", wanted)
    p.sim("POST", "/sandboxes", wanted)
    p.sim("POST", "/sandboxes", {"id": "sins", "audit": False})
    p.sim("POST", "/sandboxes?id=two-wallets&seed=7&audit=false", SCENARIO, content_type="application/yaml")
    p.sim("POST", "/sandboxes", {"scenario": {"payments": [{"then": "Succesful"}]}})
    p.sim("GET", "/sandboxes")
    one = "/sandboxes/night-run"
    p.sim("GET", one)
    p.sim("GET", f"{one}/clock")
    p.sim("PUT", f"{one}/clock", {"mode": "xN", "rate": 60, "now": "2026-11-22T08:00:00+08:00"})
    p.sim("PUT", f"{one}/clock", {"now": "2026-11-01T08:00:00+08:00"})
    p.sim("POST", f"{one}/reset")
    p.sim("DELETE", one)
    p.sim("GET", one)
    p.sim("POST", f"{DEFAULT}/reset/now")
    p.sim("DELETE", f"{DEFAULT}/clock")
    p.sim("GET", "/sandboxes", host="elsewhere.example")


def moments(p: Player) -> None:
    """Marks, a rewind to each kind of moment, and a fork."""
    p.sim("POST", f"{DEFAULT}/marks", {"name": "before the order"})
    p.pay("order-6001")
    p.sim("GET", f"{DEFAULT}/marks")
    fork = {"of": "default", "mark": "before the order"}
    p.sim("POST", "/sandboxes", {"id": "what-if", "fork": fork})
    p.sim("POST", "/sandboxes", {"fork": {"of": "what-if", "n": 0}})
    p.sim("POST", "/sandboxes", {"fork": {"of": "default", "to": p.sim("GET", f"{DEFAULT}/clock").json["now"]}})
    p.sim("POST", f"{DEFAULT}/rewind", {"mark": "before the order"})
    p.sim("POST", f"{DEFAULT}/rewind", {"to": p.sim("GET", f"{DEFAULT}/clock").json["now"]})
    p.sim("POST", f"{DEFAULT}/rewind", {"n": 0})
    p.sim("POST", f"{DEFAULT}/marks", {"name": "at-the-start"})
    p.sim("POST", f"{DEFAULT}/marks", {"name": "at-the-start"})
    p.sim("DELETE", f"{DEFAULT}/marks/at-the-start")
    p.sim("DELETE", f"{DEFAULT}/marks/at-the-start")


def holds(p: Player) -> None:
    """Callbacks that a rule holds, listed and released."""
    p.sim(
        "POST",
        f"{DEFAULT}/rules",
        {"section": "payments", "rule": {"name": "told late", "callbacks": {"hold": "told"}}},
    )
    p.pay("order-7001")
    p.advance()
    p.sim("GET", f"{DEFAULT}/holds?wait_for=1")
    p.sim("POST", f"{DEFAULT}/holds/told/release", {"count": 1})
    p.sim("POST", f"{DEFAULT}/holds/told/release")


def resellers(p: Player) -> None:
    """One more reseller, with money, settings and another key."""
    p.sim("POST", f"{DEFAULT}/resellers", {"code": "RS002", "email": "second@example.com", "balance": "100.00"})
    page = p.sim("GET", f"{DEFAULT}/resellers?limit=1").json["cursor"]
    p.sim("GET", f"{DEFAULT}/resellers?limit=1&cursor={page}")
    one = f"{DEFAULT}/resellers/RS002"
    p.sim("POST", f"{one}/deposits", DEPOSIT)
    p.sim("GET", f"{DEFAULT}/figures?reseller=RS002")
    p.sim("PATCH", f"{one}/settings", {"require_api_key_for_topup": True})
    key = p.sim("POST", f"{one}/api-keys", {}).json["api_key"]
    p.sim("DELETE", f"{one}/api-keys/{key}")


def rules(p: Player) -> None:
    """A rule, expectations and probes."""
    rule = p.sim("POST", f"{DEFAULT}/rules", RULE).json["id"]
    p.pay("order-3001", account="0199999999")
    p.call("POST", "/v2/topup", RELOAD, headers={"X-Sim-Rule": "number gone"})
    p.sim("POST", f"{DEFAULT}/rules", {"section": "payments", "rule": SLOW})
    p.call("POST", "/v2/topup", RELOAD, headers={"X-Sim-Rule": "slow"})
    p.sim("GET", f"{DEFAULT}/requests?status=400&error=Invalid_Account&method=POST&rule=magic-01&trxid={22 * '1'}")
    p.sim("GET", f"{DEFAULT}/requests?status_min=400&status_max=499&status_not=404&method_not=GET&path_not=/v2/token")
    p.sim("GET", f"{DEFAULT}/requests?fault=magic-01&fault_not=magic-62&rule_not=magic-01&error_not=Invalid_Extras")
    p.sim("GET", f"{DEFAULT}/requests?reseller_not=RS002&refid_not=ref-2&trxid_not={22 * '2'}")
    p.sim("GET", f"{DEFAULT}/requests.har?limit=2&cursor=3")
    p.sim("GET", f"{DEFAULT}/requests/1.curl")
    p.sim("GET", f"{DEFAULT}/tape?secrets=shown")
    p.sim("GET", f"{DEFAULT}/requests?wait_for=1&timeout=10")
    p.sim("GET", f"{DEFAULT}/deliveries?event=evt_1")
    page = p.sim("GET", f"{DEFAULT}/rules?limit=2")
    p.sim("GET", f"{DEFAULT}/rules?limit=2&cursor={page.json['cursor']}")
    p.sim("DELETE", f"{DEFAULT}/rules/{rule}")
    p.sim("GET", f"{DEFAULT}/expectations")
    p.sim("POST", f"{DEFAULT}/probes", {"probes": ["callback-unknown-refid", "callback-duplicate"]})


def faults(p: Player) -> None:
    """Answers that only a fault causes, and a request whose sandbox is reset while its body arrives."""
    p.call("GET", "/v2/balance")
    p.call("GET", "/v2/catalog")
    reset = f"{DEFAULT}/reset"
    p.call("POST", "/v2/topup", RELOAD, before_body=lambda: p.client.asim("POST", reset))


def crowded(p: Player) -> None:
    """Exceed the limits of concurrent requests: long work, and waiting requests."""
    with ExitStack() as busy:
        for _ in range(PLACES):
            busy.enter_context(place(0))
        p.sim("POST", "/sandboxes", {})
    waiting = f"{DEFAULT}/requests?wait_for=1&timeout=30"
    p.beside([("GET", waiting, None)] * 100, "GET", waiting)


def guarded(p: Player) -> None:
    """Without the control token."""
    p.sim("GET", "/sandboxes")


def saved(p: Player) -> None:
    """A scenario in the folder of --scenarios."""
    with TemporaryDirectory() as folder:
        p.client.app.options = p.client.app.options._replace(scenarios=Path(folder))
        made = p.sim("PUT", "/scenarios/mine.yaml", {"text": SCENARIO}).json
        p.sim("PUT", "/scenarios/mine.yaml", {"text": SCENARIO, "revision": made["revision"]})


TARGET = {"webhooks": {"catalog": {"url": "inbox:catalog", "secret": "5a" * 32}}}
EXPECTING = {"expect": [{"name": "one payment", "payments": {"product": "RELOAD"}, "count": 1}]}

STORIES: tuple[tuple[Story, dict[str, Any]], ...] = (
    (payments, {}),
    (catalog, {"scenario": TARGET}),
    (legacy, {}),
    (account, {}),
    (webhooks, {}),
    (sandboxes, {}),
    (moments, {}),
    (holds, {}),
    (resellers, {}),
    (rules, {"scenario": EXPECTING}),
    (faults, {"scenario": FAULTS}),
    (crowded, {}),
    (saved, {}),
    (guarded, {"control_token": "example-token"}),
)
"""Each with the simulator that it needs."""


@cache
def _sent(story: Story) -> frozenset[tuple[str, str, str]]:
    """Document, method and path of the operations that a story uses."""
    found = set()
    play(story, lambda one: found.add((one.document, one.method, one.template)))
    return frozenset(found)


def stories_with(document: str, method: str, path: str) -> list[tuple[Story, dict[str, Any]]]:
    """Return the stories that use an operation."""
    return [(story, needed) for story, needed in STORIES if (document, method, path) in _sent(story)]


def play(story: Story, seen: Callable[[Exchange], object]) -> None:
    """Play a story against a new simulator."""
    needed = dict(next(one for each, one in STORIES if each is story))
    with player(seen, **needed) as p:
        story(p)
