"""Ships when a payment becomes Succesful, and lets a stale answer move the status back."""

import sys
import threading

from tests.support.racers.shop import FINAL, MENDED, receive, topup, wait_for

status, shipped = "", 0
lock = threading.Lock()


def told(new: str) -> None:
    global status, shipped
    with lock:
        if status in FINAL and (MENDED or new in FINAL):
            return
        status = new
        shipped += status == "Succesful"


def ask() -> None:
    told(topup())


receive(told)
ask()
wait_for(lambda: status in FINAL, ask)
ask()
if shipped > 1:
    sys.exit(f"shipped {shipped} times")
