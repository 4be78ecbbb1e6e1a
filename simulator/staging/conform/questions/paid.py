"""What payments show of the knobs. Those that may pay once more reserve what it may cost."""

from decimal import Decimal
from typing import Any

from simulator.staging.conform.checks.cases import voided
from simulator.staging.conform.checks.refused_payments import plan_order
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import NotExercised
from simulator.staging.conform.payments import PENDING, STATUSES, Order, state_of
from simulator.staging.conform.registry import question
from simulator.staging.conform.selection import known_lists, lists, selects
from simulator.staging.service import Answer

MOMENT_S = 2.0
EXTRA_CHARS = 1001
INVALID_EXTRAS = "Invalid_Extras"


def _outcome(answer: Answer) -> tuple[int, str, str]:
    """Status, remarks and the two as evidence."""
    remarks = str(state_of(answer).get("remarks", ""))
    if answer.status not in (200, 400):
        raise NotExercised(f"neither 200 nor 400: {answer}")
    return answer.status, remarks, f"answered {answer.status} {remarks}".rstrip()


@question("payment-status-codes", needs="payments")
def payment_status_codes(run: Run) -> tuple[Any, str]:
    codes: dict[str, int] = {}
    for payment in run.runner.make():
        for answer in payment.answers:
            data = state_of(answer)
            name = data.get("status" if answer.status == 200 else "remarks")
            if name in _NAMES_OF_CODES:
                codes[name] = int(data["statusCode"])
    for refusal in _refusals(run):
        data = state_of(refusal)
        if refusal.status == 400 and data.get("remarks") in _NAMES_OF_CODES:
            codes[data["remarks"]] = int(data["statusCode"])
    if not codes:
        raise NotExercised("no payment was answered with a status that the register names")
    return codes, "as seen in the answers of payments"


_NAMES_OF_CODES = {
    *STATUSES.values(), "Insufficient_Balance", "Invalid_Product", "Invalid_Account", INVALID_EXTRAS,
    "Invalid_Request", "Refid_Conflict", "Invalid_Denomination",
}  # fmt: skip


def _refusals(run: Run) -> list[Answer]:
    order = run.runner.orders[0]
    ceiling = run.runner.ceiling(order)
    changes: list[dict[str, Any]] = [{"product": "CONFORM-NO-SUCH-PRODUCT"}, {"amount": None}]
    return [run.runner.post(run.runner.body(order, **change), ceiling) for change in changes]


@question("payment-timestamp", needs="payments")
def payment_timestamp(run: Run) -> tuple[Any, str]:
    payment = next((one for one in run.runner.payments if one.is_final), None)
    if payment is None:
        raise NotExercised("no payment became final")
    first = state_of(run.runner.again(payment))
    run.session.clock.wait(MOMENT_S)
    second = state_of(run.runner.again(payment))
    if first["status"] != second["status"]:
        raise NotExercised("the status changed meanwhile")
    value = "status_change" if first["timestamp"] == second["timestamp"] else "answer"
    return value, f"two re-queries {MOMENT_S:g} s apart have {first['timestamp']} and {second['timestamp']}"


@question("failed-wallet", needs="payments")
def failed_wallet(run: Run) -> tuple[Any, str]:
    failed = STATUSES["failed"]
    for payment in run.runner.payments:
        pending = [state_of(one) for one in payment.answers if state_of(one).get("status") in PENDING]
        if payment.last.get("status") == failed and (pending or payment.last["cost"]):
            cost = payment.last["cost"]
            return ("keep_cost" if cost else "zero_cost"), f"a failed payment has cost {cost}"
        if payment.last.get("status") == failed:
            return "zero_cost", "a failed payment has cost 0"
    raise NotExercised("no payment failed; --pay an account that does")


@question("requery-balance", needs="payments")
def requery_balance(run: Run) -> tuple[Any, str]:
    payments = [one for one in run.runner.payments if one.last.get("status") not in (STATUSES["failed"], *PENDING)]
    if len(payments) < 2:
        raise NotExercised("it takes two payments that were successful")
    balance, now = Decimal(run.runner.again(payments[0]).at("data.balance")), run.runner.balance()
    own = payments[0].balances[1]
    if own == now:
        raise NotExercised("the balance is the same as after the payment")
    if balance not in (own, now):
        raise NotExercised(
            f"the balance {balance} is neither that after the payment ({own}) nor the present one ({now})"
        )
    return (
        "present" if balance == now else "own_entry"
    ), f"the balance is {now}, was {own} after it; it says {balance}"


@question("history-status-names", needs="payments")
def history_status_names(run: Run) -> tuple[Any, str]:
    run.runner.make()
    names = run.runner.pending_names
    if not names:
        raise NotExercised("no payment was pending when it was looked up")
    (name, *_) = names
    return ("payment" if name in PENDING else "filter"), f"a pending payment is {name} in the history"


@question("voided-cost", needs="payments")
def voided_cost(run: Run) -> tuple[Any, str]:
    payment, _, _ = voided(run)
    if payment.last.get("status") != STATUSES["refunded"]:
        raise NotExercised("the void was not completed in time")
    cost = payment.last["cost"]
    return ("keep" if cost else "zero"), f"the voided payment has cost {cost}"


@question("refid-reused-with-other-parameters", needs="payments")
def refid_reused(run: Run) -> tuple[Any, str]:
    payment = run.runner.payments[0]
    other = payment.body | {"account": payment.order.account[:-1] + ("1" if payment.order.account[-1] != "1" else "2")}
    answer = run.runner.post(other, run.runner.ceiling(payment.order))
    status, _, evidence = _outcome(answer)
    return ("return_original" if status == 200 else "reject"), f"a refid with another account {evidence}"


def _plain_order(run: Run) -> Order:
    """A payment of a pricing select without extras, whose product has none. Raises `NotExercised`."""
    codes = {product["code"] for product, _ in selects(run, "pricing", "reference")}
    for order in run.runner.orders:
        if order.product in codes and not run.products[order.product]["fulfillment"]["extras"] and not order.extras:
            return order
    raise NotExercised("--pay names no product with a list of amounts and without extras")


@question("unsupported-extras", needs="payments")
def unsupported_extras(run: Run) -> tuple[Any, str]:
    order = _plain_order(run)
    body = run.runner.body(order, extras={"subproduct_code": "CONFORM-NO-PLAN"})
    answer = run.runner.post(body, run.runner.ceiling(order))
    status, remarks, evidence = _outcome(answer)
    value = "ignore" if status == 200 else "reject" if remarks == INVALID_EXTRAS else "check_plan_code"
    return value, f"a plan code for {order.product}, which has none, {evidence}"


@question("extras-size", needs="payments")
def extras_size(run: Run) -> tuple[Any, str]:
    order = _plain_order(run)
    body = run.runner.body(order, extras={"note": "x" * EXTRA_CHARS})
    status, _, evidence = _outcome(run.runner.post(body, run.runner.ceiling(order)))
    return ("stored" if status == 200 else "every"), f"an extra of {EXTRA_CHARS} characters that is not used {evidence}"


def _plans_at(run: Run, order: Order) -> int:
    """How many options of the product's pricing field have the amount of a payment."""
    lists_of_product = (where for where in known_lists(run, "pricing") if where["product_code"] == order.product)
    items = (
        item for where in lists_of_product for item in run.good("/v2/options", "2026-09-16", **where).rows("items")
    )
    return sum(Decimal(item["denomination"]) == order.amount for item in items)


@question("plan-code-required", needs="payments")
def plan_code_required(run: Run) -> tuple[Any, str]:
    order = plan_order(run)
    body = run.runner.body(order, extras=None)
    answer = run.runner.post(body, run.runner.ceiling(order))
    status, _, evidence = _outcome(answer)
    code = state_of(answer).get("statusCode")
    if status == 400 and code == 44 and _plans_at(run, order) != 1:
        raise NotExercised("several plans have the amount: --pay one whose amount is its own")
    return ("when_ambiguous" if status == 200 else "always"), f"{order.product} without a plan code {evidence}"


@question("price-amount", needs="payments")
def price_amount(run: Run) -> tuple[Any, str]:
    orders = {order.product: order for order in run.runner.orders}
    for where in lists(run, "pricing"):
        order = orders.get(where["product_code"])
        if order is None:
            continue
        items = run.good("/v2/options", "2026-09-16", **where).rows("items")
        sold = {Decimal(item["denomination"]) for item in items}
        for item in items:
            price, face = Decimal(item["price"]["amount"]), Decimal(item["denomination"])
            if price > 0 and price not in sold and face <= order.amount:
                ceiling = run.runner.ceiling(order, max(face, price))
                answer = run.runner.post(run.runner.body(order, amount=str(price)), ceiling)
                status, _, evidence = _outcome(answer)
                return ("taken" if status == 200 else "refused"), f"the price {price} of {item['code']} {evidence}"
    raise NotExercised("--pay names no product with options whose price is no denomination")


@question("option-account", needs="payments")
def option_account(run: Run) -> tuple[Any, str]:
    for order in run.runner.orders:
        source = run.products[order.product]["fulfillment"]["account"] or {}
        code = order.extras.get("subproduct_code")
        if source.get("path") != "account_number" or code is None:
            continue
        where = {"product_code": order.product, "field_id": source["from_field"]}
        number = order.extras.get("ic_number", order.account)
        items = run.good("/v2/options", **where, account_number=number).rows("items")
        other = next((item["account_number"] for item in items if item["code"] != code), None)
        if other is None:
            continue
        answer = run.runner.post(run.runner.body(order, account=other), run.runner.ceiling(order))
        _, remarks, evidence = _outcome(answer)
        if remarks in ("Invalid_Account", INVALID_EXTRAS):
            return remarks, f"an account of another code {evidence}"
        raise NotExercised(f"an account of another code {evidence}")
    raise NotExercised("--pay names no product whose account comes from an option")
