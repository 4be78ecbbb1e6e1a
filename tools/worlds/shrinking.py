"""Find the shortest sequence of steps that still fails, by leaving out smaller and smaller parts (delta debugging)."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

One = TypeVar("One")

TRIALS_MAX = 400
TRIED_S = 120.0
"""A report that comes is better than a short one that does not: a test that hangs is ended without any."""


class Shortest(NamedTuple, Generic[One]):
    """The remaining steps. `is_certain` means that no step can be left out."""

    steps: list[One]
    is_certain: bool


def shortest(steps: Sequence[One], fails: Callable[[list[One]], bool], trials_max: int = TRIALS_MAX) -> Shortest[One]:
    """Return a minimal part of `steps` that still `fails`, or the best one after so many trials or seconds. The
    whole sequence must fail."""
    left, parts, trials, until = list(steps), 2, 0, monotonic() + TRIED_S
    while len(left) > 1 and trials < trials_max:
        size = -(-len(left) // parts)
        for start in range(0, len(left), size):
            shorter = left[:start] + left[start + size :]
            trials += 1
            if shorter and fails(shorter):
                left, parts = shorter, max(2, parts - 1)
                break
            if trials >= trials_max or monotonic() > until:
                return Shortest(left, is_certain=False)
        else:
            if size == 1:
                return Shortest(left, is_certain=True)
            parts = min(len(left), 2 * parts)
    return Shortest(left, is_certain=len(left) <= 1)
