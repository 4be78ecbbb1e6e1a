"""The payments of a run: named by the caller, bounded by a limit of money, never made twice.

Each payment has a refid of its own. Before it is sent, all that it may cost is reserved; what is reserved and spent
never exceeds the limit. If the answer does not come, the same refid is asked for again (SPEC 4.11), never another one.

Whether a refid pays only once is what the wallet says, not the answers: whatever is sent again reserves what it may
cost once more, and the balance is read before and after. If the wallet falls, nothing more is paid, and no refid is
sent again. What was reserved is free again only where the wallet is known to fall with payments. As long as no payment
was seen to lower it once and not twice, a refid is sent again once, and then looked up in the history, which cannot
pay.
"""

import secrets
from decimal import Decimal
from typing import Any

from simulator.staging.conform.findings import Departs, NotExercised
from simulator.staging.conform.payment import STATUSES, Payment, balance_of, cost_of, state_of
from simulator.staging.conform.purse import Order, Purse
from simulator.staging.conform.queries import recent_days, target
from simulator.staging.conform.service import Answer
from simulator.staging.conform.session import Session
from simulator.staging.manners import NoAnswer

TOPUP = "/v2/topup"
POLL_S = 5.0
ASKED_AGAIN_MAX = 3
UNPROVEN = "the wallet does not show that a refid pays only once, so none is sent again"


class Till:
    """Makes the payments when a check first asks for them, and remembers them."""

    def __init__(self, session: Session, orders: tuple[Order, ...], purse: Purse, wait_s: float) -> None:
        self.orders = orders
        self.purse = purse
        self.paid_twice = ""
        self.pending_names: set[str] = set()  # what the history called payments that were pending
        self._session = session
        self.wait_s = wait_s
        self.is_proven = False  # a payment lowered the wallet, and did not when it was sent again
        self._moves: bool | None = None  # whether payments lower the wallet; None before the first one
        self._resent = ""  # the refid that was sent again last
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

    def balance(self, *, may_fall: bool = False) -> Decimal:
        """The wallet's balance now. If it fell, though only a refid was sent again since the last time (unless it
        `may_fall`), nothing more is paid. Raises `NotExercised` where it cannot be read."""
        balance = balance_of(self._session.call("GET", "/v2/balance"))
        fall = self.purse.saw(balance)
        if fall and self._resent and not may_fall and not self.paid_twice:
            self.paid_twice = f"{fall} less after {self._resent} was sent again, so nothing more is paid"
        return balance

    def post(self, body: dict[str, Any], ceiling: Decimal) -> Answer:
        """Send something that may pay, up to `ceiling`, though it should not. Raises `NotExercised` beyond the
        limit."""
        is_again = body.get("refid") in {payment.refid for payment in self._payments or ()}
        if is_again and not self.is_proven:
            raise NotExercised(self.paid_twice or UNPROVEN)
        before = self._reserved(ceiling)
        self._session.forget()
        if is_again:
            self._resent = body["refid"]
        answer = self._session.call("POST", TOPUP, body)
        fall = before - self.balance(may_fall=not is_again)
        cost = cost_of(answer)
        if answer.status == 400 and self._moves is not False and fall >= 0:
            self.purse.settle(ceiling, Decimal(0), fall)
        elif answer.status == 200 and 0 < cost <= fall:
            self.purse.settle(ceiling, cost, fall)
        return answer

    def again(self, payment: Payment) -> Answer:
        """Ask for a payment by sending it again. Raises `NotExercised` when the service pays it once more, or may do
        so unseen."""
        if payment.asked and not self.is_proven:
            raise NotExercised(self.paid_twice or UNPROVEN)
        ceiling = self.purse.ceiling(payment.order)
        before = self._reserved(ceiling)
        payment.asked += 1
        self._resent = payment.refid
        try:
            answer = self._session.call("POST", TOPUP, payment.body)
        finally:
            after = self.balance()
        payment.answers.append(answer)
        if after == before and self._moves:
            self.purse.settle(ceiling, Decimal(0))
        return answer

    def ask(self, payment: Payment) -> None:
        """Ask how a payment is, by sending it again or, where that might pay, in the history."""
        if self.is_proven:
            self.again(payment)
        else:
            payment.recorded = next((str(row.get("status_name")) for row in self.records(payment)), "")

    def _reserved(self, ceiling: Decimal, *, may_fall: bool = False) -> Decimal:
        """Reserve before something is sent, and answer the balance before. Raises `NotExercised`."""
        balance = self.balance(may_fall=may_fall)
        if self.paid_twice:
            raise NotExercised(self.paid_twice)
        self.purse.reserve(ceiling, balance)
        return balance

    def _made(self, order: Order) -> Payment:
        body = self.body(order)
        payment = Payment(order, body["refid"], body)
        try:
            self._pay(payment)
        except (NoAnswer, NotExercised, Departs) as error:
            payment.lost.append(str(error))
        return payment

    def _pay(self, payment: Payment) -> None:
        self._post(payment)
        if payment.first.status != 200:
            self._moves = bool(self._moves or payment.fall > 0)
            if payment.first.status == 400 and self._moves and not payment.lost:
                self.purse.settle(payment.reserved, Decimal(0), payment.fall)
            return
        self._learn(payment)
        if not self.is_proven:
            self.again(payment)
            payment.balances.append(self.balance())
            self.is_proven = bool(self._moves) and payment.fall > 0 and not self.paid_twice
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

    def _post(self, payment: Payment) -> None:
        """Send a payment; when no answer comes, ask for the same refid, until its state is known. The wallet may fall
        once in all that."""
        ceiling = self.purse.ceiling(payment.order)
        for attempt in range(ASKED_AGAIN_MAX + 1):
            if attempt:
                self._session.clock.wait(POLL_S)
            balance = self._reserved(ceiling, may_fall=attempt > 0 and not self._has_fallen(payment))
            payment.reserved += ceiling
            if attempt:
                self._resent = payment.refid
            else:
                payment.balances.append(balance)
            try:
                answer = self._session.call("POST", TOPUP, payment.body)
            except NoAnswer as error:
                payment.lost.append(str(error))
                continue
            if answer.status < 500:
                payment.answers.append(answer)
                payment.balances.append(self.balance(may_fall=not self._has_fallen(payment)))
                return
            payment.lost.append(str(answer))
        self.balance(may_fall=not self._has_fallen(payment))
        raise NoAnswer(f"the state of {payment.refid} is unknown after {ASKED_AGAIN_MAX + 1} requests")

    def _has_fallen(self, payment: Payment) -> bool:
        return self.purse.balance is not None and self.purse.balance < payment.balances[0]

    def _learn(self, payment: Payment) -> None:
        """What the wallet shows of a payment that was answered, and what that frees of what was reserved for it."""
        is_failed = state_of(payment.first).get("status") == STATUSES["failed"]
        if payment.fall > 0:
            self._moves = True
        elif is_failed:  # which may cost nothing
            self._moves = bool(self._moves)
        else:
            self._moves = self.is_proven = False
        if 0 < payment.cost <= payment.fall:
            self.purse.settle(payment.reserved, payment.cost, payment.fall)
        elif is_failed and self._moves and not payment.fall and not payment.lost:
            self.purse.settle(payment.reserved, Decimal(0))

    def _follow(self, payments: list[Payment]) -> None:
        """Ask for what is not final, every few seconds, unless a refid was paid again."""
        waited_s = 0.0
        while not self.paid_twice and waited_s < self.wait_s:
            pending = [one for one in payments if one.answers and one.first.status == 200 and not one.is_over]
            if not pending:
                return
            self._session.clock.wait(POLL_S)
            waited_s += POLL_S
            for payment in pending:
                try:
                    self.ask(payment)
                except (NoAnswer, NotExercised, Departs) as error:
                    payment.lost.append(str(error))
