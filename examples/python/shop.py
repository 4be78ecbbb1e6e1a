"""Orders, and what becomes of them: paid once each, asked about until their status is final."""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from queue import Empty, SimpleQueue
from typing import Any

from client import Client, Unanswered

# The service spells it with one s. "Refund" is what a payment becomes that was voided.
FINAL = {"Succesful", "Failed", "Refund"}
POLL_S = 5.0


@dataclass
class Order:
    """What a customer buys. The refid is drawn once and names the payment for ever."""

    refid: str
    product: str
    account: str
    amount: Decimal
    extras: dict[str, str] = field(default_factory=dict)
    status: str = "new"
    remarks: str = ""
    cost: Decimal = Decimal(0)
    asked: int = 0
    failures: int = 0
    ask_at: float | None = 0.0  # None: nothing to ask
    polite_at: float = 0.0  # not to be asked about before

    def request(self) -> dict[str, Any]:
        """The body of every POST /v2/topup for this order: the same one, or it would be another order."""
        body = {"refid": self.refid, "product": self.product, "account": self.account, "amount": str(self.amount)}
        return body | ({"extras": self.extras} if self.extras else {})


class Shop:
    """The orders, in memory here: yours are rows of a table, written before anything is sent.

    One thread asks; the receiver only looks orders up and tells what it heard. `speed` is for clocks that run faster.
    """

    def __init__(self, client: Client, speed: float = 1) -> None:
        self.client, self.speed = client, speed
        self.orders: dict[str, Order] = {}
        self.heard: SimpleQueue[tuple[str, str]] = SimpleQueue()  # refid, status of callbacks
        self.events: SimpleQueue[dict[str, Any]] = SimpleQueue()  # verified webhooks, each once

    def place(self, order: Order) -> None:
        """Store an order and pay it."""
        self.orders[order.refid] = order
        self._ask(order)

    def settle(self, within_s: float) -> None:
        """Ask until every order has its final status: when a callback says so, and every five seconds anyway."""
        end = time.monotonic() + within_s
        while waiting := [(order.ask_at, order) for order in self.orders.values() if order.ask_at is not None]:
            ask_at, order = min(waiting, key=lambda one: one[0])
            now = time.monotonic()
            if now > end:
                raise TimeoutError(f"{order.refid} is still {order.status}")
            if ask_at <= now:
                self._ask(order)
                continue
            with suppress(Empty):
                self._hear(*self.heard.get(timeout=ask_at - now))

    def _ask(self, order: Order) -> None:
        """Pay, or ask again, which is the same request: the service pays a refid once."""
        order.asked += 1
        try:
            status, answer = self.client.call("POST", "/v2/topup", body=order.request())
        except Unanswered:
            # It may have been paid: the same refid again, with doubled waits. A new refid would pay twice.
            order.failures += 1
            order.ask_at = time.monotonic() + min(2.0**order.failures, 60) / self.speed
            return
        payment = answer["data"]
        order.failures = 0
        order.remarks = payment["remarks"]
        if status == 400:
            order.status, order.ask_at = "refused", None
            return
        order.status, order.cost = payment["status"], Decimal(payment["cost"])
        if order.status in FINAL:
            order.ask_at = None
        else:
            order.ask_at = time.monotonic() + POLL_S / self.speed
            order.polite_at = 0.0 if order.asked == 1 and order.status == "Accepted" else order.ask_at

    def _hear(self, refid: str, status: str) -> None:
        """A callback is no proof, since it is not signed. It is a reason to ask now."""
        order = self.orders[refid]
        if status in FINAL and status != order.status:
            order.ask_at = max(time.monotonic(), order.polite_at)
