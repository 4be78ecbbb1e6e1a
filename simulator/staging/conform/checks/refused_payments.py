"""Payments that must be refused before anything is created (SPEC 4.11, 7.3). Each may cost no more than is left."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from simulator.staging.conform.checks.catalog import UNKNOWN
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import Departure, NotExercised, differ, unless
from simulator.staging.conform.payments import STATUSES, Order
from simulator.staging.conform.registry import check
from simulator.staging.conform.selection import selects
from simulator.staging.service import Answer

NEVER_SOLD = Decimal("0.37")


def refused(run: Run, body: dict[str, Any], ceiling: Decimal) -> tuple[Answer, list[Departure]]:
    """Send a payment that must be refused: the answer, and what departs from a refusal that creates nothing."""
    before = run.runner.balance()
    answer = run.runner.post(body, ceiling)
    found = list(run.expected(answer, 400))
    if answer.status == 400 and "data" in answer.json:
        for name, wanted in (("status", STATUSES["failed"]), ("cost", 0)):
            found += differ(f"data.{name}", wanted, answer.at(f"data.{name}"))
        for name in ("refid", "product", "account"):
            if name in body:
                found += differ(f"data.{name}", body[name], answer.at(f"data.{name}"))
    found += differ("the wallet", before, run.runner.balance())
    return answer, found


@check("refuse-product", "4.11", "A payment of an unknown product is refused, and nothing is debited", needs="payments")
def refuse_product(run: Run) -> Iterator[Departure]:
    body = run.runner.body(run.runner.orders[0], product=UNKNOWN)
    yield from refused(run, body, run.runner.ceiling(run.runner.orders[0]))[1]


@check("refuse-missing", "4.11", "A payment without one of its members is refused", needs="payments")
def refuse_missing(run: Run) -> Iterator[Departure]:
    order = run.runner.orders[0]
    for name in ("refid", "product", "account", "amount"):
        yield from refused(run, run.runner.body(order, **{name: None}), run.runner.ceiling(order))[1]


@check("refuse-refid", "8", "A refid of more than 50 characters is refused", needs="payments")
def refuse_refid(run: Run) -> Iterator[Departure]:
    order = run.runner.orders[0]
    yield from refused(run, run.runner.body(order, refid=run.runner.refid().ljust(51, "x")), run.runner.ceiling(order))[
        1
    ]


@check("refuse-amount", "7.3", "An amount that is not sold is refused with 58 Invalid_Denomination", needs="payments")
def refuse_amount(run: Run) -> Iterator[Departure]:
    select = {product["code"] for product, _ in selects(run, "pricing", "reference")}
    order = next((one for one in run.runner.orders if one.product in select and not one.extras), None)
    if order is None:
        raise NotExercised("--pay names no product whose amounts are a list")
    body = run.runner.body(order, amount=str(NEVER_SOLD))
    answer, found = refused(run, body, run.runner.ceiling(order, NEVER_SOLD))
    yield from found
    if answer.status == 400:
        yield from differ("data.statusCode", 58, answer.at("data.statusCode"))
        yield from differ("data.remarks", "Invalid_Denomination", answer.at("data.remarks"))


def plan_order(run: Run) -> Order:
    """A payment with a plan code. Raises `NotExercised` without one."""
    codes = {product["code"] for product, _ in selects(run, "pricing")}
    for order in run.runner.orders:
        if order.product in codes and "subproduct_code" in order.extras:
            return order
    raise NotExercised("--pay names no payment with a plan code (:subproduct_code=CODE)")


@check("refuse-plan", "4.11", "An unknown plan code is refused with 44, and the remarks name it", needs="payments")
def refuse_plan(run: Run) -> Iterator[Departure]:
    order = plan_order(run)
    unknown = "CONFORM-NO-PLAN"
    body = run.runner.body(order, extras=dict(order.extras) | {"subproduct_code": unknown})
    answer, found = refused(run, body, run.runner.ceiling(order))
    yield from found
    if answer.status == 400:
        yield from differ("data.statusCode", 44, answer.at("data.statusCode"))
        remarks = answer.at("data.remarks")
        yield from unless(unknown in str(remarks), "data.remarks", f"a text that names {unknown}", remarks)


@check("refuse-plan-amount", "4.11", "A plan code with another amount is refused with 44", needs="payments")
def refuse_plan_amount(run: Run) -> Iterator[Departure]:
    order = plan_order(run)
    body = run.runner.body(order, amount=str(order.amount + NEVER_SOLD))
    answer, found = refused(run, body, run.runner.ceiling(order, order.amount + NEVER_SOLD))
    yield from found
    if answer.status == 400:
        yield from differ("data.statusCode", 44, answer.at("data.statusCode"))
