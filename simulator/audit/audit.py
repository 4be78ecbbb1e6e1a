"""Obligations: what SPEC asks of a client, each one small function of its traffic, and what became of each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, NamedTuple

from simulator.audit.traffic import Traffic

FINDINGS_MAX: Final = 20
"""Of one obligation so many findings are reported; all are counted."""

EVIDENCE_MAX: Final = 100

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


State = Literal["met", "violated", "not_exercised"]


@dataclass(frozen=True, slots=True)
class Obligation(Clause):
    """An obligation and what became of it. `evidence` has the numbers of the requests, or of the notifications when
    `log` says so, that show a violation; `findings` a sentence for each; `violations` counts them all."""

    state: State
    evidence: tuple[int, ...]
    violations: int
    findings: tuple[str, ...]

    @property
    def is_violated(self) -> bool:
        """True when there is at least one finding."""
        return self.state == "violated"


def judged(clause: Clause, traffic: Traffic) -> Obligation:
    """Return what became of an obligation in this traffic."""
    occasions = list(clause.judge(traffic))
    found = [occasion for occasion in occasions if occasion is not None]
    evidence = dict.fromkeys(n for finding in found[:EVIDENCE_MAX] for n in finding.evidence)
    return Obligation(
        **asdict(clause),
        state="violated" if found else "met" if occasions else "not_exercised",
        evidence=tuple(evidence)[:EVIDENCE_MAX],
        violations=len(found),
        findings=tuple(finding.text for finding in found[:FINDINGS_MAX]),
    )


MEMBERS: Final = ("id", "section", "severity", "state", "title", "evidence", "log", "violations", "findings", "advice")


def as_json(
    obligations: Iterable[Obligation], *, left_out: int = 0, shown: Callable[[str], str] = str
) -> dict[str, Any]:
    """Return the answer of `GET /_sim/sandboxes/{id}/audit`. `left_out` is how many requests and notifications were
    evicted and are not judged; `shown` hides what a sentence must not show."""
    rows = []
    for one in obligations:
        row = {name: getattr(one, name) for name in MEMBERS}
        rows.append(row | {"evidence": list(one.evidence), "findings": list(map(shown, one.findings))})
    return {"ok": not any(row["state"] == "violated" for row in rows), "left_out": left_out, "obligations": rows}
