"""Keeps its open orders in memory alone, and knows none of them after a restart, which SIGHUP asks for."""

import os
import signal
import sys
import tempfile
from pathlib import Path

from tests.support.racers.shop import FINAL, MENDED, receive, topup, wait_for

AGAIN = "again"
KEPT = Path(tempfile.gettempdir()) / f"open-orders-{os.getpid()}"
orders: dict[str, str] = {}


def told(status: str) -> None:
    if orders.get("order-1", "unknown") not in (*FINAL, "unknown"):
        orders["order-1"] = status


def ask() -> None:
    for _ in orders:
        told(topup())


def restart(*about: object) -> None:
    words = [sys.executable, "-m", "tests.support.racers.forgets_at_restart", *sys.argv[1:], AGAIN]
    os.execv(sys.executable, words)  # noqa: S606  # this program again


signal.signal(signal.SIGHUP, restart)
if AGAIN not in sys.argv:
    orders["order-1"] = "new"
    KEPT.write_text("order-1" if MENDED else "")
else:
    orders |= dict.fromkeys(KEPT.read_text().split(), "new")
receive(told)
ask()
wait_for(lambda: orders.get("order-1") in FINAL, ask)
KEPT.unlink()
