"""The answer of every read endpoint, compared with the contract (SPEC 2, 4), and the notation of its times."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from simulator.staging.bodies import stamp
from simulator.staging.conform.context import Run, an_option_list, check, products_of
from simulator.staging.conform.findings import Departure, NotExercised, differ, unless
from simulator.staging.service import Answer

CLOCK_S_MAX = 300


def _answered(path: str, version: str = "", **query: Any) -> Callable[[Run], Iterator[Departure]]:
    def run_check(run: Run) -> Iterator[Departure]:
        days = {"date": run.days} if "date" in query else {}
        yield from run.expected(run.get(path, version, **query | days), 200)

    return run_check


for _id, _section, _what, _made in (
    ("catalog-answer", "4.4", "/v2/catalog", _answered("/v2/catalog")),
    ("catalog-version-answer", "9", "/v2/catalog with X-API-Version 2026-09-16",
     _answered("/v2/catalog", "2026-09-16")),
    ("billers-answer", "4.6", "/v1/interbank/billers", _answered("/v1/interbank/billers")),
    ("product-list-answer", "4.7", "/v2/product-list", _answered("/v2/product-list")),
    ("history-answer", "4.14", "/v2/transactions", _answered("/v2/transactions", date="", limit=100)),
    ("balance-answer", "4.15", "/v2/balance", _answered("/v2/balance")),
    ("statement-answer", "4.17", "/v2/balance-statement", _answered("/v2/balance-statement", date="", limit=100)),
    ("callback-url-answer", "4.18", "/v2/callback-url", _answered("/v2/callback-url")),
    ("webhook-answer", "4.19", "/v2/balance-webhook", _answered("/v2/balance-webhook")),
):  # fmt: skip
    check(_section, f"GET {_what} answers as documented", id_=_id)(_made)


@check("4.5", "GET /v2/options answers as documented")
def options_answer(run: Run) -> Iterator[Departure]:
    where = an_option_list(run)
    answer = run.get("/v2/options", "2026-09-16", **where)
    yield from run.expected(answer, 200)
    yield from differ("product_code", where["product_code"], answer.at("product_code"))
    yield from differ("field_id", where["field_id"], answer.at("field_id"))


@check("4.8", "GET /v2/subproducts answers as documented")
def subproducts_answer(run: Run) -> Iterator[Departure]:
    yield from run.expected(run.get("/v2/subproducts", product_code=an_option_list(run)["product_code"]), 200)


@check("4.9", "GET /v2/networkstatus answers as documented, about the product that was asked for")
def network_answer(run: Run) -> Iterator[Departure]:
    code = products_of(run)[0]
    answer = run.get("/v2/networkstatus", product=code)
    yield from run.expected(answer, 200)
    yield from differ("data.product_code", code, answer.at("data.product_code"))


@check("4.10", "GET /v2/bill-presentment answers as documented")
def bill_answer(run: Run) -> Iterator[Departure]:
    if not run.bills:
        raise NotExercised("it looks up the bill of an account, which --bill names")
    refusals = []
    for bill in run.bills:
        answer = run.get("/v2/bill-presentment", product=bill.product, account=bill.account, **bill.extras)
        if answer.status == 400:
            yield from run.expected(answer, 400)
            refusals.append(f"the bill of {bill.product} was refused: {answer.at('data.message')}")
        else:
            yield from run.expected(answer, 200)
            yield from differ("metadata.product_code", bill.product, answer.at("metadata.product_code"))
    if len(refusals) == len(run.bills):
        raise NotExercised(refusals[0])


@check("4.20", "GET /v2/balance-webhook/deliveries answers as documented")
def deliveries_answer(run: Run) -> Iterator[Departure]:
    answer = run.get("/v2/balance-webhook/deliveries")
    yield from run.expected(answer, 200)
    rows = answer.rows("deliveries")
    yield from unless(len(rows) <= 50, "deliveries", "at most 50 without a limit", len(rows))
    for row in rows[:1]:
        delivery = run.get(f"/v2/balance-webhook/deliveries/{row['id']}")
        yield from run.expected(delivery, 200)
        yield from differ("id", row["id"], delivery.at("id"))


@check("1", "Times are in GMT+8")
def times_zone(run: Run) -> Iterator[Departure]:
    answer = run.good("/v2/networkstatus", product=products_of(run)[0])
    text = str(answer.at("metadata.last_updated"))
    yield from of_its_time(run, answer, "metadata.last_updated", f"{text[6:10]}-{text[3:5]}-{text[:2]}{text[10:]}")


def of_its_time(run: Run, answer: Answer, field: str, text: str) -> Iterator[Departure]:
    """Yield a departure unless a time in GMT+8, `yyyy-MM-dd HH:mm:ss`, is about that of its answer."""
    if (at := stamp(text)) is None:
        raise NotExercised(f"{field} has another format")
    off = timedelta(seconds=abs(at.timestamp() - (answer.date_s or run.session.clock.now())))
    wanted = f"within {CLOCK_S_MAX} s of the answer's own time in GMT+8"
    yield from unless(off.total_seconds() <= CLOCK_S_MAX, field, wanted, f"{text}, off by {off}")


@check("5.1", "The service's clock and ours differ by less than the tolerance of signatures")
def times_clock(run: Run) -> Iterator[Departure]:
    date_s = run.get("/v2/balance").date_s
    if date_s is None:
        raise NotExercised("the answer has no header Date, or none with a date")
    off_s = abs(date_s - run.session.clock.now())
    yield from unless(off_s <= CLOCK_S_MAX, "the header Date", "within 5 minutes of our clock", f"off by {off_s:.0f} s")


@check("2.12", "A delivery has spent its retries when it failed, and its status is one of two")
def deliveries_records(run: Run) -> Iterator[Departure]:
    for row in run.good("/v2/balance-webhook/deliveries", limit=100).rows("deliveries"):
        wanted, found = row["retryLimit"] + 1, row["retryCount"]
        yield from unless(found <= wanted, f"retryCount of {row['id']}", f"at most {wanted}", found)
        yield from unless(row["replayCount"] <= 3, f"replayCount of {row['id']}", "at most 3", row["replayCount"])
