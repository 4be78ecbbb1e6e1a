"""Small scenarios made by hand, for tests that call the domain directly."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from simulator.domain.agenda import AgendaResult
from simulator.domain.commands import CreatePayment, EndAttempt, PassTime
from simulator.domain.model.bills import BillField, BillProfile, NamePool, PersonPools
from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.catalog import (
    Catalog,
    Discount,
    FormField,
    Fulfillment,
    Option,
    OptionList,
    Product,
    Receipt,
    Source,
)
from simulator.domain.model.delivery_attempts import AttemptResult, Send
from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import ResellerStart, Scenario
from simulator.domain.model.transactions import Distortion, PaymentAnswer, PaymentRefused, PaymentThen, Status, Step
from simulator.domain.sandbox import Sandbox

START = datetime(2026, 11, 1, 4, 0, tzinfo=UTC)


def seconds(count: float) -> datetime:
    return START + timedelta(seconds=count)


def money_product(code: str = "BILL", **changes: Any) -> Product:
    account = FormField("account", "text", "numeric", "Account", role="account", accepts=lambda text: text.isdigit())
    amount = FormField(
        "amount", "money", "decimal", "Amount", role="pricing", minimum=Decimal(1), maximum=Decimal(10000)
    )
    made: dict[str, Any] = {
        "code": code,
        "name": f"Product {code}",
        "image_url": "https://img.example/x.png",
        "processing_time": "instant",
        "fields": (account, amount),
        "fulfillment": Fulfillment(Source("account"), Source("amount")),
        "discount": Discount("percentage", Decimal("0.97"), "3%"),
    }
    return Product(**(made | changes))


def fixed_product(code: str = "CARD", denominations: tuple[int, ...] = (5, 10), **changes: Any) -> Product:
    amount = FormField("amount", "select", "numeric", "Amount", role="pricing")
    options = OptionList(Option(f"{code}-{value}", f"RM{value}", Decimal(value)) for value in denominations)
    return money_product(code, **({"fields": (amount,), "options": {"amount": options}} | changes))


def text(value: str) -> Callable[[Mapping[str, object]], str]:
    return lambda facts: value.format(**facts)


PIN = fixed_product("PIN", (25,), fulfilled=Receipt({"pin": text("{seed}-{refid}")}, timedelta(days=365)))
PEOPLE = PersonPools(
    (NamePool(("Aina", "Devi", "Mei"), ("Lim", "Nair", "Rahman")), NamePool(("Ann", "Bob"), ("Smith", "Jones"))),
    ("1, Jalan Mawar", "2, Jalan Melati"),
    ("30000 Ipoh, Perak", "80000 Johor Bahru, Johor"),
    ("90010114", "85123101"),
)
PROFILE = BillProfile("The Biller", frozenset(BillField), Decimal("20.00"), Decimal("400.00"), lambda: PEOPLE)
BILL = money_product(voidable=True, bill=PROFILE)
CATALOG = Catalog(products={product.code: product for product in (BILL, fixed_product(), PIN)})

ACCEPTED = Step(Status.ACCEPTED)


def after(count: float, status: Status, **changes: Any) -> Step:
    return Step(status, after=timedelta(seconds=count), **changes)


def rule(
    *steps: Step, id_: str = "r1", when: Any = None, callbacks: Distortion | None = None, **more: Any
) -> Rule[Any]:
    then = PaymentThen(steps, callbacks or Distortion())
    return Rule(id_, when or (lambda facts: True), then, **more)


def scenario(
    *rules: Rule[Any], balance: str = "1000.00", url: str = "https://receiver.example/cb", **more: Any
) -> Scenario:
    resellers = tuple(
        ResellerStart(code, f"{code}@example.com", Decimal(balance), callback=CallbackConfig(url, "POST"))
        for code in ("R1", "R2")
    )
    made: dict[str, Any] = {"resellers": resellers, "catalog": CATALOG, "payments": rules, "seed": 7}
    return Scenario("test", **(made | more))


def sandbox(*rules: Rule[Any], **more: Any) -> Sandbox:
    made = scenario(*rules, **more)
    return Sandbox(made, made.seed, START)


def order(refid: str = "ref-1", product: str = "BILL", amount: object = 100, **more: Any) -> CreatePayment:
    made: dict[str, Any] = {"reseller": "R1", "account": "123456"}
    return CreatePayment(refid=refid, product=product, amount=amount, **(made | more))


def pay(box: Sandbox, command: CreatePayment | None = None, at: float = 0) -> PaymentAnswer:
    answer = box.apply(command or order(), seconds(at))
    assert isinstance(answer, PaymentAnswer), answer
    return answer


def refused(box: Sandbox, command: CreatePayment, at: float = 0) -> PaymentRefused:
    answer = box.apply(command, seconds(at))
    assert isinstance(answer, PaymentRefused), answer
    return answer


def fire_due(box: Sandbox, now: datetime) -> list[AgendaResult]:
    """Let everything happen that is due by `now`."""
    fired: list[AgendaResult] = box.apply(PassTime(), now)
    return fired


def delivered(box: Sandbox, send: Send, outcome: AttemptResult, now: datetime) -> None:
    """Apply the outcome of a delivery."""
    box.apply(EndAttempt(send.job.id, send.attempt.number, outcome), now)
