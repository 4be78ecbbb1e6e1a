"""Requests that cannot be answered, and the shape of their refusals (SPEC 4, 7.1). None could change anything."""

from collections.abc import Callable, Iterator
from typing import Any

from simulator.staging.conform.checks.catalog import UNKNOWN
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import Departure, differ, unless
from simulator.staging.conform.registry import check
from simulator.staging.conform.selection import a_dynamic_list, an_option_list


def refused_fields(run: Run, path: str, *fields: str, **query: Any) -> Iterator[Departure]:
    """What departs from a 400 whose `errors` name these fields, each with a list of texts."""
    answer = run.get(path, **query)
    yield from run.expected(answer, 400)
    if answer.status == 400:
        errors = answer.at("errors")
        for field in fields:
            yield from unless(
                bool(errors.get(field)), f"errors.{field}", "a list of texts", errors.get(field, "absent")
            )


@check("options-missing", "4.5", "Options without product_code or field_id are refused")
def options_missing(run: Run) -> Iterator[Departure]:
    where = an_option_list(run)
    yield from refused_fields(run, "/v2/options", "product_code", field_id=where["field_id"])
    yield from refused_fields(run, "/v2/options", "field_id", product_code=where["product_code"])


@check("options-account-missing", "4.5", "Dynamic options without account_number are refused")
def options_account_missing(run: Run) -> Iterator[Departure]:
    where, _, _ = a_dynamic_list(run)
    yield from refused_fields(run, "/v2/options", "account_number", **where)


@check("options-unknown", "4.5", "Options of an unknown product or field are not found")
def options_unknown(run: Run) -> Iterator[Departure]:
    where = an_option_list(run)
    for changed in ({"product_code": UNKNOWN}, {"field_id": "conform-no-such-field"}):
        answer = run.get("/v2/options", **where | changed)
        yield from run.expected(answer, 404)
        if answer.status == 404:
            yield from differ("errors", {}, answer.at("errors"))


def _single(path: str, *fields: str, **query: Any) -> Callable[[Run], Iterator[Departure]]:
    def made(run: Run) -> Iterator[Departure]:
        more = {"date": run.days} if query.get("date") == "" else {}
        yield from refused_fields(run, path, *fields, **query | more)

    return made


# What SPEC shows no shape for has to be a 400; its body is compared with what the register assumes.
for _id, _section, _title, _made in (
    ("history-missing-limit", "4.14", "History without limit is refused", _single("/v2/transactions", date="")),
    ("history-missing-date", "4.14", "History without date is refused", _single("/v2/transactions", limit=10)),
    ("history-bad-date", "4.14", "A date of another format is refused",
     _single("/v2/transactions", limit=10, date="21-11-2026")),
    ("history-bad-status", "4.14", "An unknown status is refused",
     _single("/v2/transactions", limit=10, date="", status="PAID")),
    ("statement-missing-date", "4.17", "A statement without date is refused", _single("/v2/balance-statement")),
    ("statement-bad-type", "4.17", "An unknown type is refused",
     _single("/v2/balance-statement", date="", type="CONFORM")),
    ("network-missing", "4.9", "Network status without product is refused", _single("/v2/networkstatus")),
    ("subproducts-missing", "4.8", "Sub-products without product_code are refused",
     _single("/v2/subproducts", "product_code")),
    ("catalog-bad-filter", "4.4", "A filter of the catalog that is no boolean is refused",
     _single("/v2/catalog", "is_active", is_active="maybe")),
    ("options-bad-limit", "4.5", "A limit that is no number is refused",
     _single("/v2/options", product_code="A", field_id="a", limit="many")),
    ("deliveries-bad-limit", "4.20", "Deliveries have a limit of at most 100",
     _single("/v2/balance-webhook/deliveries", limit=101)),
):  # fmt: skip
    check(_id, _section, _title)(_made)


@check("bill-missing", "4.10", "A bill without account is refused in the shape of a bill")
def bill_missing(run: Run) -> Iterator[Departure]:
    code = next(iter(run.products), UNKNOWN)
    answer = run.get("/v2/bill-presentment", product=code)
    yield from run.expected(answer, 400)
    yield from differ("data.Outstanding", None, answer.at("data.Outstanding"))
    yield from differ("metadata.status_code", 400, answer.at("metadata.status_code"))
    yield from unless(bool(answer.at("error_message")), "error_message", "a text", answer.at("error_message"))


@check("delivery-unknown", "4.20", "A delivery that does not exist is not found")
def delivery_unknown(run: Run) -> Iterator[Departure]:
    answer = run.get("/v2/balance-webhook/deliveries/00000000-0000-4000-8000-000000000000")
    yield from unless(answer.status == 404, "the status", "404", answer)


@check("deliveries-page", "4.20", "limit bounds a page of deliveries, and its cursor leads to the next")
def deliveries_page(run: Run) -> Iterator[Departure]:
    path = "/v2/balance-webhook/deliveries"
    whole = [row["id"] for row in run.good(path, limit=100).rows("deliveries")]
    page = run.good(path, limit=1)
    found = [row["id"] for row in page.rows("deliveries")]
    yield from differ("deliveries with limit=1", whole[:1], found)
    yield from differ("hasMore", len(whole) > 1, page.at("hasMore"))
    if len(whole) > 1:
        following = run.good(path, limit=1, cursor=page.at("cursor")).rows("deliveries")
        yield from differ("deliveries of the next page", whole[1:2], [row["id"] for row in following])


@check("deliveries-records", "2.12", "A delivery has spent its retries when it failed, and its status is one of two")
def deliveries_records(run: Run) -> Iterator[Departure]:
    for row in run.good("/v2/balance-webhook/deliveries", limit=100).rows("deliveries"):
        wanted, found = row["retryLimit"] + 1, row["retryCount"]
        yield from unless(found <= wanted, f"retryCount of {row['id']}", f"at most {wanted}", found)
        yield from unless(row["replayCount"] <= 3, f"replayCount of {row['id']}", "at most 3", row["replayCount"])
