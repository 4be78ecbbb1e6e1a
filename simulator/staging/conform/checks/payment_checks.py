"""Payments are made once, followed to their end, and found in wallet, statement and history; disputes and voids of them
(SPEC 2.3, 3.1, 4.11 to 4.13)."""

from collections.abc import Iterator
from decimal import Decimal
from secrets import token_hex
from typing import Any

from simulator.staging.conform.checks.catalog_checks import UNKNOWN, cost_of
from simulator.staging.conform.checks.reads import of_its_time
from simulator.staging.conform.context import Run, check, selects
from simulator.staging.conform.findings import Departs, Departure, NotExercised, differ, unless
from simulator.staging.conform.payment_runner import CENT, FINAL_NAMES, PAID, PENDING, STATUSES, Order, PlannedPayment
from simulator.staging.service import Answer, target
from simulator.wire.formats import is_integer_when_whole

UNCHANGED_FIELDS = ("refid", "product", "account", "amount", "productName")


def paid(run: Run) -> list[PlannedPayment]:
    """Return the successful payments. Raises `NotExercised` without any."""
    found = [payment for payment in run.runner.payments if payment.last.get("status") == PAID]
    if not found:
        raise NotExercised("no payment was successful in time")
    return found


@check("4.11", "A payment is created, and its answer repeats the request", needs="payments")
def pay_created(run: Run) -> Iterator[Departure]:
    for payment in run.runner.make():
        for text in payment.lost:
            run.note(f"{payment.refid}: {text}")
        if not payment.answers:
            yield Departure(f"the answer of {payment.refid}", "a state of the payment", "; ".join(payment.lost))
            continue
        if payment.first.status == 400:
            yield from run.expected(payment.first, 400)
            run.note(f"{payment.order.product} was refused: {payment.first.at('data.remarks')}")
            continue
        yield from run.expected(payment.first, 200)
        data = payment.first.data
        for name in ("refid", "product", "account"):
            yield from differ(f"data.{name}", payment.body[name], data[name])
        yield from differ("data.amount", payment.order.amount, Decimal(data["amount"]))
    _ = run.runner.payments  # raises NotExercised without any


@check("2.3", "amount is an integer when it is whole", needs="payments")
def pay_amount(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        amount = payment.first.at("data.amount")
        is_right = is_integer_when_whole(amount, payment.order.amount)
        yield from unless(is_right, "data.amount", f"the number {payment.order.amount}", payment.first)


@check("3.1", "A payment becomes final, and stays so", needs="payments")
def pay_final(run: Run) -> Iterator[Departure]:
    order = [STATUSES["accepted"], STATUSES["processing"], "final"]
    for payment in run.runner.payments:
        names = [answer.data.get("status") for answer in payment.answers]
        ranks = [order.index(str(name)) if name in PENDING else 2 for name in names]
        yield from unless(ranks == sorted(ranks), "status in its order", "never back", " → ".join(map(str, names)))
        if not payment.is_final:
            run.note(f"{payment.refid} is {payment.last.get('status')} after all the time that --wait allows")
            continue
        again = run.runner.post(payment)
        yield from run.expected(again, 200)
        yield from differ("data.status of a final payment", names[-1], again.at("data.status"))


@check("2.3", "A successful payment is spelled as documented", needs="payments")
def pay_spelling(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        for answer in payment.answers:
            name = answer.at("data.status")
            yield from unless(name in STATUSES.values(), "data.status", " or ".join(STATUSES.values()), name)
            code = answer.at("data.statusCode")
            if name == PAID:
                yield from differ("data.statusCode of a successful payment", 20, code)


@check("2.3", "A payment's timestamp is in GMT+8, and never goes back", needs="payments")
def pay_timestamp(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        times = [str(answer.at("data.timestamp")) for answer in payment.answers]
        yield from of_its_time(run, payment.first, "data.timestamp", times[0])
        yield from unless(times == sorted(times), f"data.timestamp of {payment.refid}", "never back", " → ".join(times))


@check("2.3", "The wallet loses what a payment costs, and its answer has the balance", needs="payments")
def pay_wallet(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        if payment.first.data.get("status") != STATUSES["failed"]:
            before, after = payment.balances[0]
            yield from differ(f"the wallet after {payment.refid}", before - payment.cost, after)
            yield from differ("data.balance", after, Decimal(payment.first.at("data.balance")))


@check("2.1", "A payment costs what the product's pricing says", needs="payments")
def pay_cost(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        product = run.products[payment.order.product]
        wanted = cost_of(product, payment.order.amount)
        if payment.first.data.get("status") != STATUSES["failed"]:
            is_right = abs(payment.cost - wanted) <= CENT
            yield from unless(is_right, f"data.cost of {payment.order.product}", f"{wanted:.2f}", payment.cost)


@check("2.4", "A payment is in the history as its answer says", needs="payments")
def pay_history(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        row = next(iter(run.runner.records(payment)), None)
        if row is None:
            yield Departure(f"history of {payment.refid}", "a record", "none")
            continue
        last = payment.last
        yield from differ("product_code", last["product"], row["product_code"])
        yield from differ("account", last["account"], row["account"])
        yield from differ("amount", Decimal(last["amount"]), Decimal(row["amount"]))
        if payment.is_final:
            yield from differ("status_code", str(last["statusCode"]), row["status_code"])
            yield from differ("status_name", FINAL_NAMES[last["status"]], row["status_name"])
            yield from differ("sn", last["sn"], row["sn"])
        if last["status"] == PAID:
            yield from differ("price", Decimal(last["cost"]), Decimal(row["price"]))


@check("2.5", "A payment is in the statement with what it cost", needs="payments")
def pay_statement(run: Run) -> Iterator[Departure]:
    payments = run.runner.payments  # made before the statement is read
    answer = run.session.call("GET", target("/v2/balance-statement", date=run.days, limit=100, type="TRANSACTION"))
    left = [-Decimal(row["amount"]) for row in answer.rows()]
    for payment in payments:
        if payment.first.data.get("status") == STATUSES["failed"]:
            continue
        yield from unless(payment.cost in left, f"an entry of {payment.refid}", f"-{payment.cost}", "none")
        if payment.cost in left:
            left.remove(payment.cost)


@check("4.11", "A refid that is sent again is the same payment, and costs nothing more", needs="payments")
def pay_idempotent(run: Run) -> Iterator[Departure]:
    for payment in run.runner.make():
        more = f"{sum(payment.falls[1:])} less after {payment.refid} was sent again"
        yield from unless(len(payment.falls) < 2, "the wallet", "nothing more is debited", more)
    for payment in run.runner.payments:
        first = payment.first.data
        for answer in payment.answers[1:]:
            yield from run.expected(answer, 200)
            again = answer.data
            for name in UNCHANGED_FIELDS:
                yield from differ(f"data.{name} when it is sent again", first[name], again[name])
        rows = run.runner.records(payment)
        yield from differ(f"history of {payment.refid}", 1, len(rows))
    if not any(payment.falls for payment in run.runner.payments if len(payment.answers) > 1):
        raise NotExercised("the wallet does not fall with a payment, so it does not show that a refid pays only once")


NEVER_SOLD = Decimal("0.37")


def refused(run: Run, order: Order, changes: dict[str, Any], code: int = 0, remarks: str = "") -> Iterator[Departure]:
    """Send a payment with these changes, which has to be refused, with this code and a part of its remarks, if any.
    Yield departures from a refusal that creates no payment."""
    body, before = run.runner.body(order, **changes), run.runner.balance()
    answer = run.runner.post(PlannedPayment(order, body))
    yield from run.expected(answer, 400)
    if answer.status == 400 and "data" in answer.json:
        wanted = {"status": STATUSES["failed"], "cost": 0} | ({"statusCode": code} if code else {})
        wanted |= {name: body[name] for name in ("refid", "product", "account") if name in body}
        for name, value in wanted.items():
            yield from differ(f"data.{name}", value, answer.at(f"data.{name}"))
        found = str(answer.data.get("remarks"))
        yield from unless(remarks in found, "data.remarks", f"a text with {remarks}", found)
    yield from differ("the wallet", before, run.runner.balance())


@check("4.11", "A payment of an unknown product is refused, and nothing is debited", needs="payments")
def refuse_product(run: Run) -> Iterator[Departure]:
    yield from refused(run, run.runner.orders[0], {"product": UNKNOWN})


@check("4.11", "A payment without one of its members is refused", needs="payments")
def refuse_missing(run: Run) -> Iterator[Departure]:
    for name in ("refid", "product", "account", "amount"):
        yield from refused(run, run.runner.orders[0], {name: None})


@check("8", "A refid of more than 50 characters is refused", needs="payments")
def refuse_refid(run: Run) -> Iterator[Departure]:
    yield from refused(run, run.runner.orders[0], {"refid": f"conform-{token_hex(22)}"})


@check("7.3", "An amount that is not sold is refused with 58 Invalid_Denomination", needs="payments")
def refuse_amount(run: Run) -> Iterator[Departure]:
    select = {product["code"] for product, _ in selects(run, "pricing", "reference")}
    orders = (payment.order for payment in run.runner.payments)
    order = next((order for order in orders if order.product in select and not order.extras), None)
    if order is None:
        raise NotExercised("no payment was made of a product whose amounts are a list")
    yield from refused(run, order, {"amount": str(NEVER_SOLD)}, 58, "Invalid_Denomination")


def plan_order(run: Run) -> Order:
    """Return an order with a plan code that the service accepted. Raises `NotExercised` without such an order."""
    codes = {product["code"] for product, _ in selects(run, "pricing")}
    for order in (payment.order for payment in run.runner.payments):
        if order.product in codes and "subproduct_code" in order.extras:
            return order
    raise NotExercised("no payment with a plan code was made (--pay …:subproduct_code=CODE)")


@check("4.11", "An unknown plan code is refused with 44, and the remarks name it", needs="payments")
def refuse_plan(run: Run) -> Iterator[Departure]:
    order = plan_order(run)
    unknown = "CONFORM-NO-PLAN"
    yield from refused(run, order, {"extras": {**order.extras, "subproduct_code": unknown}}, 44, unknown)


@check("4.11", "A plan code with another amount is refused with 44", needs="payments")
def refuse_plan_amount(run: Run) -> Iterator[Departure]:
    order = plan_order(run)
    yield from refused(run, order, {"amount": str(order.amount + NEVER_SOLD)}, 44)


DISPUTE, VOID = "/v2/transactions/check", "/v2/transactions/void"
WRONG_AMOUNT, OTHER_REASON = 1, 3


def trxid_of(run: Run, payment: PlannedPayment) -> str:
    """Return the id of a payment in the history. Raises `NotExercised` without a record."""
    rows = run.runner.records(payment)
    if not rows:
        raise NotExercised("the history has no record of the payment: see pay-history")
    return str(rows[0]["trxid"])


@check("4.12", "A dispute is opened once; trxid wins over refid", needs="payments")
def dispute(run: Run) -> Iterator[Departure]:
    payment = paid(run)[0]
    before = run.runner.balance()
    body = {"trxid": trxid_of(run, payment), "refid": f"conform-{token_hex(8)}", "user_email": []}
    for time, wanted in (("first", "Success"), ("second", "Failed")):
        answer = run.session.call("POST", DISPUTE, body)
        yield from run.expected(answer, 200)
        yield from differ(f"data.refid of the {time} dispute", payment.refid, answer.at("data.refid"))
        yield from differ(f"data.status of the {time} dispute", wanted, answer.at("data.status"))
    yield from differ("the wallet, which a dispute does not change", before, run.runner.balance())


def voided(run: Run) -> tuple[PlannedPayment, list[Answer], Decimal]:
    """Return a voided payment, the answers to its first and second void, and the balance before. The void is made once,
    and followed until the refund. Raises `NotExercised`."""
    if run.voided is None:
        rows = run.good("/v2/product-list").rows()
        refundable = {row["product_code"] for row in rows if row["is_refundable"]}
        payment = next((payment for payment in paid(run) if payment.order.product in refundable), None)
        if payment is None:
            raise NotExercised("--pay names no product that the product list calls refundable")
        before = run.runner.balance()
        body: dict[str, Any] = {"refid": payment.refid, "refund_type": WRONG_AMOUNT, "user_email": []}
        run.voided = (payment, answers := [], before)  # also when an answer is lost, so that it is sent once
        for _ in range(2):
            answers.append(run.session.call("POST", VOID, body))
        if (fall := before - run.runner.balance()) > 0:
            raise Departs("the wallet after a void", before, before - fall)
        if answers[0].status == 200 and answers[0].at("data.status") == "Success":
            known = len(payment.lost)
            run.runner.follow([payment], lambda refunded: refunded.last.get("status") == STATUSES["refunded"])
            for text in dict.fromkeys(payment.lost[known:]):
                run.note(text)
        run.session.forget()
    if len(run.voided[1]) < 2:
        raise NotExercised("the answer of the void was lost")
    return run.voided


@check("4.13", "A void is taken once", needs="payments")
def void(run: Run) -> Iterator[Departure]:
    payment, answers, _ = voided(run)
    for time, answer in zip(("first", "second"), answers, strict=True):
        yield from run.expected(answer, 200)
        yield from differ(f"data.refid of the {time} void", payment.refid, answer.at("data.refid"))
    if answers[0].at("data.status") == "Failed":
        raise NotExercised(f"the void was refused: {answers[0].at('data.message')}")
    yield from differ("data.status of the second void", "Failed", answers[1].at("data.status"))


@check("4.13", "A voided payment has status Refund and code 53, and the wallet gets its cost back", needs="payments")
def void_refund(run: Run) -> Iterator[Departure]:
    payment, _, before = voided(run)
    if payment.last.get("status") != STATUSES["refunded"]:
        raise NotExercised(f"the void was not completed within {run.runner.wait_s:.0f} s")
    yield from differ("data.statusCode", 53, payment.last["statusCode"])
    yield from differ("the wallet", before + payment.cost, run.runner.balance())
    row = next(iter(run.runner.records(payment)), {})
    yield from differ("status_name in the history", "Refund", row.get("status_name"))
    answer = run.session.call("GET", target("/v2/balance-statement", date=run.days, limit=100, type="REFUND"))
    amounts = [Decimal(entry["amount"]) for entry in answer.rows()]
    yield from unless(payment.cost in amounts, "a REFUND entry of the statement", str(payment.cost), amounts)
