"""A fault: one thing that goes wrong in a run, in words and as a part of a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from simulator.explore.seen import SeenPayment, SeenStep

NAME_CHARS_MAX: Final = 100  # of a rule of a scenario
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """`words` tell it from all others. Two with the same `place` cannot be in one run.

    It is a rule of the section `faults` for the `nth` request that its `when` admits; or a change of what a `payment`
    comes to (`steps`, or `refuse` for no payment at all) or of how the callbacks of one status of it are sent; or other
    `sections` of a scenario. Where it `decides_outcome`, a payment comes to another end or none can be made, and the
    command may rightly fail. `wait_s` is for how long it may hold up the command, in the sandbox's time. `milder` ones
    of the same kind are tried when it is shrunk.
    """

    words: str
    place: str
    when: Mapping[str, Any] = field(default_factory=dict)
    nth: int = 0
    then: Mapping[str, Any] | None = None
    payment: SeenPayment | None = None
    steps: tuple[SeenStep, ...] = ()
    refuse: str = ""
    callbacks: Mapping[str, Any] | None = None
    sections: Mapping[str, Any] = field(default_factory=dict)
    decides_outcome: bool = False
    wait_s: float = 0
    milder: tuple["Fault", ...] = ()

    def __str__(self) -> str:
        return self.words


def ordinal(number: int) -> str:
    """`first`, `second` … `11th`."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def sentence(faults: "tuple[Fault, ...]") -> str:
    """All of them in one line."""
    return ", ".join(one.words for one in faults) or "calm weather"
