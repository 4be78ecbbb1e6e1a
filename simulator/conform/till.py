"""The payments of a run: named by the caller, bounded by a limit of money, never made twice.

Each payment has a refid of its own. Before it is sent, all that it may cost is reserved; what is reserved and spent
never exceeds the limit. If the answer does not come, the same refid is asked for again (SPEC 4.11), never another one.
The first payment is sent a second time at once: if that costs anything, nothing more is paid. Until then nobody knows
whether a refid pays only once, so whatever is sent again reserves what it may cost, too.
"""

import secrets
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from simulator.conform.findings import Departs, NotExercised
from simulator.conform.purse import Order, Purse
from simulator.conform.queries import recent_days, target
from simulator.conform.service import Answer
from simulator.conform.session import Session
from simulator.upstream.manners import NoAnswer
from simulator.wire.payments import STATUS_NAMES

TOPUP = "/v2/topup"
POLL_S = 5.0
ASKED_AGAIN_MAX = 3
STATUSES = {status.value: name for status, name in STATUS_NAMES.items()}
PENDING = (STATUSES["accepted"], STATUSES["processing"])
PAID = STATUSES["successful"]


@dataclass(slots=True)
class Payment:
    """One refid: `answers` are those of all its POSTs in their order, `balances` the wallet before the first one, after
    it, and after it was sent again; `lost` says how an answer was lost. `cost` is what the first answer says."""

    order: Order
    refid: str
    body: dict[str, Any]
    answers: list[Answer] = field(default_factory=list)
    balances: list[Decimal] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @property
    def first(self) -> Answer:
        """The answer that made it."""
        return self.answers[0]

    @property
    def last(self) -> dict[str, Any]:
        """The newest state that an answer reports."""
        states = (state_of(answer) for answer in reversed(self.answers))
        return next(filter(None, states), {})

    @property
    def is_final(self) -> bool:
        """Whether it changes no more, but for a void."""
        return self.last.get("status") not in PENDING

    @property
    def cost(self) -> Decimal:
        """What the first answer says that it costs; 0 where it says nothing."""
        cost = state_of(self.first).get("cost")
        return Decimal(cost) if isinstance(cost, int | Decimal) else Decimal(0)


class Till:
    """Makes the payments when a check first asks for them, and remembers them."""

    def __init__(self, session: Session, orders: tuple[Order, ...], purse: Purse, wait_s: float) -> None:
        self.orders = orders
        self.purse = purse
        self.paid_twice = ""
        self.pending_names: set[str] = set()  # what the history called payments that were pending
        self._session = session
        self.wait_s = wait_s
        self._is_proven = False
        self._at_risk = Decimal(0)  # reserved for what was sent again
        self._run = secrets.token_hex(4)
        self._count = 0
        self._payments: list[Payment] | None = None

    def make(self) -> list[Payment]:
        """All planned payments, those that were refused or lost included: made once, and followed until they are final
        or the wait is over."""
        if self._payments is None:
            self._payments = []
            for order in self.orders:
                self._payments.append(self._made(order))
            self._follow(self._payments)
            self._session.forget()
        return self._payments

    @property
    def payments(self) -> list[Payment]:
        """Those that were created. Raises `NotExercised` without any."""
        known = [payment for payment in self.make() if payment.answers and payment.first.status == 200]
        if not known:
            raise NotExercised("no payment was made: see the check pay-created")
        return known

    def refid(self) -> str:
        """A new one."""
        self._count += 1
        return f"conform-{self._run}-{self._count:03}"

    def body(self, order: Order, **changes: Any) -> dict[str, Any]:
        """The request of a payment with a refid of its own; a change to None leaves a member out."""
        made = {"refid": self.refid(), "product": order.product, "account": order.account, "amount": str(order.amount)}
        extras = {"extras": dict(order.extras)} if order.extras else {}
        return {name: value for name, value in (made | extras | changes).items() if value is not None}

    def balance(self) -> Decimal:
        """The wallet's balance now. Raises `NotExercised` where it cannot be read."""
        return balance_of(self._session.call("GET", "/v2/balance"))

    def post(self, body: dict[str, Any], ceiling: Decimal) -> Answer:
        """Send something that may pay, up to `ceiling`, though it should not. Raises `NotExercised` beyond the
        limit."""
        if self.paid_twice:
            raise NotExercised(self.paid_twice)
        self.purse.reserve(ceiling, self.balance())
        self._session.forget()
        answer = self._session.call("POST", TOPUP, body)
        if answer.status == 400:
            self.purse.settle(ceiling, Decimal(0))
        elif answer.status == 200 and "cost" in state_of(answer):
            self.purse.settle(ceiling, Decimal(state_of(answer)["cost"]))
        return answer

    def again(self, payment: Payment) -> Answer:
        """Ask for a payment by sending it again. Raises `NotExercised` when the service pays it once more."""
        self._cover(payment)
        answer = self._session.call("POST", TOPUP, payment.body)
        payment.answers.append(answer)
        return answer

    def _cover(self, payment: Payment) -> None:
        """Before a refid is sent again: as long as it may cost as much again, that is reserved."""
        if self.paid_twice:
            raise NotExercised(self.paid_twice)
        if not self._is_proven:
            ceiling = self.purse.ceiling(payment.order)
            self.purse.reserve(ceiling, self.balance())
            self._at_risk += ceiling

    def _made(self, order: Order) -> Payment:
        body = self.body(order)
        payment = Payment(order, body["refid"], body)
        try:
            self._pay(payment)
        except (NoAnswer, NotExercised, Departs) as error:
            payment.lost.append(str(error))
        return payment

    def _pay(self, payment: Payment) -> None:
        ceiling = self.purse.ceiling(payment.order)
        payment.balances.append(self.balance())
        self._post(payment, ceiling)
        payment.balances.append(self.balance())
        if payment.first.status != 200:
            return
        if not self._is_proven:
            self.again(payment)
            payment.balances.append(self.balance())
            self._compare(payment)
        self.purse.settle(ceiling, payment.cost)
        if not payment.is_final:
            self.pending_names |= {str(row.get("status_name")) for row in self.records(payment)}

    def records(self, payment: Payment) -> list[dict[str, Any]]:
        """What the history has of a payment, read now. Raises `Departs` when it cannot be read."""
        days, order = recent_days(self._session.clock.now()), payment.order
        where = target("/v2/transactions", date=days, limit=100, account=order.account, product=order.product)
        answer = self._session.call("GET", where)
        if answer.status != 200:
            raise Departs("the status of the history", 200, str(answer))
        return [row for row in answer.rows() if row.get("refid") == payment.refid]

    def _post(self, payment: Payment, ceiling: Decimal) -> None:
        """Send a payment; when no answer comes, ask for the same refid, until its state is known."""
        if self.paid_twice:
            raise NotExercised(self.paid_twice)
        self.purse.reserve(ceiling, payment.balances[0])
        for attempt in range(ASKED_AGAIN_MAX + 1):
            if attempt:
                self._session.clock.wait(POLL_S)
                self._cover(payment)
            try:
                answer = self._session.call("POST", TOPUP, payment.body)
            except NoAnswer as error:
                payment.lost.append(str(error))
                continue
            if answer.status < 500:
                payment.answers.append(answer)
                if answer.status == 400:
                    self.purse.settle(ceiling, Decimal(0))
                return
            payment.lost.append(str(answer))
        raise NoAnswer(f"the state of {payment.refid} is unknown after {ASKED_AGAIN_MAX + 1} requests")

    def _compare(self, payment: Payment) -> None:
        """Whether it was paid once more: if not, what was reserved for that is free again."""
        after, again = payment.balances[-2:]
        if payment.cost > 0 and after - again >= payment.cost:
            self.paid_twice = f"{payment.refid} was paid again when it was sent again, so nothing more is paid"
        else:
            self._is_proven = True
            self.purse.settle(self._at_risk, Decimal(0))

    def _follow(self, payments: list[Payment]) -> None:
        """Ask for what is not final, every few seconds."""
        waited_s = 0.0
        while not self.paid_twice and waited_s < self.wait_s:
            pending = [one for one in payments if one.answers and one.first.status == 200 and not one.is_final]
            if not pending:
                return
            self._session.clock.wait(POLL_S)
            waited_s += POLL_S
            for payment in pending:
                try:
                    self.again(payment)
                except (NoAnswer, NotExercised) as error:
                    payment.lost.append(str(error))


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
