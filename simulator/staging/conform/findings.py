"""What a check or a question ends with, as values: departures, results, what was learned."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from json import dumps
from typing import Any, Literal

from simulator.shortened import shortened

SHOWN_CHARS_MAX = 300

Outcome = Literal["passed", "departs", "not exercised"]


@dataclass(frozen=True, slots=True)
class Departure:
    """The service does something else than the contract says: where, what was expected, what came."""

    field: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.field}: expected {self.expected}, got {self.actual}"


class Departs(Exception):
    """Ends a check with one departure, since the rest of it has nothing to look at."""

    def __init__(self, field: str, expected: object, actual: object) -> None:
        super().__init__(field)
        self.departure = Departure(field, shown(expected), shown(actual))


class NotExercised(Exception):
    """Ends a check that cannot be made here; the text says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one check. `section` is SPEC's; `why` is given for one that was not exercised; `notes` are of
    interest, and no departures."""

    id: str
    section: str
    title: str
    outcome: Outcome
    departures: tuple[Departure, ...] = ()
    why: str = ""
    notes: tuple[str, ...] = ()
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Learned:
    """What the service does about a knob of `assume`: the knob's value, and the evidence in one line."""

    knob: str
    value: Any
    evidence: str


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run: `target` is the base URL, `unlearned` says why a knob was not learned."""

    target: str
    results: tuple[Result, ...]
    learned: tuple[Learned, ...]
    unlearned: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    spent: str = "0.00"

    @property
    def departed(self) -> tuple[Result, ...]:
        """The results that depart."""
        return self.of("departs")

    def of(self, outcome: Outcome) -> tuple[Result, ...]:
        """The results with an outcome, in their order."""
        return tuple(result for result in self.results if result.outcome == outcome)


def differ(field: str, expected: Any, actual: Any) -> Iterator[Departure]:
    """A departure unless both are equal. A boolean equals no number."""
    if expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        yield Departure(field, shown(expected), shown(actual))


def unless(is_met: bool, field: str, expected: str, actual: object) -> Iterator[Departure]:
    """A departure unless a condition is met."""
    if not is_met:
        yield Departure(field, expected, shown(actual))


def shown(value: object) -> str:
    """A value as a report shows it."""
    return shortened(value if isinstance(value, str) else repr(_plain(value)), SHOWN_CHARS_MAX)


def _plain(value: object) -> object:
    from decimal import Decimal

    if isinstance(value, Decimal):
        return _Number(str(value))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value[:20]]
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, dict) else value


class _Number(str):
    """A number that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def assume_block(learned: Iterable[Learned]) -> str:
    """YAML with one line for each knob; empty when nothing was learned."""
    lines = [
        line for one in learned for line in (f"  # {_comment(one.evidence)}", f"  {one.knob}: {_value(one.value)}")
    ]
    return "\n".join(["assume:", *lines]) + "\n" if lines else ""


def _comment(text: str) -> str:
    """One line, without a character that YAML or a terminal reads."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name}: {_value(one)}" for name, one in value.items()) + " }"
    return value if isinstance(value, str) and value.isidentifier() else dumps(value)
