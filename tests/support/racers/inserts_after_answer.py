"""Inserts its order when the payment was answered; its callback handler inserts it, too."""

import sys
import threading

from tests.support.racers.shop import FINAL, MENDED, receive, topup, wait_for

orders: dict[str, str] = {}
lock = threading.Lock()


def told(status: str) -> None:
    with lock:
        if orders.get("order-1") not in FINAL:
            orders["order-1"] = status


def ask() -> None:
    told(topup())


receive(told)
answered = topup()
with lock:
    if "order-1" in orders and not MENDED:
        sys.exit("IntegrityError: duplicate key order-1")
told(answered)
wait_for(lambda: orders["order-1"] in FINAL, ask)
