"""Requests that have to be refused, since a part is missing, unknown, or out of bounds (SPEC 4, 8)."""

from collections.abc import Callable, Iterator
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import quote

from simulator.staging.conform.checks.catalog_checks import UNKNOWN
from simulator.staging.conform.checks.configuration import CALLBACK, DELIVERIES, NOBODY
from simulator.staging.conform.checks.payment_checks import DISPUTE, VOID, WRONG_AMOUNT
from simulator.staging.conform.checks.signatures import REFRESH, TOKEN, post
from simulator.staging.conform.context import Run, a_dynamic_list, an_option_list, check
from simulator.staging.conform.findings import Departure, differ, unless
from simulator.staging.service import Answer

NO_PAYMENT, OTHER_REASON = f"conform-{token_hex(8)}", 3
NO_DELIVERY = "00000000-0000-4000-8000-000000000000"
READS = (
    "/v2/options", "/v1/interbank/billers", "/v2/product-list", "/v2/subproducts", "/v2/networkstatus",
    "/v2/bill-presentment", "/v2/transactions", "/v2/balance-statement", "/v2/callback-url", "/v2/balance-webhook",
    "/v2/balance-webhook/deliveries",
)  # fmt: skip
URL = quote(NOBODY, safe="")


class RefusedRequest(NamedTuple):
    """A request to refuse, and the member of `errors` that the answer must have, if any."""

    send: Callable[[Run], Answer]
    error: str = ""


def _get(path: str, error: str = "", **query: Any) -> RefusedRequest:
    """Return a signed GET; an empty date means the last month."""

    def send(run: Run) -> Answer:
        return run.get(path, **query | ({"date": run.days} if query.get("date") == "" else {}))

    return RefusedRequest(send, error)


def _call(method: str, target: str, body: Any = None, error: str = "") -> RefusedRequest:
    return RefusedRequest(lambda run: run.session.call(method, target, body), error)


def _plain(path: str, **headers: str) -> RefusedRequest:
    return RefusedRequest(lambda run: run.session.plain("GET", path, headers=headers))


def _login(path: str, body: dict[str, str], error: str = "") -> RefusedRequest:
    return RefusedRequest(lambda run: post(run, path, body), error)


def _all(status: int, *requests: RefusedRequest) -> Callable[[Run], Iterator[Departure]]:
    """Return a check that each of these requests is refused with this status."""

    def run_check(run: Run) -> Iterator[Departure]:
        for request in requests:
            answer = request.send(run)
            yield from run.expected(answer, status)
            if request.error and answer.status == status:
                found = answer.at("errors").get(request.error)
                yield from unless(bool(found), f"errors.{request.error}", "a list of texts", found)

    return run_check


# A request that SPEC shows no shape for has to be a 400; its body is compared with the register's assumption.
for _id, _section, _title, _made in (
    ("auth-everywhere", "4", "Every endpoint that reads refuses an unsigned request",
     _all(401, *map(_plain, READS))),
    ("auth-bearer", "5.4", "A bearer token that the service never gave is refused",
     _all(401, _plain("/v1/interbank/billers", Authorization="Bearer not.a.token"))),
    ("token-missing", "4.2", "A token without username or password is refused",
     _all(400, _login(TOKEN, {"password": "x"}, "username"), _login(TOKEN, {"username": "x"}, "password"))),
    ("token-wrong", "4.2", "An unknown user gets no token",
     _all(401, _login(TOKEN, {"username": NO_PAYMENT, "password": "x"}))),
    ("token-refresh-missing", "4.3", "A refresh without refresh_token is refused",
     _all(400, _login(REFRESH, {"other": "x"}))),
    ("token-refresh-wrong", "4.3", "A refresh token that the service never gave is refused",
     _all(401, _login(REFRESH, {"refresh_token": NO_PAYMENT}))),
    ("options-missing", "4.5", "Options without product_code or field_id are refused",
     _all(400, _get("/v2/options", "product_code", field_id="a"), _get("/v2/options", "field_id", product_code="A"))),
    ("options-account-missing", "4.5", "Dynamic options without account_number are refused",
     _all(400, RefusedRequest(lambda run: run.get("/v2/options", **a_dynamic_list(run)[0]), "account_number"))),
    ("options-bad-limit", "4.5", "A limit that is no number is refused",
     _all(400, _get("/v2/options", product_code="A", field_id="a", limit="many"))),
    ("catalog-bad-filter", "4.4", "A filter of the catalog that is no boolean is refused",
     _all(400, _get("/v2/catalog", "is_active", is_active="maybe"))),
    ("subproducts-missing", "4.8", "Sub-products without product_code are refused",
     _all(400, _get("/v2/subproducts", "product_code"))),
    ("network-missing", "4.9", "Network status without product is refused", _all(400, _get("/v2/networkstatus"))),
    ("history-missing-limit", "4.14", "History without limit is refused",
     _all(400, _get("/v2/transactions", date=""))),
    ("history-missing-date", "4.14", "History without date is refused",
     _all(400, _get("/v2/transactions", limit=10))),
    ("history-bad-date", "4.14", "A date of another format is refused",
     _all(400, _get("/v2/transactions", limit=10, date="21-11-2026"))),
    ("history-bad-status", "4.14", "An unknown status is refused",
     _all(400, _get("/v2/transactions", limit=10, date="", status="PAID"))),
    ("statement-missing-date", "4.17", "A statement without date is refused",
     _all(400, _get("/v2/balance-statement"))),
    ("statement-bad-type", "4.17", "An unknown type is refused",
     _all(400, _get("/v2/balance-statement", date="", type="CONFORM"))),
    ("bill-missing", "4.10", "A bill without account is refused in the shape of a bill",
     _all(400, RefusedRequest(lambda run: run.get("/v2/bill-presentment", product=next(iter(run.products), UNKNOWN))))),
    ("deliveries-bad-limit", "4.20", "Deliveries have a limit of at most 100", _all(400, _get(DELIVERIES, limit=101))),
    ("delivery-unknown", "4.20", "A delivery that does not exist is not found",
     _all(404, _get(f"{DELIVERIES}/{NO_DELIVERY}"))),
):  # fmt: skip
    check(_section, _title, id_=_id)(_made)

for _id, _section, _title, _made in (
    ("callback-url-refused", "4.18", "A callback URL needs url and method",
     _all(400, *(_call("POST", f"{CALLBACK}?{query}") for query in
                 ("method=POST", f"url={URL}", f"url={URL}&method=PUT")))),
    ("threshold-refused", "4.16", "A low-balance threshold needs an amount",
     _all(400, _call("POST", "/v2/low-balance-threshold"))),
    ("replay-bulk-bounds", "4.20", "A bulk replay has 1 to 50 job ids",
     _all(400, *(_call("POST", f"{DELIVERIES}/replay-bulk", {"job_ids": [NO_DELIVERY] * count}) for count in (0, 51)))),
):  # fmt: skip
    check(_section, _title, needs="configuration", id_=_id)(_made)

for _id, _section, _title, _made in (
    ("case-unknown", "4.12", "A dispute or void of an unknown transaction is refused with errors.trxid",
     _all(400, *(_call("POST", path, {name: NO_PAYMENT, "refund_type": WRONG_AMOUNT}, "trxid")
                 for path in (DISPUTE, VOID) for name in ("refid", "trxid")))),
    ("case-missing", "4.12", "A dispute or void without refid and trxid is refused",
     _all(400, *(_call("POST", path, {"user_email": [], "refund_type": WRONG_AMOUNT}) for path in (DISPUTE, VOID)))),
    ("void-reason", "4.13", "A void for another reason needs the reason",
     _all(400, _call("POST", VOID, {"refid": NO_PAYMENT, "refund_type": OTHER_REASON}, "refund_reason"))),
):  # fmt: skip
    check(_section, _title, needs="payments", id_=_id)(_made)


@check("4.5", "Options of an unknown product or field are not found")
def options_unknown(run: Run) -> Iterator[Departure]:
    where = an_option_list(run)
    for changed in ({"product_code": UNKNOWN}, {"field_id": "conform-no-such-field"}):
        answer = run.get("/v2/options", **where | changed)
        yield from run.expected(answer, 404)
        if answer.status == 404:
            yield from differ("errors", {}, answer.at("errors"))
