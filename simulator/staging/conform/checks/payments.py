"""Payments: made once, followed to their end, and found in wallet, statement and history (SPEC 2.3, 3.1, 4.11)."""

from collections.abc import Iterator
from decimal import Decimal

from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import Departure, NotExercised, differ, unless
from simulator.staging.conform.payments import FINAL_NAMES, PAID, PENDING, STATUSES, UNPROVEN, Payment, state_of
from simulator.staging.conform.registry import check
from simulator.staging.session import target
from simulator.wire.json import is_integer_when_whole

KEPT = ("refid", "product", "account", "amount", "productName")


def paid(run: Run) -> list[Payment]:
    """The successful payments. Raises `NotExercised` without any."""
    found = [payment for payment in run.runner.payments if payment.last.get("status") == PAID]
    if not found:
        raise NotExercised("no payment was successful in time")
    return found


@check("pay-created", "4.11", "A payment is created, and its answer repeats the request", needs="payments")
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
        data = state_of(payment.first)
        for name in ("refid", "product", "account"):
            yield from differ(f"data.{name}", payment.body[name], data[name])
        yield from differ("data.amount", payment.order.amount, Decimal(data["amount"]))
    yield from unless(len(run.runner.payments) > 0, "payments", "at least one", 0)


@check("pay-amount", "2.3", "amount is an integer when it is whole", needs="payments")
def pay_amount(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        amount = payment.first.at("data.amount")
        is_right = is_integer_when_whole(amount, payment.order.amount)
        yield from unless(is_right, "data.amount", f"the number {payment.order.amount}", payment.first)


@check(
    "pay-idempotent", "4.11", "A refid that is sent again is the same payment, and costs nothing more", needs="payments"
)
def pay_idempotent(run: Run) -> Iterator[Departure]:
    if run.runner.paid_twice:
        yield Departure("the wallet", "nothing more is debited", run.runner.paid_twice)
    for payment in run.runner.payments:
        first = state_of(payment.first)
        for answer in payment.answers[1:]:
            yield from run.expected(answer, 200)
            again = state_of(answer)
            for name in KEPT:
                yield from differ(f"data.{name} when it is sent again", first[name], again[name])
        rows = run.runner.records(payment)
        yield from differ(f"history of {payment.refid}", 1, len(rows))
    if not run.runner.is_proven:
        raise NotExercised(UNPROVEN)


@check("pay-final", "3.1", "A payment becomes final, and stays so", needs="payments")
def pay_final(run: Run) -> Iterator[Departure]:
    order = [STATUSES["accepted"], STATUSES["processing"], "final"]
    for payment in run.runner.payments:
        names = [state_of(answer).get("status") for answer in payment.answers]
        ranks = [order.index(str(name)) if name in PENDING else 2 for name in names]
        yield from unless(ranks == sorted(ranks), "status in its order", "never back", " → ".join(map(str, names)))
        if not payment.is_final:
            recorded = f", and {payment.recorded} in the history" if payment.recorded else ""
            run.note(f"{payment.refid} is {payment.last.get('status')} after all the time that --wait allows{recorded}")
            continue
        again = run.runner.again(payment)
        yield from run.expected(again, 200)
        yield from differ("data.status of a final payment", names[-1], again.at("data.status"))


@check("pay-spelling", "2.3", "A successful payment is spelled as documented", needs="payments")
def pay_spelling(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        for answer in payment.answers:
            name = answer.at("data.status")
            yield from unless(name in STATUSES.values(), "data.status", " or ".join(STATUSES.values()), name)
            code = answer.at("data.statusCode")
            if name == PAID:
                yield from differ("data.statusCode of a successful payment", 20, code)


@check("pay-wallet", "2.3", "The wallet loses what a payment costs, and its answer has the balance", needs="payments")
def pay_wallet(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        if len(payment.balances) > 1 and state_of(payment.first).get("status") != STATUSES["failed"]:
            before, after = payment.balances[:2]
            yield from differ(f"the wallet after {payment.refid}", before - payment.cost, after)
            yield from differ("data.balance", after, Decimal(payment.first.at("data.balance")))


@check("pay-cost", "2.1", "A payment costs what the product's pricing says", needs="payments")
def pay_cost(run: Run) -> Iterator[Departure]:
    for payment in run.runner.payments:
        product = run.products[payment.order.product]
        face = payment.order.amount * Decimal(product["denomination_unit_price"])
        price = Decimal(product["pricing"]["unit_price"])
        wanted = face * price if product["pricing"]["discount"]["type"] == "percentage" else face - abs(price)
        if state_of(payment.first).get("status") != STATUSES["failed"]:
            is_right = abs(payment.cost - max(wanted, Decimal(0))) <= Decimal("0.01")
            yield from unless(is_right, f"data.cost of {payment.order.product}", f"{wanted:.2f}", payment.cost)


@check("pay-history", "2.4", "A payment is in the history as its answer says", needs="payments")
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


@check("pay-statement", "2.5", "A payment is in the statement with what it cost", needs="payments")
def pay_statement(run: Run) -> Iterator[Departure]:
    payments = run.runner.payments  # made before the statement is read
    answer = run.session.call("GET", target("/v2/balance-statement", date=run.days, limit=100, type="TRANSACTION"))
    left = [-Decimal(row["amount"]) for row in answer.rows()]
    for payment in payments:
        if state_of(payment.first).get("status") == STATUSES["failed"]:
            continue
        yield from unless(payment.cost in left, f"an entry of {payment.refid}", f"-{payment.cost}", "none")
        if payment.cost in left:
            left.remove(payment.cost)
