"""The transaction history: sorted, complete over its pages, its figures right (SPEC 2.4, 4.14)."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from simulator.staging.conform.checks.options import compared
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import Departure, NotExercised, differ, unless
from simulator.staging.conform.registry import check
from simulator.staging.service import Answer

PATH = "/v2/transactions"
LIMIT = 100
# The names that a payment's status has in the history, by the filter that finds it.
NAMES = {"SUCCESSFUL": {"Successful"}, "PENDING": {"Pending", "Accepted", "Processing"}, "FAILED": {"Failed"}}


def recent(run: Run, at_least: int = 1) -> Answer:
    """The newest or oldest hundred transactions of the last month. Raises `NotExercised` for fewer than are needed."""
    answer = run.good(PATH, date=run.days, limit=LIMIT)
    if len(answer.rows()) < at_least:
        raise NotExercised(f"the history has fewer than {at_least} transactions in the last month")
    return answer


@check("history-sorted", "4.14", "The history is sorted by date")
def history_sorted(run: Run) -> Iterator[Departure]:
    dates = [str(row["date"]) for row in recent(run, 2).rows()]
    is_sorted = dates in (sorted(dates), sorted(dates, reverse=True))
    wrong = next((two for one, two in pairwise(dates) if one < two), dates[0])
    yield from unless(is_sorted, "data.date", "sorted, in either direction", f"{wrong} out of its place")


@check("history-pages", "4.14", "The pages of the history are complete and without duplicates")
def history_pages(run: Run) -> Iterator[Departure]:
    whole = [row["trxid"] for row in recent(run, 2).rows()]
    size = max(1, -(-len(whole) // 3))
    paged: list[str] = []
    for offset in range(0, len(whole), size):
        rows = run.good(PATH, date=run.days, limit=size, offset=offset).rows()
        yield from unless(len(rows) <= size, f"data with limit={size}", f"at most {size}", len(rows))
        paged += [row["trxid"] for row in rows]
    yield from compared("data of all pages", whole, paged[: len(whole)])


@check("history-ids", "2.4", "A trxid and a refid occur once in the history")
def history_ids(run: Run) -> Iterator[Departure]:
    rows = recent(run).rows()
    for name in ("trxid", "refid"):
        values = [row[name] for row in rows]
        yield from differ(name, [], sorted({one for one in values if values.count(one) > 1}))


@check("history-figures", "2.4", "profit is total_amount minus total_price, and the counts add up")
def history_figures(run: Run) -> Iterator[Departure]:
    answer = recent(run)
    meta = answer.at("meta")
    profit = Decimal(meta["total_amount"]) - Decimal(meta["total_price"])
    yield from differ("meta.profit", profit, Decimal(meta["profit"]))
    counts = sum(int(meta[f"{name}_count"]) for name in ("successful", "failed", "pending", "refund"))
    yield from differ("meta.transaction_count", counts, int(meta["transaction_count"]))


@check("history-total", "2.4", "total_price is the price of the successful transactions")
def history_total(run: Run) -> Iterator[Departure]:
    answer = run.good(PATH, date=run.days, limit=LIMIT, status="SUCCESSFUL")
    rows = answer.rows()
    if not rows or len(rows) != int(answer.at("meta.transaction_count")):
        raise NotExercised("the successful transactions of the last month do not fit on one page")
    yield from differ(
        "meta.total_price", sum(Decimal(row["price"]) for row in rows), Decimal(answer.at("meta.total_price"))
    )


@check("history-status", "4.14", "status chooses transactions, and may be repeated")
def history_status(run: Run) -> Iterator[Departure]:
    recent(run)
    for chosen in (["SUCCESSFUL"], ["FAILED"], ["SUCCESSFUL", "FAILED"]):
        names = set().union(*(NAMES[one] for one in chosen))
        for row in run.good(PATH, date=run.days, limit=LIMIT, status=chosen).rows():
            found = row["status_name"]
            yield from unless(found in names, f"status_name with {chosen}", " or ".join(sorted(names)), found)


@check("history-filters", "4.14", "account and product choose transactions, and none is left out")
def history_filters(run: Run) -> Iterator[Departure]:
    rows = recent(run).rows()
    for name, column in (("account", "account"), ("product", "product_code")):
        value = rows[0][column]
        found = run.good(PATH, date=run.days, limit=LIMIT, **{name: value}).rows()
        wanted = [row["trxid"] for row in rows if row[column] == value]
        got = [row["trxid"] for row in found]
        yield from unless(set(wanted) <= set(got), f"data with {name}", f"all {len(wanted)} of them", len(got))
        for row in found:
            yield from differ(f"{column} with {name}={value}", value, row[column])


@check("history-date", "4.14", "date chooses the transactions of one day")
def history_date(run: Run) -> Iterator[Departure]:
    rows = recent(run).rows()
    day = str(rows[0]["date"])[:10]
    found = run.good(PATH, date=day, limit=LIMIT).rows()
    for row in found:
        yield from differ(f"day of {row['trxid']}", day, str(row["date"])[:10])
    wanted = {row["trxid"] for row in rows if str(row["date"]).startswith(day)}
    missing = sorted(wanted - {row["trxid"] for row in found})
    yield from differ(f"data of {day}, missing", [], missing if len(found) < LIMIT else [])
