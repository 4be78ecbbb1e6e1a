"""Looks whether an event was seen already, and notes that it was after a round trip to its database."""

import sys
import threading
import time
from contextlib import nullcontext

from reseller_sim import Simulator
from tests.support.racers.shop import MENDED, receive_events, wait_for

seen: set[str] = set()
credits: list[str] = []
lock = threading.Lock()


def told(event: str) -> None:
    with lock if MENDED else nullcontext():
        if event not in seen:
            # sleep: the round trip to a database
            time.sleep(0.05)
            seen.add(event)
            credits.append(event)


receive_events(told)
Simulator().open().deposit("25.00")
wait_for(lambda: bool(credits))
time.sleep(0.3)  # events that are on their way
if len(credits) > 1:
    sys.exit(f"credited {len(credits)} times")
