"""Asking for the status of a payment that is not final (SPEC 3.1, 8)."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from simulator.audit.payments import Outcome
from simulator.audit.reading import shown
from simulator.audit.registry import Finding, Occasion, obligation
from simulator.audit.traffic import Traffic

APART_MIN = timedelta(seconds=5)
JITTER = timedelta(milliseconds=500)
"""What the network may take from the distance between two requests."""

GIVEN_UP_AFTER = timedelta(minutes=5)
"""By then even the last retry of a callback has been made."""


@obligation(
    "polling-pace",
    "3.1",
    "error",
    "A payment that is Processing is asked about every 5 to 10 seconds, and not faster.",
    "Wait at least five seconds after each answer that is not final.",
)
def polling_pace(traffic: Traffic) -> Iterator[Occasion]:
    """By the service's time. Where that stands still, such as under a manual clock, a pace cannot be told; and the
    first question after the creation may come at once."""
    for (_, refid), asked in traffic.by_refid.items():
        for place, (before, one) in enumerate(pairwise(asked)):
            is_due = before.outcome is Outcome.PROCESSING or (place > 0 and before.outcome is Outcome.ACCEPTED)
            apart = one.at - before.at
            if not is_due or not apart:
                continue
            if apart < APART_MIN - JITTER:
                words = f"request {one.n} asks {round(apart.total_seconds(), 1):g} s after request {before.n}"
                yield Finding((before.n, one.n), f"refid {shown(refid)}: {words}")
            else:
                yield None


@obligation(
    "polling-to-the-end",
    "3.1",
    "error",
    "A payment is asked about until it is final, also when an answer was lost.",
    "Keep every payment without a final status in a list, and work through it until the list is empty.",
)
def polling_to_the_end(traffic: Traffic) -> Iterator[Occasion]:
    """Given up is a payment that nobody asked about for five minutes, and that no callback told to be final."""
    for (_, refid), asked in traffic.by_refid.items():
        last = asked[-1]
        was_open = any(one.outcome.is_open or one.outcome is Outcome.UNKNOWN for one in asked)
        is_known = last.outcome.is_final or last.outcome is Outcome.REFUSED or traffic.is_told(refid)
        if was_open and is_known:
            yield None
        elif (
            was_open
            and traffic.sees_callbacks
            and traffic.until is not None
            and traffic.until - last.at >= GIVEN_UP_AFTER
        ):
            words = f"was {last.outcome.value} in request {last.n}, and was not asked about for five minutes"
            yield Finding((last.n,), f"refid {shown(refid)} {words}")
