"""The payments of a run: specified by the caller, bounded by a spending limit, never made twice.

A payment whose answer is lost is re-queried by the same refid (SPEC 4.11), never by another. If the wallet falls
because a refid was sent again, the run makes no more payments.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from simulator.staging.conform.findings import Departs, NotExercised
from simulator.staging.conform.spending import BadOrder, Order, SpendingLimit, balance_of, ceiling
from simulator.staging.service import Answer, NoAnswer
from simulator.staging.session import Session, recent_days, target
from simulator.wire.payments import STATUS_NAMES

STATUSES = {status.value: name for status, name in STATUS_NAMES.items()}
PENDING = (STATUSES["accepted"], STATUSES["processing"])
PAID = STATUSES["successful"]
# Names of final payments in the history.
FINAL_NAMES = {PAID: "Successful", STATUSES["failed"]: "Failed", STATUSES["refunded"]: "Refund"}
POLL_S = 5.0
TRIES_MAX = 4


@dataclass(slots=True)
class Payment:
    """A payment with its refid. `answers` are the answers to all its POSTs in order, `balances` the wallet before and
    after the first POST; `lost` says how an answer was lost."""

    order: Order
    body: dict[str, Any]
    answers: list[Answer] = field(default_factory=list)
    balances: tuple[Decimal, ...] = ()
    lost: list[str] = field(default_factory=list)

    @property
    def refid(self) -> str:
        return str(self.body["refid"])

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
    def cost(self) -> Decimal:
        """Return the cost in the first answer; 0 without an answer."""
        cost = self.first.data.get("cost")
        return Decimal(cost) if isinstance(cost, int | Decimal) and not isinstance(cost, bool) else Decimal(0)


class PaymentRunner:
    """Makes the payments when a check first needs them, and caches them. `products` is the catalog."""

    def __init__(
        self, session: Session, orders: tuple[Order, ...], limit: Decimal, products: Mapping[str, Any], wait_s: float
    ) -> None:
        self.orders, self.wait_s, self.limit = orders, wait_s, SpendingLimit(limit)
        self.paid_twice = ""
        self.pending_names: set[str] = set()  # statuses in the history of payments that were pending
        self._session, self._products = session, products
        self._payments: list[Payment] | None = None

    def ceiling(self, order: Order, amount: Decimal | None = None) -> Decimal:
        """Return the maximum cost of an order. Raises `BadOrder`."""
        return ceiling(order.product, amount or order.amount, self._products)

    def check_plan(self) -> None:
        """Raise `BadOrder` when the plan may cost more than the limit: each order once, and the dearest once more, in
        case the service pays a refid again when it is re-queried."""
        ceilings = [self.ceiling(order) for order in self.orders]
        total = sum(ceilings, max(ceilings))
        if total > self.limit.most:
            text = f"the plan may cost {total} MYR: each payment once, the dearest twice if a refid is paid again"
            raise BadOrder(f"{text}; --spend-at-most allows {self.limit.most}")

    def balance(self) -> Decimal:
        """Return the wallet's current balance. Raises `NotExercised` if it cannot be read."""
        return self.limit.see(balance_of(self._session.call("GET", "/v2/balance")))

    def post(self, body: dict[str, Any], ceiling: Decimal) -> Answer:
        """Send a request that may pay up to `ceiling`. Raises `NotExercised` beyond the limit, and after a refid was
        paid twice."""
        if self.paid_twice:
            raise NotExercised(self.paid_twice)
        known = [one for one in self._payments or () if one.refid == body.get("refid")]
        is_again = any(one.answers for one in known)
        before = self.balance()
        self.limit.reserve(ceiling)
        self._session.forget()
        try:
            answer = self._session.call("POST", "/v2/topup", body)
        finally:
            fall = before - self.balance()
            if fall > 0 and is_again:
                self.paid_twice = f"{fall} less after {body['refid']} was sent again, so nothing more is paid"
        self.limit.settle(ceiling, fall, is_free=is_again or answer.status == 400)
        for payment in known:
            payment.balances = payment.balances or (before, before - fall)
        return answer

    def make(self) -> list[Payment]:
        """Return all planned payments, including refused and lost ones. Each is made once, and followed until it is
        final or the wait is over."""
        if self._payments is None:
            self._payments = []
            for order in self.orders:
                self._payments.append(Payment(order, self.body(order)))
                self._try(self._payments[-1], self._pay)
            self._follow([payment for payment in self._payments if payment.is_created])
            self._session.forget()
        return self._payments

    @property
    def payments(self) -> list[Payment]:
        """Return the payments that were created. Raises `NotExercised` without any."""
        created = [payment for payment in self.make() if payment.is_created]
        if not created:
            raise NotExercised("no payment was made: see the check pay-created")
        return created

    def body(self, order: Order, **changes: Any) -> dict[str, Any]:
        """Return the request of a payment with its own refid. A change to None removes a member."""
        refid = f"conform-{secrets.token_hex(6)}"
        made = {"refid": refid, "product": order.product, "account": order.account, "amount": str(order.amount)}
        extras = {"extras": dict(order.extras)} if order.extras else {}
        return {name: value for name, value in (made | extras | changes).items() if value is not None}

    def again(self, payment: Payment) -> Answer:
        """Re-query a payment by sending its request. Raises `NoAnswer`, also for a failure of the service."""
        answer = self.post(payment.body, self.ceiling(payment.order))
        if answer.status >= 500:
            raise NoAnswer(str(answer))
        payment.answers.append(answer)
        return answer

    def records(self, payment: Payment) -> list[dict[str, Any]]:
        """Return the payment's records in the history. Raises `Departs` when it cannot be read."""
        days, order = recent_days(self._session.clock.now()), payment.order
        where = target("/v2/transactions", date=days, limit=100, account=order.account, product=order.product)
        answer = self._session.call("GET", where)
        if answer.status != 200:
            raise Departs("the status of the history", 200, str(answer))
        return [row for row in answer.rows() if row.get("refid") == payment.refid]

    def _try(self, payment: Payment, step: Callable[[Payment], object]) -> None:
        try:
            step(payment)
        except (NoAnswer, NotExercised, Departs) as error:
            payment.lost.append(str(error))

    def _pay(self, payment: Payment) -> None:
        """Send the payment until the service answers, a few times at most, and then once more."""
        for _ in range(TRIES_MAX):
            try:
                self.again(payment)
            except NoAnswer as error:
                payment.lost.append(str(error))
                self._session.clock.wait(POLL_S)
            else:
                break
        if payment.is_created:
            self.again(payment)
            if not payment.is_final:
                self.pending_names |= {str(row.get("status_name")) for row in self.records(payment)}

    def _follow(self, payments: list[Payment]) -> None:
        """Re-query pending payments every few seconds."""
        waited_s = 0.0
        while waited_s < self.wait_s and (pending := [one for one in payments if not one.is_final]):
            self._session.clock.wait(POLL_S)
            waited_s += POLL_S
            for payment in pending:
                self._try(payment, self.again)
