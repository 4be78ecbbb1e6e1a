"""The checks and the questions, in the order in which they are made: each is one small function."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from simulator.staging.conform.context import Need, Run
from simulator.staging.conform.findings import Departure

Made = Callable[[Run], Iterable[Departure]]
Asked = Callable[[Run], tuple[Any, str]]

MISSING: dict[Need, str] = {
    "payments": "it pays, which needs --allow-payments and --pay",
    "configuration": "it changes the configuration for a moment, which needs --allow-configuration",
    "login": "it logs in, which needs --username and --password",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that SPEC says. `made` yields departures, or raises `Departs` or `NotExercised`."""

    id: str
    section: str
    title: str
    needs: Need
    made: Made


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that SPEC leaves open: `asked` returns the value of the knob `assume.<id>` that does what the service
    does, and the evidence; it raises `NotExercised` when nothing shows it."""

    id: str
    needs: Need
    asked: Asked


CHECKS: dict[str, Check] = {}
QUESTIONS: dict[str, Question] = {}


def check(id_: str, section: str, title: str, needs: Need = "") -> Callable[[Made], Made]:
    """Register a check."""

    def register(made: Made) -> Made:
        assert id_ not in CHECKS, id_
        CHECKS[id_] = Check(id_, section, title, needs, made)
        return made

    return register


def question(knob: str, needs: Need = "") -> Callable[[Asked], Asked]:
    """Register a question about a knob of the register."""

    def register(asked: Asked) -> Asked:
        assert knob not in QUESTIONS, knob
        QUESTIONS[knob] = Question(knob, needs, asked)
        return asked

    return register
