"""Findings of checks and questions as values: results, learned knobs, a report."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from reseller_sim.formats import LINE_CHARS_MAX
from simulator.scenario.yaml import flow
from simulator.short_text import one_line, shortened
from simulator.wire.formats import encode

Outcome = Literal["passed", "departs", "not exercised"]


@dataclass(frozen=True, slots=True)
class Departure:
    """A difference between service and contract: its place, the expected and the actual value."""

    field: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.field}: expected {self.expected}, got {self.actual}"


class Departs(Exception):
    """Ends a check with a single departure that makes the rest of the check impossible."""

    def __init__(self, field: str, expected: object, actual: object) -> None:
        self.departure = Departure(field, display_text(expected), display_text(actual))
        super().__init__(str(self.departure))


class NotExercised(Exception):
    """Ends a check that cannot be made here; the text says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a check. `section` is SPEC's; `why` is the reason of a check that was not exercised; `notes` are
    remarks, not departures."""

    id: str
    section: str
    title: str
    outcome: Outcome
    departures: tuple[Departure, ...] = ()
    why: str = ""
    notes: tuple[str, ...] = ()
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class LearnedKnob:
    """The service's choice for a knob of `assume`: the knob's value, and the evidence on a single line."""

    knob: str
    value: Any
    evidence: str


@dataclass(frozen=True, slots=True)
class ConformReport:
    """A whole run: `target` is the base URL, `unlearned` says why a knob was not learned."""

    target: str
    results: tuple[Result, ...]
    learned: tuple[LearnedKnob, ...]
    unlearned: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    spent: str = "0.00"

    @property
    def departed(self) -> tuple[Result, ...]:
        return self.of("departs")

    def of(self, outcome: Outcome) -> tuple[Result, ...]:
        """Return the results with an outcome, in their order."""
        return tuple(result for result in self.results if result.outcome == outcome)


def differ(field: str, expected: Any, actual: Any) -> Iterator[Departure]:
    """Yield a departure unless both are equal. A boolean equals no number."""
    if expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        yield Departure(field, display_text(expected), display_text(actual))


def unless(is_met: bool, field: str, expected: str, actual: object) -> Iterator[Departure]:
    """Yield a departure unless a condition is met."""
    if not is_met:
        yield Departure(field, expected, display_text(actual))


def display_text(value: object) -> str:
    """Return a value as a report shows it: a text unchanged, decoded JSON as JSON."""
    is_json = value is None or isinstance(value, dict | list | tuple | bool | int | Decimal)
    return shortened(encode(value).decode() if is_json else str(value), LINE_CHARS_MAX)


def assume_block(learned: Iterable[LearnedKnob]) -> str:
    """Return YAML with a line for each knob; empty without learned knobs."""
    lines = [
        line
        for learned_knob in learned
        for line in (f"  # {one_line(learned_knob.evidence)}", f"  {learned_knob.knob}: {flow(learned_knob.value)}")
    ]
    return "\n".join(["assume:", *lines]) + "\n" if lines else ""
