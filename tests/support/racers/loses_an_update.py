"""Reads the order, changes it and writes it back without a lock, for each callback in a thread of its own."""

import sys
import threading
import time
from contextlib import nullcontext

from tests.support.racers.shop import FINAL, MENDED, receive, topup, wait_for

order: dict[str, int] = {"version": 0}
received = 0
final = threading.Event()
lock = threading.Lock()


def told(status: str) -> None:
    global order, received
    received += 1
    with lock if MENDED else nullcontext():
        read = dict(order)
        # sleep: the round trip to a database
        time.sleep(0.03)
        order = {"version": read["version"] + 1}
    if status in FINAL:
        final.set()


def ask() -> None:
    if topup() in FINAL:
        final.set()


receive(told)
ask()
wait_for(final.is_set, ask)
wait_for(lambda: threading.active_count() <= 2)
time.sleep(0.3)  # callbacks that are on their way
if order["version"] != received:
    sys.exit(f"{received} callbacks, {order['version']} updates")
