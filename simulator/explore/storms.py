"""Storms: several faults at once, drawn from a seed."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from simulator.domain.model import draw
from simulator.explore.faults import Fault

FAULTS_MIN, FAULTS_MAX = 2, 5
CLASSES = ("writes", "reads", "outcomes", "callbacks", "weather")  # in the order of a sentence
Item = TypeVar("Item")


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
    classes = _classes(faults)
    for pick in range(10 * wanted):
        of_class = _picked(classes, draw.fraction(seed, "storm", number, pick, "class"))
        fault = _picked(of_class, draw.fraction(seed, "storm", number, pick, "fault"))
        if all(_go_together(fault, one) for one in chosen):
            chosen.append(fault)
        if len(chosen) == wanted:
            break
    return tuple(sorted(chosen, key=lambda one: CLASSES.index(_class(one))))


def _classes(faults: Sequence[Fault]) -> list[list[Fault]]:
    """A client that reads a hundred pages has far more faults of reading than of paying; a storm has all alike."""
    found: dict[str, list[Fault]] = {}
    for one in faults:
        found.setdefault(_class(one), []).append(one)
    return list(found.values())


def _class(fault: Fault) -> str:
    if fault.callbacks is not None:
        return "callbacks"
    if fault.payment is not None:
        return "outcomes"
    if fault.then is not None:
        return "reads" if fault.when.get("method") == "GET" else "writes"
    return "weather"


def _picked(items: Sequence[Item], fraction: float) -> Item:
    return items[int(fraction * len(items))]


def _go_together(one: Fault, other: Fault) -> bool:
    """False for two at one place, for callbacks that are reversed and otherwise distorted, and for those of a status
    that their payment does not come to."""
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
