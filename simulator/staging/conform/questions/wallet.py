"""What the history, the statement and the webhook show of the knobs."""

from decimal import Decimal
from typing import Any

from simulator.staging.conform.checks.configuration import NOBODY, WEBHOOK, put, webhook_kept
from simulator.staging.conform.checks.history import recent
from simulator.staging.conform.checks.statement import entries
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import NotExercised
from simulator.staging.conform.registry import question
from simulator.staging.conform.selection import categories

MOMENT_S = 2.0


def _before_payments(run: Run) -> None:
    """Let the payments be made, where they are allowed, so that there is something to see."""
    if run.allows("payments"):
        run.runner.make()


def _order(dates: list[str]) -> str:
    if len(set(dates)) < 2:
        raise NotExercised("all have the same time")
    return "newest_first" if dates[0] > dates[-1] else "oldest_first"


@question("history-order")
def history_order(run: Run) -> tuple[Any, str]:
    _before_payments(run)
    dates = [str(row["date"]) for row in recent(run, 2).rows()]
    return _order(dates), f"the first of {len(dates)} is of {dates[0]}, the last of {dates[-1]}"


@question("statement-order")
def statement_order(run: Run) -> tuple[Any, str]:
    _before_payments(run)
    dates = [str(row["date"]) for row in entries(run, 2).rows()]
    return _order(dates), f"the first of {len(dates)} is of {dates[0]}, the last of {dates[-1]}"


@question("history-meta")
def history_meta(run: Run) -> tuple[Any, str]:
    _before_payments(run)
    count = int(recent(run, 2).at("meta.transaction_count"))
    paged = int(run.good("/v2/transactions", date=run.days, limit=1).at("meta.transaction_count"))
    return ("page" if paged == 1 else "filter"), f"with limit=1 transaction_count is {paged} of {count}"


@question("history-category")
def history_category(run: Run) -> tuple[Any, str]:
    _before_payments(run)
    for row in recent(run).rows():
        for _, category in categories(run):
            if row["product_code"] in category["product_codes"] and category["name"] != category["id"]:
                evidence = f"{row['product_code']} has the category {row['category']!r}"
                if row["category"] == category["name"]:
                    return "name", evidence
                if row["category"] == category["id"]:
                    return "id", evidence
    raise NotExercised("no transaction has a category of the tree")


@question("statement-summary")
def statement_summary(run: Run) -> tuple[Any, str]:
    _before_payments(run)
    amount = Decimal(entries(run).at("summary.total_transactions.amount"))
    if not amount:
        raise NotExercised("the statement has no payments")
    return ("signed" if amount < 0 else "unsigned"), f"total_transactions is {amount}"


@question("statement-links")
def statement_links(run: Run) -> tuple[Any, str]:
    _before_payments(run)
    first = str(run.good("/v2/balance-statement", date=run.days, limit=100).at("links.first"))
    return ("relative" if first.startswith("/") else "absolute"), f"links.first begins with {first[:12]}"


@question("webhook-updated", needs="configuration")
def webhook_updated(run: Run) -> tuple[Any, str]:
    with webhook_kept(run) as url:
        put(run, url or NOBODY)
        before = run.session.call("GET", WEBHOOK).at("updated_at")
        run.session.clock.wait(MOMENT_S)
        put(run, url or NOBODY)
        after = run.session.call("GET", WEBHOOK).at("updated_at")
    return ("changes" if before == after else "requests"), f"updated_at was {before}, and {after} after the same PUT"
