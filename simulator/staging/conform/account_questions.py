"""Questions about the wallet, the history, the webhook and the checks' payments. No question makes a payment."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from simulator.staging.conform.checks.configuration import WEBHOOK, a_webhook, put
from simulator.staging.conform.checks.payment_checks import voided
from simulator.staging.conform.checks.statements import HISTORY, STATEMENT, counted_by_offset, recent
from simulator.staging.conform.context import Run, question
from simulator.staging.conform.findings import NotExercised
from simulator.staging.conform.payment_runner import PENDING, STATUSES
from simulator.staging.conform.questions import category_of
from simulator.staging.service import Answer

MOMENT_S = 2.0


def _after_payments(run: Run, path: str, at_least: int = 1) -> Answer:
    """Read the history or the statement after the payments, if they are allowed, so that it has entries."""
    if run.paying is not None:
        run.paying.make()
    return recent(run, path, at_least)


def _order(path: str) -> Callable[[Run], tuple[Any, str]]:
    def ask(run: Run) -> tuple[Any, str]:
        dates = [str(row["date"]) for row in _after_payments(run, path, 2).rows()]
        if len(set(dates)) < 2:
            raise NotExercised("all have the same time")
        evidence = f"the first of {len(dates)} is of {dates[0]}, the last of {dates[-1]}"
        return ("newest_first" if dates[0] > dates[-1] else "oldest_first"), evidence

    return ask


question(knob="history-order")(_order(HISTORY))
question(knob="statement-order")(_order(STATEMENT))


@question()
def history_meta(run: Run) -> tuple[Any, str]:
    count = int(_after_payments(run, HISTORY, 2).at("meta.transaction_count"))
    paged = int(run.good("/v2/transactions", date=run.days, limit=1).at("meta.transaction_count"))
    return ("page" if paged == 1 else "filter"), f"with limit=1 transaction_count is {paged} of {count}"


@question()
def history_offset(run: Run) -> tuple[Any, str]:
    _after_payments(run, HISTORY, 3)
    return counted_by_offset(run)


@question()
def history_category(run: Run) -> tuple[Any, str]:
    return category_of(run, _after_payments(run, HISTORY).rows(), "name", "id")


@question()
def statement_summary(run: Run) -> tuple[Any, str]:
    amount = Decimal(_after_payments(run, STATEMENT).at("summary.total_transactions.amount"))
    if not amount:
        raise NotExercised("the statement has no payments")
    return ("signed" if amount < 0 else "unsigned"), f"total_transactions is {amount}"


@question()
def statement_links(run: Run) -> tuple[Any, str]:
    first = str(run.good("/v2/balance-statement", date=run.days, limit=100).at("links.first"))
    return ("relative" if first.startswith("/") else "absolute"), f"links.first begins with {first[:12]}"


@question(needs="configuration")
def webhook_updated(run: Run) -> tuple[Any, str]:
    with a_webhook(run) as (url, _):
        put(run, url)
        before = run.session.call("GET", WEBHOOK).at("updated_at")
        run.session.clock.wait(MOMENT_S)
        put(run, url)
        after = run.session.call("GET", WEBHOOK).at("updated_at")
    return ("changes" if before == after else "requests"), f"updated_at was {before}, and {after} after the same PUT"


@question(needs="payments")
def payment_status_codes(run: Run) -> tuple[Any, str]:
    codes: dict[str, int] = {}
    for payment in run.runner.make():
        for answer in payment.answers:
            data = answer.data
            name = data.get("status" if answer.status == 200 else "remarks")
            if name in _NAMES_OF_CODES:
                codes[name] = int(data["statusCode"])
    if not codes:
        raise NotExercised("no payment was answered with a status that the register names")
    return codes, "as seen in the answers of payments"


_NAMES_OF_CODES = {
    *STATUSES.values(), "Insufficient_Balance", "Invalid_Product", "Invalid_Account", "Invalid_Extras",
    "Invalid_Request", "Refid_Conflict", "Invalid_Denomination",
}  # fmt: skip


@question(needs="payments")
def payment_timestamp(run: Run) -> tuple[Any, str]:
    payment = next((payment for payment in run.runner.payments if payment.is_final), None)
    if payment is None:
        raise NotExercised("no payment became final")
    first = run.runner.post(payment).data
    run.session.clock.wait(MOMENT_S)
    second = run.runner.post(payment).data
    if first["status"] != second["status"]:
        raise NotExercised("the status changed meanwhile")
    value = "status_change" if first["timestamp"] == second["timestamp"] else "answer"
    return value, f"two re-queries {MOMENT_S:g} s apart have {first['timestamp']} and {second['timestamp']}"


@question(needs="payments")
def failed_wallet(run: Run) -> tuple[Any, str]:
    failed = next(
        (payment.last for payment in run.runner.payments if payment.last.get("status") == STATUSES["failed"]), None
    )
    if failed is None:
        raise NotExercised("no payment failed; --pay an account that does")
    return ("keep_cost" if failed["cost"] else "zero_cost"), f"a failed payment has cost {failed['cost']}"


@question(needs="payments")
def requery_balance(run: Run) -> tuple[Any, str]:
    payments = [
        payment for payment in run.runner.payments if payment.last.get("status") not in (STATUSES["failed"], *PENDING)
    ]
    if len(payments) < 2:
        raise NotExercised("it takes two payments that were successful")
    balance, now = Decimal(run.runner.post(payments[0]).at("data.balance")), run.runner.balance()
    own = payments[0].balances[0][1]
    if own == now:
        raise NotExercised("the balance is the same as after the payment")
    if balance not in (own, now):
        raise NotExercised(
            f"the balance {balance} is neither that after the payment ({own}) nor the present one ({now})"
        )
    return (
        "present" if balance == now else "own_entry"
    ), f"the balance is {now}, was {own} after it; it says {balance}"


@question(needs="payments")
def history_status_names(run: Run) -> tuple[Any, str]:
    run.runner.make()
    if not run.runner.pending_names:
        raise NotExercised("no payment was pending when it was looked up")
    name = min(run.runner.pending_names)
    return ("payment" if name in PENDING else "filter"), f"a pending payment is {name} in the history"


@question(needs="payments")
def voided_cost(run: Run) -> tuple[Any, str]:
    payment, _, _ = voided(run)
    if payment.last.get("status") != STATUSES["refunded"]:
        raise NotExercised("the void was not completed in time")
    cost = payment.last["cost"]
    return ("keep" if cost else "zero"), f"the voided payment has cost {cost}"
