"""The payments of a run: named by the caller, bounded by a limit of money, never made twice.

All that a request may cost is reserved before it is sent, and no request is sent that the limit does not cover. What
was reserved is free again where the wallet shows that less was paid; a wallet that never falls shows nothing. A
payment whose answer is lost is asked for by the same refid (SPEC 4.11), never by another. When the wallet falls
because a refid was sent again, nothing more is paid.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal, InvalidOperation
from typing import Any

from simulator.staging.conform.findings import Departs, NotExercised
from simulator.staging.service import Answer, NoAnswer
from simulator.staging.session import Session, recent_days, target
from simulator.wire.payments import STATUS_NAMES

STATUSES = {status.value: name for status, name in STATUS_NAMES.items()}
PENDING = (STATUSES["accepted"], STATUSES["processing"])
PAID = STATUSES["successful"]
# What the history calls a payment that changes no more.
FINAL_NAMES = {PAID: "Successful", STATUSES["failed"]: "Failed", STATUSES["refunded"]: "Refund"}
TOPUP = "/v2/topup"
CENT = Decimal("0.01")
POLL_S = 5.0
ASKED_AGAIN_MAX = 3
UNPROVEN = "the wallet does not show that a refid pays only once, so none is sent again"


class BadOrder(ValueError):
    """An order that cannot be understood, or a plan that cannot be afforded; the text says why."""


@dataclass(frozen=True, slots=True)
class Order:
    """One payment that the caller allows: `amount` is what is sent."""

    product: str
    account: str
    amount: Decimal
    extras: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def parse(text: str) -> "Order":
        """`PRODUCT:ACCOUNT:AMOUNT`, and `:name=value` for each extra. Raises `BadOrder`."""
        product, account, amount, *extras = [*text.split(":"), "", "", ""][: max(3, text.count(":") + 1)]
        try:
            value = Decimal(amount)
        except InvalidOperation:
            value = Decimal(0)
        pairs = [extra.partition("=") for extra in extras]
        if not product or not account or not (value.is_finite() and value > 0) or not all(sign for _, sign, _ in pairs):
            raise BadOrder(f"{text!r} is not PRODUCT:ACCOUNT:AMOUNT, with :NAME=VALUE for each extra")
        return Order(product, account, value, {name: chosen for name, _, chosen in pairs})


@dataclass(slots=True)
class Payment:
    """One refid: `answers` are those of all its POSTs in their order, `balances` the wallet before the first one and
    after its answer; `lost` says how an answer was lost, `recorded` what the history called it last."""

    order: Order
    refid: str
    body: dict[str, Any]
    answers: list[Answer] = field(default_factory=list)
    balances: list[Decimal] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    recorded: str = ""

    @property
    def first(self) -> Answer:
        """The answer to its creation."""
        return self.answers[0]

    @property
    def last(self) -> dict[str, Any]:
        """What was answered last."""
        return state_of(self.answers[-1])

    @property
    def is_final(self) -> bool:
        """True when it changes no more, but for a void."""
        return self.last.get("status") not in PENDING

    @property
    def cost(self) -> Decimal:
        """What the first answer says that it costs; 0 where it says nothing."""
        cost = state_of(self.first).get("cost")
        return Decimal(cost) if isinstance(cost, int | Decimal) and not isinstance(cost, bool) else Decimal(0)


class PaymentRunner:
    """Makes the payments when a check first asks for them, and remembers them. `products` are those of the catalog."""

    def __init__(
        self, session: Session, orders: tuple[Order, ...], limit: Decimal, products: Mapping[str, Any], wait_s: float
    ) -> None:
        self.orders = orders
        self.wait_s = wait_s
        self.paid_twice = ""
        self.pending_names: set[str] = set()  # what the history called payments that were pending
        self.is_proven = False  # a payment lowered the wallet, and did not when it was sent again
        self._session = session
        self._limit = limit
        self._products = products
        self._reserved = self._fallen = Decimal(0)
        self._balance: Decimal | None = None  # of the wallet, as it was seen last
        self._run = secrets.token_hex(4)
        self._count = 0
        self._payments: list[Payment] | None = None

    @property
    def spent(self) -> Decimal:
        """The most that was spent: by the reservations, or by what the wallet lost where that is more."""
        return max(self._reserved, self._fallen)

    def ceiling(self, order: Order, amount: Decimal | None = None) -> Decimal:
        """The most that a payment may cost: the amount, its face value, or its cost, whichever is most. Raises
        `BadOrder` for a product that the catalog does not have, or whose price is none."""
        amount, product = amount or order.amount, self._products.get(order.product)
        if product is None:
            raise BadOrder(f"the catalog has no product {order.product!r}")
        pricing = product["pricing"]
        face = amount * _price(order.product, product["denomination_unit_price"])
        is_share = pricing["discount"]["type"] == "percentage"
        price = _price(order.product, pricing["unit_price"], is_discount=not is_share)
        return (max(amount, face, face * price if is_share else face + price) + CENT).quantize(CENT, ROUND_UP)

    def check_plan(self) -> None:
        """Raise `BadOrder` when the plan may cost more than the limit: each order once, and the dearest once more, in
        case the service pays a refid again when it is asked for."""
        ceilings = [self.ceiling(order) for order in self.orders]
        total = sum(ceilings, max(ceilings))
        if total > self._limit:
            text = f"the plan may cost {total} MYR: each payment once, the dearest twice if a refid is paid again"
            raise BadOrder(f"{text}; --spend-at-most allows {self._limit}")

    def balance(self) -> Decimal:
        """The wallet's balance now. Raises `NotExercised` where it cannot be read."""
        balance = balance_of(self._session.call("GET", "/v2/balance"))
        if self._balance is not None:
            self._fallen += max(Decimal(0), self._balance - balance)
        self._balance = balance
        return balance

    def post(self, body: dict[str, Any], ceiling: Decimal) -> Answer:
        """Send something that may pay up to `ceiling`. Raises `NotExercised` beyond the limit, and for a refid that was
        answered twice when nothing proves that it pays only once."""
        answered = [one for one in self._payments or () if one.answers and one.refid == body.get("refid")]
        if self.paid_twice or (answered and len(answered[0].answers) > 1 and not self.is_proven):
            raise NotExercised(self.paid_twice or UNPROVEN)
        before = self.balance()
        if self.spent + ceiling > self._limit:
            left = max(self._limit - self.spent, Decimal(0))
            raise NotExercised(f"it may cost {ceiling} MYR, and {left} of --spend-at-most are left")
        self._reserved += ceiling
        self._session.forget()
        try:
            answer = self._session.call("POST", TOPUP, body)
        finally:
            fall = before - self.balance()
            if fall > 0 and answered:
                self.paid_twice = f"{fall} less after {body['refid']} was sent again, so nothing more is paid"
        if fall > 0 or (self._fallen > 0 and (answered or answer.status == 400)):
            self._reserved += max(fall, Decimal(0)) - ceiling
        return answer

    def make(self) -> list[Payment]:
        """All planned payments, those that were refused or lost included: made once, and followed until they are final
        or the wait is over."""
        if self._payments is None:
            self._payments = []
            for order in self.orders:
                self._payments.append(Payment(order, self.refid(), {}))
                self._note_losses(self._payments[-1], self._pay)
            self._follow(self._payments)
            self._session.forget()
        return self._payments

    @property
    def payments(self) -> list[Payment]:
        """Those that were created. Raises `NotExercised` without any."""
        created = [payment for payment in self.make() if payment.answers and payment.first.status == 200]
        if not created:
            raise NotExercised("no payment was made: see the check pay-created")
        return created

    def refid(self) -> str:
        """A new one."""
        self._count += 1
        return f"conform-{self._run}-{self._count:03}"

    def body(self, order: Order, **changes: Any) -> dict[str, Any]:
        """The request of a payment with a refid of its own; a change to None leaves a member out."""
        made = {"refid": self.refid(), "product": order.product, "account": order.account, "amount": str(order.amount)}
        extras = {"extras": dict(order.extras)} if order.extras else {}
        return {name: value for name, value in (made | extras | changes).items() if value is not None}

    def again(self, payment: Payment) -> Answer:
        """Ask for a payment by sending it again. Raises `NotExercised` where that might pay."""
        answer = self.post(payment.body, self.ceiling(payment.order))
        payment.answers.append(answer)
        return answer

    def records(self, payment: Payment) -> list[dict[str, Any]]:
        """What the history has of a payment, read now. Raises `Departs` when it cannot be read."""
        days, order = recent_days(self._session.clock.now()), payment.order
        where = target("/v2/transactions", date=days, limit=100, account=order.account, product=order.product)
        answer = self._session.call("GET", where)
        if answer.status != 200:
            raise Departs("the status of the history", 200, str(answer))
        return [row for row in answer.rows() if row.get("refid") == payment.refid]

    def _note_losses(self, payment: Payment, step: Callable[[Payment], object]) -> None:
        try:
            step(payment)
        except (NoAnswer, NotExercised, Departs) as error:
            payment.lost.append(str(error))

    def _pay(self, payment: Payment) -> None:
        """Send it, and once more unless it is proven that this is free."""
        payment.body = self.body(payment.order, refid=payment.refid)
        payment.balances = [self.balance()]
        for attempt in range(ASKED_AGAIN_MAX + 1):
            if attempt:
                self._session.clock.wait(POLL_S)
            try:
                answer = self.post(payment.body, self.ceiling(payment.order))
            except NoAnswer as error:
                payment.lost.append(str(error))
                continue
            if answer.status < 500:
                payment.answers.append(answer)
                break
            payment.lost.append(str(answer))
        else:
            raise NoAnswer(f"the state of {payment.refid} is unknown after {ASKED_AGAIN_MAX + 1} requests")
        payment.balances.append(self.balance())
        if payment.first.status != 200:
            return
        if not self.is_proven:
            self.again(payment)
            self.is_proven = payment.balances[0] > payment.balances[1] and not self.paid_twice
        if not payment.is_final:
            self.pending_names |= {str(row.get("status_name")) for row in self.records(payment)}

    def _follow(self, payments: list[Payment]) -> None:
        """Ask for what is not final, every few seconds: by its refid or, where that might pay, in the history."""
        waited_s = 0.0
        while not self.paid_twice and waited_s < self.wait_s:
            created = [one for one in payments if one.answers and one.first.status == 200]
            pending = [one for one in created if not one.is_final and one.recorded not in FINAL_NAMES.values()]
            if not pending:
                return
            self._session.clock.wait(POLL_S)
            waited_s += POLL_S
            for payment in pending:
                self._note_losses(payment, self.again if self.is_proven else self._look_up)

    def _look_up(self, payment: Payment) -> None:
        payment.recorded = next((str(row.get("status_name")) for row in self.records(payment)), "")


def state_of(answer: Answer) -> dict[str, Any]:
    """`data` of a payment's answer; empty where there is none."""
    try:
        data = answer.at("data")
    except Departs:
        return {}
    return data if isinstance(data, dict) else {}


def balance_of(answer: Answer) -> Decimal:
    """The balance in either shape of the register (`balance-record`). Raises `NotExercised` for any other."""
    try:
        value = answer.json
    except Departs:
        value = None
    inner = value.get("data", value) if isinstance(value, dict) else None
    balance = inner.get("balance") if isinstance(inner, dict) else None
    if answer.status != 200 or isinstance(balance, bool) or not isinstance(balance, int | Decimal):
        raise NotExercised(f"the balance cannot be read: {answer}")
    return Decimal(balance)


def _price(code: str, value: Any, *, is_discount: bool = False) -> Decimal:
    """A price of the catalog; only a fixed discount is below 0. Raises `BadOrder` for what is no price."""
    try:
        price = Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        price = Decimal("NaN")
    if not price.is_finite() or (price < 0 and not is_discount):
        raise BadOrder(f"the catalog has no usable price of {code!r}: {value!r}")
    return price
