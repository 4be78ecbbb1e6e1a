"""For every knob of the register, something a client can see of it. See `test_knobs`."""

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.support.cases import pay_bill, void
from tests.support.client import Client
from tests.support.loans import loan
from tests.support.signing import sign
from tests.support.tokens import get, login, pay_by_token, refresh
from tests.support.webhooks import answering, deposit, failed_job, put

PHONE = "0123456789"
HISTORY = {"date": "2026-11-01 - 2026-11-30", "limit": 10}
PAID = {"payments": [{"then": [{"status": "Succesful"}]}]}
FAILED = [{"then": [{"status": "Failed", "remarks": "HC"}]}]
PRICED = ("RELOAD", "GAME")
ABSENT: Any = object()
"""A knob that is not turned."""


@dataclass(frozen=True)
class Probe:
    """A probe of a knob: the answers of `ask` differ for each of the knob's values.

    `values` are the values of a knob that has no values in the register, or a single value that represents its kind.
    `world` is the rest of the scenario.
    """

    ask: Callable[[Client], Any]
    values: tuple[Any, ...] = ()
    world: dict[str, Any] = field(default_factory=dict)


def read(client: Client, path: str, **query: Any) -> Any:
    return client.call("GET", f"{path}?{urlencode(query)}" if query else path)


def status_of(path: str, **query: Any) -> Callable[[Client], int]:
    return lambda client: int(read(client, path, **query).status)


def first_payment(client: Client) -> Any:
    client.pay()
    return read(client, "/v2/transactions", **HISTORY).data[0]


def two_payments(client: Client, path: str, **query: Any) -> Any:
    for refid in ("one", "two"):
        client.pay(refid)
        client.advance(1)
    return read(client, path, **HISTORY | query).json


def look_up(client: Client, account: str = "210012345678") -> Any:
    return read(client, "/v2/bill-presentment", product="ELECTRIC", account=account)


def refused(client: Client) -> Any:
    answer = client.call("GET", "/v2/balance")
    return answer.status, answer.json.get("error")


def requeried_after(seconds: float) -> Callable[[Client], Any]:
    def ask(client: Client) -> Any:
        client.pay()
        client.advance(seconds)
        return client.pay().data["status"]

    return ask


def kept_timestamp(client: Client) -> bool:
    before = client.pay().data["timestamp"]
    client.advance(1)
    return bool(client.pay().data["timestamp"] == before)


def voided_cost(client: Client) -> Any:
    pay_bill(client)
    void(client)
    client.advance()
    return client.pay("ref-1", "100", "ELECTRIC", account="210012345678").data["cost"]


def voids(client: Client) -> Any:
    pay_bill(client)
    return [void(client).data["status"] for _ in range(2)]


def voided_reload(client: Client) -> Any:
    client.pay()
    return void(client).data["status"]


def callbacks_of_a_void(client: Client) -> int:
    client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
    pay_bill(client)
    void(client)
    client.advance()
    return len(client.inbox())


def nonce_under_another_key(client: Client) -> int:
    made = client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys").json
    client.call("GET", "/v2/balance", nonce="n" * 16)
    other = client.call("GET", "/v2/balance", nonce="n" * 16, key=made["api_key"], secret=made["api_secret"])
    return other.status


def first_nonce_after_three(client: Client) -> int:
    for letter in "abc":
        client.call("GET", "/v2/balance", nonce=letter * 16)
    return client.call("GET", "/v2/balance", nonce="a" * 16).status


def refresh_after_three_minutes(client: Client) -> int:
    token = login(client)["RefreshToken"]
    client.advance(180)
    return refresh(client, token).status


def restricted_soon(client: Client) -> int:
    client.sim("PATCH", "/sandboxes/default/resellers/RS001/settings", {"require_api_key_for_topup": True})
    client.advance(2)
    return pay_by_token(client, login(client)["IdToken"]).status


def refid_again(client: Client) -> int:
    client.pay(amount="10")
    return client.pay(amount="20").status


def key_twice(client: Client) -> int:
    body = b'{"refid":"r","product":"RELOAD","account":"0123456789","amount":"99","amount":"10"}'
    return client.call("POST", "/v2/topup", body).status


def alerted_at_setting(client: Client) -> int:
    client.call("POST", "/v2/low-balance-threshold?amount=9000")
    return len(client.sim("GET", "/sandboxes/default/notifications?kind=low_balance").json["notifications"])


def signed_as(client: Client, path: str, sent: str, *canonical: str) -> tuple[int, ...]:
    """Return the status of a query for each of the signed forms `canonical`."""
    statuses = []
    for number, query in enumerate(canonical):
        stamp, nonce = str(int(client.wall().timestamp())), f"signed-as-{number:06}"
        signature = sign("GET", query, timestamp=stamp, nonce=nonce, secret=b64decode(client.secret))
        headers = {"X-Api-Key": client.key, "X-Timestamp": stamp, "X-Nonce": nonce, "X-Signature": signature}
        statuses.append(client.send("GET", path, sent, headers=headers).status)
    return tuple(statuses)


def callback_sender(client: Client) -> Any:
    client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
    client.pay()
    client.advance()
    return {name.lower(): value for name, value in client.inbox()[0]["headers"]}.get("x-forwarded-for")


def callbacks_of_a_slow_receiver(client: Client) -> int:
    client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
    answering(client, 500, 200, inbox="callbacks")
    client.pay()
    client.advance()
    return len(client.inbox())


def balance_after_void(client: Client) -> Any:
    pay_bill(client)
    void(client)
    client.advance()
    return read(client, "/v2/balance").data["balance"]


def refids_alike(client: Client) -> Any:
    client.pay("ref")
    return [client.pay(refid).data["refid"] for refid in ("REF", " ref")]


def deposits_in_summary(client: Client) -> Any:
    deposit(client, type="COMMISSION")
    return read(client, "/v2/balance-statement", date=HISTORY["date"]).json["summary"]["total_deposit"]["count"]


def status_of_bill_after_a_minute(client: Client) -> Any:
    pay_bill(client)
    client.advance(60)
    return client.pay("ref-1", "100", "ELECTRIC", account="210012345678").data["status"]


def billers_under_the_prefix(client: Client) -> Any:
    return client.call("GET", "/v1/interbank/billers?limit=1", sandbox="default").json["links"]["next"]


def statement_under_the_prefix(client: Client) -> Any:
    client.pay()
    path = f"/v2/balance-statement?{urlencode(HISTORY)}"
    return client.call("GET", path, sandbox="default").json["links"]["last"]


def called_back_balance(client: Client) -> Any:
    client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
    client.pay()
    client.pay("another", "20")
    client.advance()
    return client.inbox()[0]["json"]["data"]["balance"]


def requeried_balance(client: Client) -> Any:
    client.pay()
    client.pay("another", "20")
    return client.pay().data["balance"]


def retries_counted(client: Client) -> Any:
    put(client)
    return read(client, f"/v2/balance-webhook/deliveries/{failed_job(client)}").json["retryCount"]


def updated_by_repeating(client: Client) -> Any:
    put(client)
    client.advance(60)
    put(client)
    return read(client, "/v2/balance-webhook").json["updated_at"]


def attempts_after_redirect(client: Client) -> int:
    client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
    answering(client, 302, inbox="callbacks")
    client.pay()
    client.advance(3)
    client.advance(600)
    return len(client.inbox())


def webhook_headers(client: Client) -> Any:
    put(client)
    deposit(client)
    client.advance()
    return sorted(name.lower() for name, _ in client.inbox("webhooks")[0]["headers"])


def webhook_attempts(client: Client) -> int:
    put(client)
    answering(client, 500)
    deposit(client)
    client.advance()
    return len(client.inbox("webhooks"))


def slow_webhook(client: Client) -> Any:
    put(client)
    replies = {"replies": [{"status": 200, "delay": 0.1}]}
    client.sim("PUT", "/sandboxes/default/inbox/webhooks", replies)
    deposit(client)
    client.advance(0)
    return client.sim("GET", "/sandboxes/default/deliveries").json["deliveries"][0]["state"]


def commissions_told(client: Client) -> int:
    put(client)
    deposit(client, type="COMMISSION")
    client.advance()
    return len(client.inbox("webhooks"))


def catalog_events(client: Client) -> int:
    client.sim("PATCH", "/sandboxes/default/catalog/products/GAME", {"is_active": False})
    client.advance()
    return len(client.inbox("catalog"))


def overlay_events(client: Client) -> int:
    client.sim("PATCH", "/sandboxes/default/catalog/products/GAME?reseller=RS001", {"is_active": False})
    client.advance()
    return len(client.inbox("catalog"))


def event_shape(client: Client) -> Any:
    client.sim("PATCH", "/sandboxes/default/catalog/products/GAME", {"note": "New"})
    client.advance()
    return client.inbox("catalog")[0]["json"]["data"]["fulfillment"]["amount"]


def allowed(*waits_s: float) -> Callable[[Client], Any]:
    """Return the statuses of an initial request and of a further request after each wait on the sandbox's clock."""

    def ask(client: Client) -> Any:
        statuses = [client.call("GET", "/v2/balance").status]
        for wait_s in waits_s:
            client.advance(wait_s)
            statuses.append(client.call("GET", "/v2/balance").status)
        return statuses

    return ask


def insecure_webhook(client: Client) -> int:
    return put(client, "http://receiver.example.com/").status


def after_a_while(client: Client) -> int:
    client.advance(301)
    return client.call("GET", "/v2/balance").status


def has_denomination(client: Client) -> bool:
    items = read(client, "/v2/options", product_code="RELOAD", field_id="amount").json["items"]
    return "denomination" in items[0]


def fault(**then: Any) -> Probe:
    return Probe(refused, (ABSENT, [{"then": then}]))


ONE_REQUEST = {"limits": {"requests_per_interval": 1}}
BILL = {"E-Bill": "https://bills.example.com/1", "CustomField": "x", "CustomerName": "Aina Tan"}

PROBES: dict[str, Probe] = {
    "old-fulfillment": Probe(
        lambda client: [read(client, "/v2/catalog").json["products"][code]["fulfillment"]["amount"] for code in PRICED]
    ),
    "tree-products": Probe(lambda client: read(client, "/v2/catalog").json["tree"]["groups"][-1]["categories"]),
    "payment-timestamp": Probe(kept_timestamp),
    "payment-remarks": Probe(lambda client: client.pay(remarks="mine").data["remarks"], (ABSENT, FAILED)),
    "failed-wallet": Probe(lambda client: client.pay().data["cost"], world={"payments": FAILED}),
    "history-meta": Probe(
        lambda client: two_payments(client, "/v2/transactions", limit=1)["meta"]["total_amount"], world=PAID
    ),
    "history-status-names": Probe(lambda client: first_payment(client)["status_name"]),
    "history-category": Probe(lambda client: first_payment(client)["category"]),
    "statement-summary": Probe(
        lambda client: two_payments(client, "/v2/balance-statement")["summary"]["total_transactions"]["amount"]
    ),
    "statement-links": Probe(statement_under_the_prefix),
    "bill-fields": Probe(lambda client: look_up(client).data["CustomField"], (ABSENT, [{"then": {"bill": BILL}}])),
    "bill-drawn": Probe(lambda client: look_up(client).data["CustomerName"], (ABSENT, [{"then": {"bill": BILL}}])),
    "bill-holder": Probe(
        lambda client: look_up(client).data["Address"], (ABSENT, [{"then": {"bill": {"Address": "x"}}}])
    ),
    "voided-cost": Probe(voided_cost, world=PAID),
    "legacy-categories": Probe(lambda client: read(client, "/v2/product-list").data[0]["product_group"]),
    "subproduct-denomination": Probe(
        lambda client: read(client, "/v2/subproducts", product_code="DATA", account_number=PHONE).data[0][
            "denomination"
        ]
    ),
    "accepted-processing": Probe(
        lambda client: client.pay().data["status"], (ABSENT, [{"then": [{"status": "Processing"}]}])
    ),
    "unmatched-payment": Probe(
        requeried_after(3), (ABSENT, [{"then": [{"status": "Accepted"}, {"after": "3s", "status": "Failed"}]}])
    ),
    "network-default": Probe(
        lambda client: read(client, "/v2/networkstatus", product="RELOAD").data["network_status"],
        (ABSENT, {"RELOAD": "Interruption"}),
    ),
    "network-payments": Probe(
        lambda client: client.pay(product="FP", amount="5").data["status"],
        (ABSENT, [{"when": {"product": "FP"}, "then": [{"status": "Failed"}]}]),
    ),
    "case-lifecycle": Probe(voids, world=PAID | {"voids": [{"times": 1, "then": {"status": "Failed"}}]}),
    "unmatched-case": Probe(voids, (ABSENT, [{"then": {"status": "Failed"}}]), PAID),
    "nonce-scope": Probe(nonce_under_another_key),
    "nonce-count": Probe(first_nonce_after_three, (500000, 2)),
    "token-answer": Probe(lambda client: sorted(login(client))),
    "token-lifetime": Probe(lambda client: login(client)["ExpiresIn"], ("1h", "2m")),
    "refreshed-token": Probe(
        lambda client: refresh(client, login(client)["RefreshToken"]).json["RefreshToken"] is None
    ),
    "refresh-token-lifetime": Probe(refresh_after_three_minutes, ("30d", "2m")),
    "options-page-size": Probe(status_of("/v2/options", product_code="RELOAD", field_id="amount", limit=25001)),
    "options-active": Probe(
        lambda client: len(read(client, "/v2/options", product_code="INTERBANK", field_id="biller").json["items"])
    ),
    "options-account-number": Probe(
        status_of("/v2/options", product_code="DATA", field_id="plan", account_number="12")
    ),
    "billers-product-code": Probe(status_of("/v1/interbank/billers", product_code="INTERBANK")),
    "bill-400": Probe(
        lambda client: look_up(client, "bad").json["error_message"], (ABSENT, [{"then": {"error": "On holiday"}}])
    ),
    "bill-rules": Probe(lambda client: look_up(client, "bad").status, (ABSENT, [{"then": {"bill": BILL}}])),
    "unsupported-extras": Probe(lambda client: client.pay(extras={"subproduct_code": "NOPE"}).data["statusCode"]),
    "extras-size": Probe(lambda client: client.pay(extras={"note": "x" * 1001}).data["statusCode"]),
    "plan-code-required": Probe(lambda client: client.pay(product="DATA", amount="30").status),
    "plan-code-remarks": Probe(
        lambda client: client.pay(product="DATA", amount="30").data["remarks"],
        (ABSENT, [{"then": {"refuse": "Plan_Code_Required", "remarks": "mine"}}]),
    ),
    "option-account": Probe(
        lambda client: client.call("POST", "/v2/topup", {"refid": "r", **loan("837465920")}).data["statusCode"]
    ),
    "price-amount": Probe(lambda client: client.pay(product="GAME", amount="4.50").status),
    "content-type": Probe(lambda client: client.pay(headers={"Content-Type": "text/plain"}).status),
    "refid-reused-with-other-parameters": Probe(refid_again),
    "duplicate-json-keys": Probe(key_twice),
    "not-voidable": Probe(voided_reload, (ABSENT, {"products": [{"code": "RELOAD", "voidable": True}]}), PAID),
    "history-order": Probe(lambda client: two_payments(client, "/v2/transactions")["data"][0]["refid"]),
    "history-unknown-product": Probe(status_of("/v2/transactions", product="NOTHING", **HISTORY)),
    "balance-record": Probe(lambda client: sorted(read(client, "/v2/balance").json)),
    "low-balance-at-setting": Probe(alerted_at_setting),
    "statement-order": Probe(lambda client: two_payments(client, "/v2/balance-statement")["data"][0]["balance"]),
    "realistic-times": Probe(status_of_bill_after_a_minute),
    "biller-links": Probe(billers_under_the_prefix),
    "environment": Probe(insecure_webhook),
    "signature-clock": Probe(after_a_while, world={"clock": {"mode": "manual"}}),
    "repeated-query-keys": Probe(lambda client: signed_as(client, "/v2/balance", "a=2&a=1", "a=2&a=1", "a=1&a=2")),
    "empty-query-values": Probe(lambda client: signed_as(client, "/v2/balance", "a=", "a=", "")),
    "internal-error": fault(internal_error=True),
    "nonce-503": fault(nonce_service="down"),
    "topup-restriction-delay": Probe(restricted_soon, ("5m", "1s")),
    "bearer-endpoints": Probe(lambda client: get(client, login(client)["IdToken"]).status),
    "source-address": Probe(callback_sender, ("rotate", "192.0.2.1")),
    "callback-order": Probe(callbacks_of_a_slow_receiver),
    "staging-cases": Probe(balance_after_void, world=PAID),
    "refid-comparison": Probe(refids_alike),
    "insufficient-balance": Probe(
        lambda client: client.pay().status, world={"resellers": [{"code": "RS001", "balance": "9.80"}]}
    ),
    "suggested-category": Probe(
        lambda client: len(read(client, "/v1/interbank/billers", suggested_category="loans").json["data"])
    ),
    "history-offset": Probe(lambda client: len(two_payments(client, "/v2/transactions", limit=2, offset=1)["data"])),
    "reversed-ranges": Probe(status_of("/v2/transactions", date="2026-11-30 - 2026-11-01", limit=5)),
    "statement-commission": Probe(deposits_in_summary),
    "callback-redirect": Probe(attempts_after_redirect),
    "callback-balance": Probe(called_back_balance),
    "requery-balance": Probe(requeried_balance),
    "webhook-updated": Probe(updated_by_repeating),
    "retry-count": Probe(retries_counted),
    "void-callback-rule": Probe(
        callbacks_of_a_void, (PAID["payments"], [PAID["payments"][0] | {"callbacks": {"drop": True}}])
    ),
    "webhook-signature": Probe(webhook_headers, (ABSENT, {"signature": {"header": "X-Signature"}})),
    "webhook-retries": Probe(webhook_attempts, (ABSENT, {"retry_limit": 1}, {"retry_limit": 0})),
    "webhook-timeout": Probe(slow_webhook, (ABSENT, {"timeout": "20ms"})),
    "webhook-credits": Probe(commissions_told),
    "catalog-events": Probe(catalog_events, (ABSENT, {"catalog": {"url": "inbox:catalog"}})),
    "catalog-event-version": Probe(event_shape, world={"webhooks": {"catalog": {"url": "inbox:catalog"}}}),
    "catalog-overlay-events": Probe(overlay_events, world={"webhooks": {"catalog": {"url": "inbox:catalog"}}}),
    "timeout-504": fault(status=504),
    "blocked-403": fault(status=403, body={"error": "blocked"}),
    "allowlist-403": fault(status=403, body={"error": "not on the list"}),
    "restricted-403": fault(status=403, body={"error": "not by token"}),
    "payment-status-codes": Probe(
        lambda client: client.pay().data["statusCode"],
        ({"Accepted": 1}, {"Accepted": 101}, {"Accepted": 7, "Failed": 9}),
    ),
    "integration-timeout": Probe(
        lambda client: refused(client)[0],
        world={"clock": "x100000", "faults": [{"when": {"path": "/v2/balance"}, "then": {"delay": "40s"}}]},
    ),
    "history-limit": Probe(status_of("/v2/transactions", **HISTORY | {"limit": 1001})),
    "statement-limit": Probe(status_of("/v2/balance-statement", **HISTORY | {"limit": 1001})),
    "rate-limit-counts": Probe(allowed(0), (30000, 1)),
    "rate-limit-interval": Probe(allowed(2), ("5m", "1s"), ONE_REQUEST),
    "rate-limit-block": Probe(allowed(0, 600), ("240m", "1s"), ONE_REQUEST),
    "version-switch-zone": Probe(
        has_denomination, world={"clock": {"mode": "manual", "start": "2027-01-10T16:00:00Z"}}
    ),
    "deprecation-header": Probe(
        lambda client: get(client, json.dumps(login(client)["IdToken"]).strip('"')).headers.get("deprecation")
    ),
}
