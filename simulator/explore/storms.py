"""Storms: several faults at once, drawn from a seed."""

from collections.abc import Iterator, Sequence

from simulator.domain.model import draw
from simulator.explore.faults import Fault

FAULTS_MIN, FAULTS_MAX = 2, 5


def storms(seed: int, faults: Sequence[Fault]) -> Iterator[tuple[Fault, ...]]:
    """Storms without end: the same from the same seed and faults, each the same wherever one begins to read."""
    if len({one.place for one in faults}) < FAULTS_MIN:
        return
    number = 0
    while True:
        number += 1
        yield _storm(seed, number, faults)


def _storm(seed: int, number: int, faults: Sequence[Fault]) -> tuple[Fault, ...]:
    span = FAULTS_MAX - FAULTS_MIN + 1
    wanted = FAULTS_MIN + int(draw.fraction(seed, "storm", number, "size") * span)
    chosen: list[Fault] = []
    for pick in range(10 * wanted):
        at = int(draw.fraction(seed, "storm", number, pick) * len(faults))
        if all(_go_together(faults[at], one) for one in chosen):
            chosen.append(faults[at])
        if len(chosen) == wanted:
            break
    return tuple(chosen)


def _go_together(one: Fault, other: Fault) -> bool:
    """False for two at one place, for callbacks that are reversed and otherwise distorted, and for a callback of a status
    that its payment does not come to."""
    if one.place == other.place:
        return False
    if one.payment is None or other.payment is None or one.payment != other.payment:
        return True
    if one.callbacks is not None and other.callbacks is not None:
        return "reverse" not in one.callbacks and "reverse" not in other.callbacks
    return all(_is_told(callback, outcome) for callback, outcome in ((one, other), (other, one)))


def _is_told(callback: Fault, outcome: Fault) -> bool:
    if callback.callbacks is None:
        return True
    told = {step.status for step in outcome.steps[1:]}
    return len(told) > 1 if "reverse" in callback.callbacks else callback.callbacks["status"] in told
