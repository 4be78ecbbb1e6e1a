"""The clocks of waits with a bound and of received messages, which no library that freezes time in a test changes.

freezegun replaces the functions of the module `time` and every reference to them in a loaded module, but neither
`clock_gettime` nor references inside other objects. time-machine replaces the functions themselves, but leaves
CLOCK_MONOTONIC and offers the real time.
"""

import sys
import time
from functools import partial

HAS_CLOCKS = hasattr(time, "clock_gettime")
_MONOTONIC = partial(time.clock_gettime, time.CLOCK_MONOTONIC) if HAS_CLOCKS else partial(time.monotonic)
_WALL = partial(time.clock_gettime, time.CLOCK_REALTIME) if HAS_CLOCKS else partial(time.time)


def real_monotonic() -> float:
    """Return the seconds of a clock that only runs forward."""
    return _MONOTONIC()


def real_time() -> float:
    """Return the Unix time of the machine."""
    time_machine = sys.modules.get("time_machine")
    if time_machine is not None and time_machine.escape_hatch.is_travelling():
        return float(time_machine.escape_hatch.time.time())
    return _WALL()
