"""The transaction history is sorted, complete over its pages, and has the right figures (SPEC 2.4, 4.14)."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

from simulator.staging.conform.checks.catalog_checks import in_pages
from simulator.staging.conform.context import Run, check
from simulator.staging.conform.findings import Departs, Departure, NotExercised, differ, unless
from simulator.staging.conform.payment_runner import balance_of
from simulator.staging.service import Answer

HISTORY, STATEMENT = "/v2/transactions", "/v2/balance-statement"
LIMIT = 100
# The names of payment statuses in the history, by the filter that finds them.
NAMES = {"SUCCESSFUL": {"Successful"}, "PENDING": {"Pending", "Accepted", "Processing"}, "FAILED": {"Failed"}}


def recent(run: Run, path: str, at_least: int = 1) -> Answer:
    """Return a hundred rows of the last month, of the history or the statement. Raises `NotExercised` for too few."""
    answer = run.good(path, date=run.days, limit=LIMIT)
    if len(answer.rows()) < at_least:
        raise NotExercised(f"{path} has fewer than {at_least} rows in the last month")
    return answer


def _sorted(path: str) -> Callable[[Run], Iterator[Departure]]:
    def run_check(run: Run) -> Iterator[Departure]:
        dates = [str(row["date"]) for row in recent(run, path, 2).rows()]
        wrong = next((later for earlier, later in pairwise(dates) if earlier < later), dates[0])
        is_sorted = dates in (sorted(dates), sorted(dates, reverse=True))
        yield from unless(is_sorted, "data.date", "sorted, in either direction", f"{wrong} out of its place")

    return run_check


check("4.14", "The history is sorted by date", id_="history-sorted")(_sorted(HISTORY))
check("4.17", "The statement is sorted by date", id_="statement-sorted")(_sorted(STATEMENT))


TRANSACTIONS = "transactions"


def counted_by_offset(run: Run) -> tuple[str, str]:
    """Return what `offset` counts, `transactions` or `pages` of `limit` transactions (`history-offset`), and the
    evidence. Raises `Departs`, and `NotExercised` for fewer than three transactions."""
    known = [row["trxid"] for row in recent(run, HISTORY, 3).rows()]
    first = next((row["trxid"] for row in run.good(HISTORY, date=run.days, limit=2, offset=1).rows()), None)
    if first not in known[1:3]:
        raise Departs("data.0.trxid with limit=2 and offset=1", " or ".join(map(str, known[1:3])), first)
    skipped = known.index(first)
    return (TRANSACTIONS if skipped == 1 else "pages"), f"with limit=2, offset=1 skips {skipped}"


@check("4.14", "The pages of the history are complete and without duplicates")
def history_pages(run: Run) -> Iterator[Departure]:
    def place_of(number: int, size: int) -> dict[str, int]:
        # Pages of a single transaction are the same in either unit.
        unit = size if size > 1 and counted_by_offset(run)[0] == TRANSACTIONS else 1
        return {"offset": (number - 1) * unit}

    whole = [row["trxid"] for row in recent(run, HISTORY, 2).rows()]
    yield from in_pages(run, HISTORY, "data", "trxid", whole, {"date": run.days}, place_of=place_of)


@check("2.4", "A trxid and a refid occur once in the history")
def history_ids(run: Run) -> Iterator[Departure]:
    rows = recent(run, HISTORY).rows()
    for name in ("trxid", "refid"):
        values = [row[name] for row in rows]
        yield from differ(name, [], sorted({value for value in values if values.count(value) > 1}))


@check("2.4", "profit is total_amount minus total_price, and the counts add up")
def history_figures(run: Run) -> Iterator[Departure]:
    answer = recent(run, HISTORY)
    meta = answer.at("meta")
    profit = Decimal(meta["total_amount"]) - Decimal(meta["total_price"])
    yield from differ("meta.profit", profit, Decimal(meta["profit"]))
    counts = sum(int(meta[f"{name}_count"]) for name in ("successful", "failed", "pending", "refund"))
    yield from differ("meta.transaction_count", counts, int(meta["transaction_count"]))


@check("2.4", "total_price is the price of the successful transactions")
def history_total(run: Run) -> Iterator[Departure]:
    answer = run.good(HISTORY, date=run.days, limit=LIMIT, status="SUCCESSFUL")
    rows = answer.rows()
    if not rows or len(rows) != int(answer.at("meta.transaction_count")):
        raise NotExercised("the successful transactions of the last month do not fit on one page")
    yield from differ(
        "meta.total_price", sum(Decimal(row["price"]) for row in rows), Decimal(answer.at("meta.total_price"))
    )


@check("4.14", "status chooses transactions, and may be repeated")
def history_status(run: Run) -> Iterator[Departure]:
    recent(run, HISTORY)
    for chosen in (["SUCCESSFUL"], ["FAILED"], ["FAILED", "SUCCESSFUL"]):  # sorted, however repeated keys are signed
        names = set().union(*(NAMES[name] for name in chosen))
        for row in run.good(HISTORY, date=run.days, limit=LIMIT, status=chosen).rows():
            found = row["status_name"]
            yield from unless(found in names, f"status_name with {chosen}", " or ".join(sorted(names)), found)


@check("4.14", "account and product choose transactions, and none is left out")
def history_filters(run: Run) -> Iterator[Departure]:
    rows = recent(run, HISTORY).rows()
    for name, column in (("account", "account"), ("product", "product_code")):
        value = rows[0][column]
        found = run.good(HISTORY, date=run.days, limit=LIMIT, **{name: value}).rows()
        wanted = [row["trxid"] for row in rows if row[column] == value]
        got = [row["trxid"] for row in found]
        yield from unless(set(wanted) <= set(got), f"data with {name}", f"all {len(wanted)} of them", len(got))
        for row in found:
            yield from differ(f"{column} with {name}={value}", value, row[column])


@check("4.14", "date selects the transactions of a day")
def history_date(run: Run) -> Iterator[Departure]:
    rows = recent(run, HISTORY).rows()
    day = str(rows[0]["date"])[:10]
    found = run.good(HISTORY, date=day, limit=LIMIT).rows()
    for row in found:
        yield from differ(f"day of {row['trxid']}", day, str(row["date"])[:10])
    wanted = {row["trxid"] for row in rows if str(row["date"]).startswith(day)}
    missing = sorted(wanted - {row["trxid"] for row in found})
    yield from differ(f"data of {day}, missing", [], missing if len(found) < LIMIT else [])


SUMS = {"total_transactions": "TRANSACTION", "total_deposit": "DEPOSIT", "total_refund": "REFUND"}


def oldest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries in the order of their creation, for an ascending or a descending list."""
    dates = [str(row["date"]) for row in rows]
    if dates[0] == dates[-1]:
        return rows if rows[0]["id"] <= rows[-1]["id"] else rows[::-1]
    return rows if dates[0] < dates[-1] else rows[::-1]


@check("2.5", "Each balance is the balance before plus the amount")
def statement_arithmetic(run: Run) -> Iterator[Departure]:
    rows = oldest_first(recent(run, STATEMENT, 2).rows())
    for earlier, later in pairwise(rows):
        expected = Decimal(earlier["balance"]) + Decimal(later["amount"])
        yield from differ(f"balance of entry {later['id']}", expected, Decimal(later["balance"]))


@check("4.17", "The balance is that after the last entry")
def statement_balance(run: Run) -> Iterator[Departure]:
    rows = recent(run, STATEMENT).rows()
    total = int(recent(run, STATEMENT).at("meta.total"))
    before = balance_of(run.session.call("GET", "/v2/balance"))
    newest = oldest_first(rows)[-1]
    if total > len(rows) and newest is rows[-1]:
        raise NotExercised("the newest entry is on another page")
    fresh = run.session.call("GET", "/v2/balance")
    if balance_of(fresh) != before:
        raise NotExercised("the balance changes while we look")
    yield from differ("balance", Decimal(newest["balance"]), before)


@check("2.5", "Payments are negative; deposits and refunds are positive")
def statement_signs(run: Run) -> Iterator[Departure]:
    for row in recent(run, STATEMENT).rows():
        amount, kind = Decimal(row["amount"]), row["type"]
        is_right = amount <= 0 if kind == "TRANSACTION" else amount >= 0
        yield from unless(is_right, f"amount of entry {row['id']} ({kind})", "a change in the other direction", amount)


@check("2.5", "The summary adds up the entries of each type")
def statement_summary(run: Run) -> Iterator[Departure]:
    answer = recent(run, STATEMENT)
    rows = answer.rows()
    if len(rows) < int(answer.at("meta.total")):
        raise NotExercised("the statement of the last month does not fit on one page")
    for name, kind in SUMS.items():
        amounts = [Decimal(row["amount"]) for row in rows if row["type"] == kind]
        yield from differ(f"summary.{name}.count", len(amounts), answer.at(f"summary.{name}.count"))
        total = Decimal(answer.at(f"summary.{name}.amount"))
        yield from differ(f"summary.{name}.amount", abs(sum(amounts, Decimal(0))), abs(total))


@check("4.17", "The pages of the statement are complete, and their meta and links agree")
def statement_pages(run: Run) -> Iterator[Departure]:
    answer = recent(run, STATEMENT, 2)
    whole, total = [row["id"] for row in answer.rows()], int(answer.at("meta.total"))
    yield from in_pages(run, STATEMENT, "data", "id", whole, {"date": run.days}, total=total)


@check("4.17", "type chooses entries")
def statement_type(run: Run) -> Iterator[Departure]:
    rows = recent(run, STATEMENT).rows()
    kind = rows[0]["type"]
    found = run.good(STATEMENT, date=run.days, limit=LIMIT, type=kind).rows()
    for row in found:
        yield from differ(f"type of entry {row['id']} with type={kind}", kind, row["type"])
    wanted = sum(row["type"] == kind for row in rows)
    yield from unless(len(found) >= wanted, f"data with type={kind}", f"at least {wanted}", len(found))


@check("2.5", "The costs of successful transactions are in the statement")
def statement_history(run: Run) -> Iterator[Departure]:
    history, statement = recent(run, HISTORY), recent(run, STATEMENT)
    if len(statement.rows()) < int(statement.at("meta.total")) or len(history.rows()) == LIMIT:
        raise NotExercised("the last month does not fit on one page")
    debits = [-Decimal(row["amount"]) for row in statement.rows() if row["type"] == "TRANSACTION"]
    for row in history.rows():
        if row["status_name"] == "Successful":
            price = Decimal(row["price"])
            yield from unless(price in debits, f"price of {row['trxid']}", "the amount of an entry", price)
            if price in debits:
                debits.remove(price)
