"""A service that does one thing wrong: what stands between `conform` and the simulator, and the check that is meant to
find it."""

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import formatdate, parsedate_to_datetime
from itertools import count
from typing import Any

from simulator.scenario.library import load_scenario
from simulator.staging.service import Answer, NoAnswer, Request
from tests.support.conforming import Damage, Sender
from tests.support.signing import sign

Edit = Callable[[Any], Any]
HISTORY, STATEMENT, BALANCE = "/v2/transactions", "/v2/balance-statement", "/v2/balance"
CATALOG, OPTIONS, BILLERS, LIST = "/v2/catalog", "/v2/options", "/v1/interbank/billers", "/v2/product-list"
TOPUP, VOID, DISPUTE = "/v2/topup", "/v2/transactions/void", "/v2/transactions/check"
WEBHOOK, DELIVERIES = "/v2/balance-webhook", "/v2/balance-webhook/deliveries"
TOKEN, REFRESH = "/v2/token", "/v2/token/refresh"
BALANCED = b'{"data":{"balance":5000,"currency":"MYR"}}'
UTC_SHIFT = {f"{hour:02}": f"{(hour - 8) % 24:02}" for hour in range(24)}


@dataclass(frozen=True)
class Row:
    """A mistake of a service, the check that finds it, the field in the finding (`*` stands for anything), and the
    damage."""

    what: str
    check: str
    field: str
    damage: Damage


def edited(path: str, edit: Edit, *, method: str = "", status: int = 200, query: str = "", sent: bytes = b"") -> Damage:
    """Change the body of a path's answers; `query` and `sent` are parts of the requests whose answers are changed."""

    def damage(send: Sender, request: Request) -> Answer:
        answer = send(request)
        is_meant = request.path == path and answer.status == status and method in ("", request.method)
        if not (is_meant and query in request.target and sent in request.body):
            return answer
        value = json.loads(answer.body)
        changed = edit(value)
        return replace(answer, body=json.dumps(value if changed is None else changed).encode())

    return damage


def put(dotted: str, value: Any) -> Edit:
    """Set a member; a value that is a function gets the old one, and `...` removes it. `*` stands for all of a list."""

    def edit(whole: Any) -> None:
        *way, last = dotted.split(".")
        _put(whole, way, last, value)

    return edit


def _put(part: Any, way: list[str], last: str, value: Any) -> None:
    if way:
        for each in _below(part, way[0]):
            _put(each, way[1:], last, value)
    elif value is ...:
        del part[last]
    else:
        key: Any = int(last) if isinstance(part, list) else last
        part[key] = value(part[key]) if callable(value) else value


def _below(part: Any, name: str) -> list[Any]:
    if name == "*":
        return list(part.values()) if isinstance(part, dict) else list(part)
    if isinstance(part, list):
        return [part[int(name)]] if int(name) < len(part) else []
    return [part[name]]


def answered(path: str, status: int, body: bytes = BALANCED, *, method: str = "", when: int = 0) -> Damage:
    """Replace the answer of a path; with `when` only an answer with that status."""

    def damage(send: Sender, request: Request) -> Answer:
        answer = send(request)
        if request.path != path or method not in ("", request.method) or when not in (0, answer.status):
            return answer
        return replace(answer, status=status, body=body)

    return damage


def refused_as(code: str, status: int, body: bytes = BALANCED) -> Damage:
    """Answer something else where authentication refuses with this code."""

    def damage(send: Sender, request: Request) -> Answer:
        answer = send(request)
        is_meant = answer.status == 401 and f'"{code}"'.encode() in answer.body
        return replace(answer, status=status, body=body) if is_meant else answer

    return damage


def _without_query(name: str) -> Damage:
    """Ignore a parameter: answer with the earlier answer to the request without it."""
    kept: dict[str, Answer] = {}

    def damage(send: Sender, request: Request) -> Answer:
        answer = send(request)
        plain = "&".join(part for part in request.target.split("&") if not part.startswith(f"{name}="))
        if plain == request.target:
            kept[plain] = answer
        return kept.get(plain, answer)

    return damage


def same_page(path: str, parameter: str) -> Damage:
    """Answer every page with the first."""
    first: dict[str, bytes] = {}

    def damage(send: Sender, request: Request) -> Answer:
        answer = send(request)
        if request.path != path or f"{parameter}=" not in request.target:
            return answer
        return replace(answer, body=first.setdefault(path, answer.body))

    return damage


def lost_idempotency(send: Sender, request: Request) -> Answer:
    """Each POST of a payment is a new one: the simulator sees another refid, the client its own."""
    if request.path != TOPUP or b'"refid"' not in request.body:
        return send(request)
    number = next(_numbers)
    members = json.loads(request.body)
    body = json.dumps(members | {"refid": f"other-{number}"}).encode()
    nonce, stamp = f"another-nonce-{number:06}", request.headers["X-Timestamp"]
    signature = sign("POST", "", body, timestamp=stamp, nonce=nonce, secret=_SECRET)
    headers = {**request.headers, "X-Nonce": nonce, "X-Signature": signature}
    answer = send(replace(request, headers=headers, body=body))
    value = json.loads(answer.body)
    if "data" in value:
        value["data"]["refid"] = members["refid"]
    return replace(answer, request=request, body=json.dumps(value).encode())


_numbers = count(1)
_SECRET = b64decode(load_scenario("default").resellers[0].keys[0].secret)


def _no_answer(path: str) -> Damage:
    def damage(send: Sender, request: Request) -> Answer:
        answer = send(request)
        if request.path == path:
            raise NoAnswer("the connection was closed")
        return answer

    return damage


def _after_final(send: Sender, request: Request, seen: set[bytes] = set()) -> Answer:  # noqa: B006  # it remembers
    """A payment that was successful is Processing when it is asked for again."""
    answer = send(request)
    if request.path == TOPUP and b"Succesful" in answer.body:
        if request.body in seen:
            return replace(answer, body=answer.body.replace(b"Succesful", b"Processing"))
        seen.add(request.body)
    return answer


def _raw(path: str, old: bytes, new: bytes, method: str = "") -> Damage:
    """Replace bytes of a path's answers."""

    def damage(send: Sender, request: Request) -> Answer:
        answer = send(request)
        if request.path != path or method not in ("", request.method):
            return answer
        return replace(answer, body=answer.body.replace(old, new))

    return damage


def _a_page(path: str) -> Damage:
    """Answer with a page, as a server that wants a login does."""

    def damage(send: Sender, request: Request) -> Answer:
        answer = send(request)
        headers = {**answer.headers, "content-type": "text/html"}
        return replace(answer, headers=headers, body=b"<html>") if request.path == path else answer

    return damage


def clock_off(send: Sender, request: Request) -> Answer:
    """Date answers an hour later."""
    answer = send(request)
    at = parsedate_to_datetime(answer.headers["date"]).timestamp() + 3600
    return replace(answer, headers={**answer.headers, "date": formatdate(at, usegmt=True)})


def strict_window(send: Sender, request: Request) -> Answer:
    """A timestamp may be three minutes off, not five."""
    answer = send(request)
    now = parsedate_to_datetime(answer.headers["date"]).timestamp()
    is_off = abs(now - int(request.headers.get("X-Timestamp", now))) > 180
    return replace(answer, status=401) if is_off else answer


def _utc(text: str) -> str:
    return text[:11] + UTC_SHIFT[text[11:13]] + text[13:]


def _earlier_each_time() -> Callable[[str], str]:
    minutes = count(59, -1)
    return lambda text: f"{text[:14]}{next(minutes):02}{text[16:]}"


def _year_first(text: str) -> str:
    return f"{text[6:10]}-{text[3:5]}-{text[:2]}{text[10:]}"


def _swapped(rows: list[Any]) -> list[Any]:
    return [rows[1], rows[0], *rows[2:]] if len(rows) > 1 else rows


def _first_twice(rows: list[Any]) -> list[Any]:
    return [rows[0], rows[0], *rows[2:]] if len(rows) > 1 else rows


def _more(text: str) -> str:
    return f"{float(text) + 1:.2f}"


def _plus_one(number: float) -> float:
    return number + 1


READING = (
    Row("a product without pricing", "catalog-answer", "products.RELOAD.pricing",
        edited(CATALOG, put("products.RELOAD.pricing", ...))),
    Row("a date of the catalog that is not ISO 8601", "catalog-answer", "last_updated",
        edited(CATALOG, put("last_updated", "2026-11-21 12:00"))),
    Row("an unknown type of field", "catalog-answer", "products.RELOAD.fields.0.type",
        edited(CATALOG, put("products.RELOAD.fields.0.type", "phone"))),
    Row("a unit price that is a number", "catalog-version-answer", "products.RELOAD.pricing.unit_price",
        edited(CATALOG, put("products.*.pricing.unit_price", 1))),
    Row("a product under another key", "catalog-codes", "products.RELOAD.code",
        edited(CATALOG, put("products.RELOAD.code", "RELOADED"))),
    Row("a tree with a product that is not sold", "catalog-tree", "tree category mobile-reload",
        edited(CATALOG, put("tree.groups.0.categories.0.product_codes", ["RELOAD", "GHOST"]))),
    Row("inactive products by default", "catalog-active", "products.GAME.is_active",
        edited(CATALOG, put("products.GAME.is_active", False))),
    Row("active products missing with include_inactive", "catalog-inactive", "products.RELOAD",
        edited(CATALOG, put("products.RELOAD", ...), query="include_inactive")),
    Row("a filter by product that is ignored", "catalog-filter", "products",
        edited(CATALOG, put("products.OTHER", {}), query="product_code=RELOAD")),
    Row("404 for an unknown product", "catalog-unknown", "the status",
        answered(CATALOG, 404, b'{"message":"no","errors":{}}')),
    Row("no tree for an unknown product", "catalog-unknown", "tree.groups",
        edited(CATALOG, put("tree.groups", []), query="product_code=CONFORM")),
    Row("fulfillment from a field that is not there", "catalog-fields", "products.RELOAD.fulfillment.account",
        edited(CATALOG, put("products.RELOAD.fulfillment.account.from_field", "mobile"))),
    Row("a fixed discount above 0", "catalog-pricing", "products.ELECTRIC.pricing.unit_price",
        edited(CATALOG, put("products.ELECTRIC.pricing.unit_price", "0.30"))),
    Row("the old mapping of amounts with the new version", "catalog-version", "products.RELOAD.fulfillment.amount.path",
        edited(CATALOG, put("products.RELOAD.fulfillment.amount.path", "price.amount"))),
    Row("options of another product", "options-answer", "product_code", edited(OPTIONS, put("product_code", "OTHER"))),
    Row("a price that is a number", "options-answer", "items.0.price.amount",
        edited(OPTIONS, put("items.0.price.amount", 5))),
    Row("the same page of options again", "options-pages", "meta.current_page of page 2", same_page(OPTIONS, "page")),
    Row("another default page of options", "options-default-page", "meta.per_page",
        edited(OPTIONS, put("meta.per_page", 50))),
    Row("an option twice", "options-codes", "items of RELOAD", edited(OPTIONS, put("items", _first_twice))),
    Row("options without denomination", "options-denomination", "items RELOAD-5.denomination of RELOAD",
        edited(OPTIONS, put("items.*.denomination", ...),
        query="product_code=RELOAD")),
    Row("an option that costs more", "options-cost", "items RELOAD-5.cost.amount of RELOAD",
        edited(OPTIONS, put("items.0.cost.amount", _more), query="product_code=RELOAD")),
    Row("200 for options of an unknown product", "options-unknown", "the status",
        answered(OPTIONS, 200, b'{"product_code":"A","field_id":"a","items":[],"meta":{}}', when=404)),
    Row("errors that are texts", "options-missing", "errors.product_code",
        edited(OPTIONS, put("errors", {"product_code": "is required", "field_id": "is required"}), status=400)),
    Row("a total of billers that is wrong", "billers-pages", "meta.total of page 1",
        edited(BILLERS, put("meta.total", 3), query="page=")),
    Row("billers without account_number", "billers-answer", "data.0.account_number",
        edited(BILLERS, put("data.*.account_number", ...))),
    Row("a filter of billers that is ignored", "billers-filter", "data of Loans",
        edited(BILLERS, put("data", _first_twice), query="suggested_category")),
    Row("a status of the older list that is wrong", "product-list-status", "data RELOAD.status",
        edited(LIST, put("data.0.status", "Inactive"))),
    Row("a product missing from the older list", "product-list-codes", "data RELOAD",
        edited(LIST, put("data", lambda rows: rows[1:]))),
    Row("a lower-case plan code", "subproducts-codes", "data",
        edited("/v2/subproducts", put("data.0.subproduct_code", str.lower))),
    Row("a time with the year first", "network-answer", "metadata.last_updated",
        edited("/v2/networkstatus", put("metadata.last_updated", _year_first))),
    Row("the status of another product", "network-answer", "data.product_code",
        edited("/v2/networkstatus", put("data.product_code", "X"))),
    Row("a clock that is an hour off", "times-clock", "the header Date", clock_off),
    Row("the older list without is_refundable", "product-list-answer", "data.0.is_refundable",
        edited(LIST, put("data.0.is_refundable", ...))),
    Row("sub-products without message", "subproducts-answer", "message",
        edited("/v2/subproducts", put("message", ...))),
    Row("a delivery with too many retries", "deliveries-records", "retryCount of x",
        edited(DELIVERIES, put("deliveries", lambda _: [
        {"id": "x", "retryCount": 9, "retryLimit": 3, "replayCount": 0}]))),
    Row("a time in UTC", "times-zone", "metadata.last_updated",
        edited("/v2/networkstatus", put("metadata.last_updated", _utc))),
    Row("an outstanding amount as a text", "bill-answer", "data.Outstanding",
        edited("/v2/bill-presentment", put("data.Outstanding", "12.00"))),
    Row("an outstanding amount of an error", "bill-missing", "data.Outstanding",
        edited("/v2/bill-presentment", put("data.Outstanding", 0), status=400)),
    Row("history out of order", "history-sorted", "data.date", edited(HISTORY, put("data", _swapped))),
    Row("a page of history again", "history-pages", "data of all pages", same_page(HISTORY, "offset")),
    Row("a refid twice", "history-ids", "refid", edited(HISTORY, put("data.*.refid", "same"))),
    Row("a profit that is wrong", "history-figures", "meta.profit", edited(HISTORY, put("meta.profit", _more))),
    Row("counts that do not add up", "history-figures", "meta.transaction_count",
        edited(HISTORY, put("meta.failed_count", "7"))),
    Row("a total price that is wrong", "history-total", "meta.total_price",
        edited(HISTORY, put("meta.total_price", _more))),
    Row("a status filter that is ignored", "history-status", "status_name with *", _without_query("status")),
    Row("a filter by account that loses some", "history-filters", "data with account",
        edited(HISTORY, put("data", []), query="account=")),
    Row("a day's history with another day", "history-date", "day of *",
        edited(HISTORY, put("data.0.date", "2026-01-01 00:00:00.000"), query="date=2026-11-21&")),
    Row("a date of the history without milliseconds", "history-answer", "data.0.date",
        edited(HISTORY, put("data.0.date", lambda text: text[:19]))),
    Row("amounts of the history as numbers", "history-answer", "data.0.amount",
        edited(HISTORY, put("data.*.amount", 10))),
    Row("a status code of the history as a number", "history-answer", "data.0.status_code",
        edited(HISTORY, put("data.0.status_code", 20))),
    Row("no meta of the history", "history-answer", "meta", edited(HISTORY, put("meta", ...))),
    Row("a balance as a page", "balance-answer", "the header Content-Type", _a_page(BALANCE)),
    Row("a balance that is not the statement's", "statement-balance", "balance",
        edited(BALANCE, put("data.balance", _plus_one))),
    Row("an entry with a wrong balance", "statement-arithmetic", "balance of entry 3",
        edited(STATEMENT, put("data.0.balance", _plus_one))),
    Row("a statement out of order", "statement-sorted", "data.date", edited(STATEMENT, put("data", _swapped))),
    Row("payments with a positive sign", "statement-signs", "amount of entry 3 (TRANSACTION)",
        edited(STATEMENT, put("data.*.amount", lambda amount: abs(amount)))),
    Row("a summary that does not add up", "statement-summary", "summary.total_transactions.amount",
        edited(STATEMENT, put("summary.total_transactions.amount", -1))),
    Row("a count of the summary that is wrong", "statement-summary", "summary.total_deposit.count",
        edited(STATEMENT, put("summary.total_deposit.count", 4))),
    Row("a next link missing", "statement-pages", "links.next of page 1",
        edited(STATEMENT, put("links.next", None), query="page=1")),
    Row("a type filter that is ignored", "statement-type", "type of entry 3 with type=TRANSACTION",
        edited(STATEMENT, put("data.0.type", "DEPOSIT"), query="type=TRANSACTION")),
    Row("a transaction that is not in the statement", "statement-history", "price of *",
        edited(STATEMENT, lambda whole: {**whole, "data": whole["data"][1:], "meta": {**whole["meta"], "total": 2}})),
    Row("a date of the statement with the day first", "statement-answer", "data.0.date",
        edited(STATEMENT, put("data.0.date", "21-11-2026 12:00:00.000"))),
    Row("metadata without the at sign", "callback-url-answer", "@metadata",
        _raw("/v2/callback-url", b"@metadata", b"metadata")),
    Row("enabled as a text", "webhook-answer", "enabled", edited(WEBHOOK, put("enabled", "true"))),
    Row("deliveries without hasMore", "deliveries-answer", "hasMore", edited(DELIVERIES, put("hasMore", ...))),
    Row("a redirect", "balance-answer", "the status", answered(BALANCE, 302, b"")),
    Row("HTML instead of JSON", "balance-answer", "the body", answered(BALANCE, 200, b"<html>busy</html>")),
    Row("a connection that is closed", "history-answer", "the answer", _no_answer(HISTORY)),
    Row("500 for a missing parameter", "history-missing-limit", "the status", answered(HISTORY, 500, b"{}", when=400)),
    Row("200 for a date of another format", "history-bad-date", "the status", answered(HISTORY, 200, b"{}", when=400)),
)  # fmt: skip

REFUSING = (
    Row("a request without key accepted", "auth-key", "the status without X-Api-Key",
        refused_as("missing_api_key", 200)),
    Row("403 for an unknown key", "auth-key", "the status with an unknown key", refused_as("invalid_api_key", 403)),
    Row("another code for a missing header", "auth-headers", "error without X-Timestamp",
        refused_as("missing_hmac_headers", 401, b'{"error":"invalid_signature","message":"x"}')),
    Row("400 for an empty header", "auth-empty", "the status with an empty X-Timestamp",
        refused_as("empty_hmac_values", 400, b'{"message":"x","errors":{}}')),
    Row("short nonces accepted", "auth-nonce-format", "the status with a nonce of 15 characters",
        refused_as("invalid_nonce_format", 200)),
    Row("long nonces refused", "auth-nonce-bounds", "the status with a nonce of 128 characters",
        lambda send, request: replace(send(request), status=401) if len(request.headers.get("X-Nonce", "")) > 64
        else send(request)),
    Row("an ISO timestamp accepted", "auth-timestamp-format", "the status with '2026-11-21T04:00:00Z'",
        refused_as("invalid_timestamp_format", 200)),
    Row("a stale timestamp accepted", "auth-timestamp-window", "the status with a timestamp that is too old",
        refused_as("timestamp_expired", 200)),
    Row("a timestamp of 4 minutes ago refused", "auth-timestamp-tolerance", "the status with an age of 240 s",
        strict_window),
    Row("a query signed as it was sent", "auth-query-order", "the status with a query out of order",
        lambda send, request: replace(send(request), status=401) if "product_code=CONFORM&" in request.target
        else send(request)),
    Row("a signature without v1 accepted", "auth-signature-format", "the status with 'v2=AAAA'",
        refused_as("invalid_signature_format", 200)),
    *(Row(f"any signature accepted ({check})", check, "the status with *", refused_as("invalid_signature", 200))
      for check in ("auth-signature", "auth-signed-method", "auth-signed-query", "auth-signed-body")),
    Row("a nonce accepted twice", "auth-nonce-reused", "the status with a nonce for the second time",
        refused_as("nonce_reused", 200)),
    Row("a signature accepted twice", "auth-replay", "the status of a request that is sent twice",
        refused_as("nonce_reused", 200)),
    Row("a status code as a number", "auth-catalog", "metadata.status_code",
        edited(CATALOG, put("metadata.status_code", 401), status=401)),
    Row("an endpoint without authentication", "auth-everywhere", "the status",
        answered(DELIVERIES, 200, b"{}", when=401)),
    Row("any bearer token accepted", "auth-bearer", "the status",
        answered(BILLERS, 200, b"{}", when=401)),
    Row("a token refused without errors", "token-missing", "errors", edited(TOKEN, put("errors", ...), status=400)),
    Row("a token for anybody", "token-wrong", "the status", answered(TOKEN, 200, b'{"IdToken":"x"}', when=401)),
    Row("a lifetime as a text", "token-answer", "ExpiresIn", edited(TOKEN, put("ExpiresIn", "3600"))),
    Row("a refresh without IdToken", "token-refresh", "IdToken",
        _raw(REFRESH, b'"IdToken"', b'"Id"')),
    Row("AccessToken accepted", "token-accepted", "the status with the AccessToken",
        answered(BILLERS, 200, b"{}", when=401)),
)  # fmt: skip

CONFIGURING = (
    Row("a method that is not kept", "callback-url-set", "data.Method",
        edited("/v2/callback-url", put("data.Method", "POST"), method="GET")),
    Row("a secret of another length", "webhook-create", "webhook_secret",
        edited(WEBHOOK, put("webhook_secret", "abc"), method="PUT")),
    Row("a secret shown by an update", "webhook-update", "webhook_secret",
        edited(WEBHOOK, put("webhook_secret", "a" * 64), method="PUT")),
    Row("a webhook that stays enabled", "webhook-enabled", "enabled when it is read",
        edited(WEBHOOK, put("enabled", True), method="GET")),
    Row("51 job ids accepted", "replay-bulk-bounds", "the status",
        answered(f"{DELIVERIES}/replay-bulk", 200, b"{}", when=400)),
)  # fmt: skip

PAYING = (
    Row("Successful", "pay-spelling", "data.status", _raw(TOPUP, b"Succesful", b"Successful")),
    Row("lost idempotency", "pay-idempotent", "history of *", lost_idempotency),
    Row("another refid", "pay-created", "data.refid", edited(TOPUP, put("data.refid", "other"))),
    Row("an amount as a text", "pay-created", "data.amount", edited(TOPUP, put("data.amount", str))),
    Row("a timestamp with milliseconds", "pay-created", "data.timestamp",
        edited(TOPUP, put("data.timestamp", lambda at: at + ".000"))),
    Row("payments timed in UTC", "pay-timestamp", "data.timestamp", edited(TOPUP, put("data.timestamp", _utc))),
    Row("a timestamp that goes back", "pay-timestamp", "data.timestamp of *",
        edited(TOPUP, put("data.timestamp", _earlier_each_time()))),
    Row("an answer without sn", "pay-created", "data.sn", edited(TOPUP, put("data.sn", ...))),
    Row("no answer to a payment", "pay-created", "the answer of *", _no_answer(TOPUP)),
    Row("a whole amount with decimals", "pay-amount", "data.amount", edited(TOPUP, put("data.amount", float))),
    Row("a cost that the wallet does not lose", "pay-wallet", "the wallet after *",
        edited(TOPUP, put("data.cost", _plus_one))),
    Row("a cost beyond the pricing", "pay-cost", "data.cost of RELOAD", edited(TOPUP, put("data.cost", _plus_one))),
    Row("a balance that is not the wallet's", "pay-wallet", "data.balance",
        edited(TOPUP, put("data.balance", _plus_one))),
    Row("a final payment that changes its status", "pay-final", "data.status of a final payment", _after_final),
    Row("a payment that is not in the history", "pay-history", "history of *", edited(HISTORY, put("data", []))),
    Row("a price of the history that is wrong", "pay-history", "price", edited(HISTORY, put("data.*.price", _more))),
    Row("a payment that is not in the statement", "pay-statement", "an entry of *", edited(STATEMENT, put("data", []))),
    Row("200 for an unknown product", "refuse-product", "the status", answered(TOPUP, 200, when=400)),
    Row("a refusal that costs", "refuse-product", "data.cost", edited(TOPUP, put("data.cost", 1), status=400)),
    Row("another code of an invalid denomination", "refuse-amount", "data.statusCode",
        edited(TOPUP, put("data.statusCode", 59), status=400)),
    Row("other remarks of an invalid denomination", "refuse-amount", "data.remarks",
        edited(TOPUP, put("data.remarks", "Bad amount"), status=400)),
    Row("another code of an unknown plan", "refuse-plan", "data.statusCode",
        edited(TOPUP, put("data.statusCode", 43), status=400)),
    Row("another code of a plan with another amount", "refuse-plan-amount", "data.statusCode",
        edited(TOPUP, put("data.statusCode", 58), status=400)),
    Row("a dispute of nothing", "case-missing", "the status", answered(DISPUTE, 200, b"{}", when=400)),
    Row("remarks that do not name the plan", "refuse-plan", "data.remarks",
        edited(TOPUP, put("data.remarks", "no"), status=400)),
    Row("500 for a missing member", "refuse-missing", "the status", answered(TOPUP, 500, b"{}", when=400)),
    Row("a refid of any length", "refuse-refid", "the status", answered(TOPUP, 200, when=400)),
    Row("errors keyed by refid", "case-unknown", "errors.trxid",
        edited(DISPUTE, put("errors", {"refid": ["unknown"]}), status=400)),
    Row("a void for no reason", "void-reason", "the status", answered(VOID, 200, b"{}", when=400)),
    Row("a dispute of another payment", "dispute", "data.refid of the first dispute",
        edited(DISPUTE, put("data.refid", "other"))),
    Row("a dispute twice", "dispute", "data.status of the second dispute",
        edited(DISPUTE, put("data.status", "Success"))),
    Row("a void twice", "void", "data.status of the second void", edited(VOID, put("data.status", "Success"))),
    Row("another code of a refund", "void-refund", "data.statusCode",
        _raw(TOPUP, b'"statusCode":53', b'"statusCode":20')),
)  # fmt: skip

# Requests that have to be refused, and are answered as if nothing was missing.
ACCEPTING = tuple(
    Row(
        f"200 instead of a refusal ({check})",
        check,
        "the status*",
        answered(path, 200, b"{}", when=status, method=method),
    )
    for check, path, status, method in (
        ("options-account-missing", OPTIONS, 400, ""),
        ("options-bad-limit", OPTIONS, 400, ""),
        ("history-missing-date", HISTORY, 400, ""),
        ("history-bad-status", HISTORY, 400, ""),
        ("statement-missing-date", STATEMENT, 400, ""),
        ("statement-bad-type", STATEMENT, 400, ""),
        ("network-missing", "/v2/networkstatus", 400, ""),
        ("subproducts-missing", "/v2/subproducts", 400, ""),
        ("catalog-bad-filter", CATALOG, 400, ""),
        ("deliveries-bad-limit", DELIVERIES, 400, ""),
        ("delivery-unknown", f"{DELIVERIES}/00000000-0000-4000-8000-000000000000", 404, ""),
        ("token-refresh-missing", REFRESH, 400, ""),
        ("token-refresh-wrong", REFRESH, 401, ""),
        ("callback-url-refused", "/v2/callback-url", 400, "POST"),
        ("threshold-refused", "/v2/low-balance-threshold", 400, "POST"),
        ("webhook-url-refused", WEBHOOK, 400, "PUT"),
    )
)

DAMAGES = {row.what: row for row in (*READING, *REFUSING, *ACCEPTING, *CONFIGURING, *PAYING)}
assert len(DAMAGES) == sum(map(len, (READING, REFUSING, ACCEPTING, CONFIGURING, PAYING))), "two have the same words"
