"""The obligations of a client, in the order in which they are reported: each is one small function of the traffic."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from simulator.audit.traffic import Traffic

Severity = Literal["error", "warning"]
Log = Literal["requests", "notifications"]


class Finding(NamedTuple):
    """Something that the client did against an obligation: the numbers of the requests or notifications that show it,
    and a sentence about them."""

    evidence: tuple[int, ...]
    text: str


Occasion = Finding | None
"""An occasion to meet an obligation; None when the client met it."""

Judge = Callable[[Traffic], Iterator[Occasion]]


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that SPEC asks of a client. `severity` is `error` when money or correctness is at stake; `title` is the
    obligation in a sentence, `advice` what to do; `log` is what the numbers of its evidence are about. `judge` yields
    every occasion, so one that yields nothing was not exercised."""

    id: str
    section: str
    severity: Severity
    title: str
    advice: str
    log: Log
    judge: Judge


CLAUSES: dict[str, Clause] = {}


def obligation(
    id_: str, section: str, severity: Severity, title: str, advice: str, log: Log = "requests"
) -> Callable[[Judge], Judge]:
    """Register an obligation."""

    def register(judge: Judge) -> Judge:
        assert id_ not in CLAUSES, id_
        CLAUSES[id_] = Clause(id_, section, severity, title, advice, log, judge)
        return judge

    return register
