"""The payments of a run: named by the caller, within a spending limit, each with a refid that is paid once.

The most that a request may cost is reserved before it is sent, and the run stops paying at the limit. The wallet's loss
replaces a reservation; a wallet that never falls proves nothing.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal, InvalidOperation
from typing import Any, Self

from simulator.domain.model.money import parse_number
from simulator.staging.bodies import as_dict
from simulator.staging.conform.findings import Departs, NotExercised
from simulator.staging.service import Answer, NoAnswer, Session, recent_days, target
from simulator.wire.payment_answers import STATUS_NAMES

STATUSES = {status.value: name for status, name in STATUS_NAMES.items()}
PENDING = (STATUSES["accepted"], STATUSES["processing"])
PAID = STATUSES["successful"]
# Names of final payments in the history.
FINAL_NAMES = {PAID: "Successful", STATUSES["failed"]: "Failed", STATUSES["refunded"]: "Refund"}
CENT = Decimal("0.01")
POLL_S = 5.0
PAYMENT, BILL = "PRODUCT:ACCOUNT:AMOUNT", "PRODUCT:ACCOUNT"


class BadOrder(ValueError):
    """An invalid order, or a plan that cannot be afforded; the text says why."""


@dataclass(frozen=True, slots=True)
class Order:
    """A payment that the caller allows; with the amount 0, an account whose bill may be looked up."""

    product: str
    account: str
    amount: Decimal = Decimal(0)
    extras: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str, form: str = PAYMENT) -> Self:
        """Parse a text of this form, and `:name=value` for each extra. Raises `BadOrder`."""
        count = form.count(":") + 1
        parts, more = text.split(":")[:count], [part.partition("=") for part in text.split(":")[count:]]
        is_whole = len(parts) == count and all(parts) and all(sign for _, sign, _ in more)
        amount = parse_number(parts[-1]) if is_whole and form == PAYMENT else Decimal(0)
        if not is_whole or amount is None or (form == PAYMENT and amount <= 0):
            raise BadOrder(f"{text!r} is not {form}, with :NAME=VALUE for more")
        return cls(parts[0], parts[1], amount, {name: value for name, _, value in more})


@dataclass(slots=True)
class PlannedPayment:
    """A payment. `answers` are the answers to its POSTs, `balances` the wallet before and after each POST; `lost` says
    how answers were lost."""

    order: Order
    body: dict[str, Any]
    answers: list[Answer] = field(default_factory=list)
    balances: list[tuple[Decimal, Decimal]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def refid(self) -> str:
        return str(self.body["refid"])

    @property
    def falls(self) -> list[Decimal]:
        """Return the wallet's losses with its POSTs; more than one means that the service paid a refid again."""
        return [before - after for before, after in self.balances if before > after]

    @property
    def first(self) -> Answer:
        """Return the answer to its creation."""
        return self.answers[0]

    @property
    def last(self) -> dict[str, Any]:
        """Return the data of the latest answer."""
        return self.answers[-1].data

    @property
    def is_created(self) -> bool:
        """Return True if the service accepted the payment."""
        return bool(self.answers) and self.first.status == 200

    @property
    def is_final(self) -> bool:
        """Return True if only a void can change the payment."""
        return self.last.get("status") not in PENDING

    @property
    def is_over(self) -> bool:
        """Return True if the payment was refused, or is final and was sent at least twice."""
        return bool(self.answers) and (not self.is_created or (self.is_final and len(self.answers) > 1))

    @property
    def cost(self) -> Decimal:
        """Return the cost in the first answer; 0 without an answer."""
        return parse_number(self.first.data.get("cost")) or Decimal(0)


class PaymentRunner:
    """Makes the payments when a check first needs them, and caches them. `limit` is the most that they may cost,
    `products` the catalog, `wait_s` the time in which they become final."""

    def __init__(
        self, session: Session, orders: tuple[Order, ...], limit: Decimal, products: Mapping[str, Any], wait_s: float
    ) -> None:
        self.orders, self.wait_s = orders, wait_s
        self.pending_names: set[str] = set()  # statuses in the history of payments that were pending
        self._session, self._limit, self._products = session, limit, products
        self._payments: list[PlannedPayment] | None = None
        self._reserved = self._fallen = Decimal(0)  # by the run's own requests; all losses of the wallet
        self._balance: Decimal | None = None

    @property
    def spent(self) -> Decimal:
        """Return the highest possible spending."""
        return max(self._reserved, self._fallen)

    def ceiling(self, product_code: str, amount: Decimal) -> Decimal:
        """Return the maximum cost of an amount: the amount, its face value or its cost, whichever is highest. Raises
        `BadOrder` for a product that is not in the catalog, and `Departs` for a product without a usable price."""
        if (product := self._products.get(product_code)) is None:
            raise BadOrder(f"the catalog has no product {product_code!r}")
        pricing = as_dict(product.get("pricing"))
        where, per_unit = f"products.{product_code}", product.get("denomination_unit_price")
        if (unit := parse_number(per_unit)) is None:
            raise Departs(f"{where}.denomination_unit_price", "a usable price", per_unit)
        if (price := parse_number(pricing.get("unit_price"))) is None:
            raise Departs(f"{where}.pricing.unit_price", "a usable price", pricing.get("unit_price"))
        face = amount * unit
        cost = face * price if as_dict(pricing.get("discount")).get("type") == "percentage" else face + price
        try:
            return (max(amount, face, cost) + CENT).quantize(CENT, ROUND_UP)
        except InvalidOperation:  # more digits than decimals have
            raise Departs(f"{where}.denomination_unit_price x pricing.unit_price", "a usable price", cost) from None

    def check_plan(self) -> None:
        """Raise `BadOrder` when the plan may cost more than the limit: each order once, and the dearest once more, in
        case the service pays a refid again when it is re-queried."""
        ceilings = [self.ceiling(order.product, order.amount) for order in self.orders]
        total = sum(ceilings, max(ceilings))
        if total > self._limit:
            text = f"the plan may cost {total} MYR: each payment once, the dearest twice if a refid is paid again"
            raise BadOrder(f"{text}; --spend-at-most allows {self._limit}")

    def balance(self) -> Decimal:
        """Return the wallet's current balance. Raises `NotExercised` if it cannot be read."""
        before, self._balance = self._balance, balance_of(self._session.call("GET", "/v2/balance"))
        if before is not None:
            self._fallen += max(Decimal(0), before - self._balance)
        return self._balance

    def post(self, payment: PlannedPayment) -> Answer:
        """Send a payment, for the first time or again. Raises `NotExercised` beyond the limit and after a refid that
        was paid twice, `NoAnswer`, and `Departs` for a failure of the service."""
        if twice := [planned.refid for planned in self._payments or () if len(planned.falls) > 1]:
            raise NotExercised(f"{twice[0]} was paid twice, so nothing more is paid")
        before, is_again = self.balance(), bool(payment.balances)
        order = payment.order
        ceiling = self.ceiling(order.product, Decimal(payment.body.get("amount") or order.amount))
        if (left := self._limit - self.spent) < ceiling:
            raise NotExercised(f"it may cost {ceiling} MYR, and {max(left, 0)} of --spend-at-most are left")
        self._reserved += ceiling
        self._session.forget()
        try:
            answer = self._session.call("POST", "/v2/topup", payment.body)
        finally:
            after = self.balance()
            payment.balances.append((before, after))
        if before > after or (self._fallen > 0 and (is_again or answer.status == 400)):
            self._reserved += max(before - after, Decimal(0)) - ceiling
        if answer.status >= 500:
            raise Departs("the status", "200 or 400", answer)
        payment.answers.append(answer)
        return answer

    def make(self) -> list[PlannedPayment]:
        """Return all planned payments, including refused and lost payments, each followed until it is over."""
        if self._payments is None:
            self._payments = [PlannedPayment(order, self.body(order)) for order in self.orders]
            self.follow(self._payments, lambda payment: payment.is_over)
            self._session.forget()
        return self._payments

    @property
    def payments(self) -> list[PlannedPayment]:
        """Return the payments that were created. Raises `NotExercised` without any."""
        created = [payment for payment in self.make() if payment.is_created]
        if not created:
            raise NotExercised("every payment was refused or lost: see the notes of pay-created")
        return created

    def body(self, order: Order, **changes: Any) -> dict[str, Any]:
        """Return the request of a payment with its own refid. A change to None removes a member."""
        refid = f"conform-{secrets.token_hex(6)}"
        made = {"refid": refid, "product": order.product, "account": order.account, "amount": str(order.amount)}
        extras = {"extras": dict(order.extras)} if order.extras else {}
        return {name: value for name, value in (made | extras | changes).items() if value is not None}

    def records(self, payment: PlannedPayment) -> list[dict[str, Any]]:
        """Return the payment's records in the history. Raises `Departs` when it cannot be read."""
        days, order = recent_days(self._session.clock.now()), payment.order
        where = target("/v2/transactions", date=days, limit=100, account=order.account, product=order.product)
        answer = self._session.call("GET", where)
        if answer.status != 200:
            raise Departs("the status of the history", 200, str(answer))
        return [row for row in answer.rows() if row.get("refid") == payment.refid]

    def follow(self, payments: list[PlannedPayment], is_over: Callable[[PlannedPayment], bool]) -> None:
        """Send payments every few seconds until they are over, or the wait is; each at least twice."""
        for number in range(2 + int(self.wait_s / POLL_S)):
            left = [payment for payment in payments if not is_over(payment)]
            if left and number:
                self._session.clock.wait(POLL_S)
            for payment in left:
                try:
                    self.post(payment)
                    if not payment.is_final and not self.pending_names:
                        self.pending_names = {str(row.get("status_name")) for row in self.records(payment)}
                except (Departs, NoAnswer, NotExercised) as error:
                    payment.lost.append(str(error))


def balance_of(answer: Answer) -> Decimal:
    """Return the balance in either shape of the register (`balance-record`). Raises `NotExercised` for any other."""
    inner = answer.members.get("data", answer.members)
    balance = parse_number(inner.get("balance")) if isinstance(inner, dict) else None
    if answer.status != 200 or balance is None:
        raise NotExercised(f"the balance cannot be read: {answer}")
    return balance
