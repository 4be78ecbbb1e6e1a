"""The audit: every obligation, judged from the traffic of a client."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from simulator.audit.obligations import all_clauses
from simulator.audit.registry import Clause, Log, Severity
from simulator.audit.traffic import SPEC_RATE, Rate, Traffic
from simulator.wire.traffic import Call, Notification

FINDINGS_MAX = 20
"""Of one obligation so many findings are reported; all are counted."""

EVIDENCE_MAX = 100

State = Literal["met", "violated", "not_exercised"]


@dataclass(frozen=True, slots=True)
class Obligation:
    """An obligation and what became of it. `evidence` has the numbers of the requests, or of the notifications when
    `log` says so, that show a violation; `findings` a sentence for each; `violations` counts them all."""

    id: str
    section: str
    severity: Severity
    title: str
    state: State
    evidence: tuple[int, ...]
    log: Log
    violations: int
    findings: tuple[str, ...]
    advice: str

    @property
    def is_violated(self) -> bool:
        """True when there is at least one finding."""
        return self.state == "violated"


def audited(
    calls: Iterable[Call],
    notifications: Iterable[Notification],
    *,
    until: datetime | None = None,
    rate: Rate | None = SPEC_RATE,
    sees_callbacks: bool = True,
) -> list[Obligation]:
    """Every obligation, judged from this traffic; what is not in it, such as what a log has evicted, is not judged.

    `until` is the time at which this is asked, on the clock of the calls; by default that of the last of them. `rate`
    is the limit of requests; None for no limit. Without `sees_callbacks` nothing is held against a client that may have
    been told by a callback.
    """
    traffic = Traffic(calls, notifications, until, rate, sees_callbacks)
    return [_judged(clause, traffic) for clause in all_clauses()]


def _judged(clause: Clause, traffic: Traffic) -> Obligation:
    occasions, violations = 0, 0
    evidence: dict[int, None] = {}
    findings: list[str] = []
    for occasion in clause.judge(traffic):
        occasions += 1
        if occasion is None:
            continue
        violations += 1
        if len(evidence) < EVIDENCE_MAX:
            evidence.update(dict.fromkeys(occasion.evidence))
        if len(findings) < FINDINGS_MAX:
            findings.append(occasion.text)
    return Obligation(
        id=clause.id,
        section=clause.section,
        severity=clause.severity,
        title=clause.title,
        state="violated" if violations else "met" if occasions else "not_exercised",
        evidence=tuple(evidence)[:EVIDENCE_MAX],
        log=clause.log,
        violations=violations,
        findings=tuple(findings),
        advice=clause.advice,
    )


def as_json(
    obligations: Iterable[Obligation], *, left_out: int = 0, shown: Callable[[str], str] = str
) -> dict[str, Any]:
    """The answer of `GET /_sim/sandboxes/{id}/audit`. `left_out` is how many requests and notifications were evicted
    and are not judged; `shown` hides what a sentence must not show."""
    rows = [_row(one, shown) for one in obligations]
    return {
        "ok": not any(row["state"] == "violated" for row in rows),
        "left_out": left_out,
        "obligations": rows,
    }


def _row(one: Obligation, shown: Callable[[str], str]) -> dict[str, Any]:
    return {
        "id": one.id,
        "section": one.section,
        "severity": one.severity,
        "state": one.state,
        "title": one.title,
        "evidence": list(one.evidence),
        "log": one.log,
        "violations": one.violations,
        "findings": [shown(text) for text in one.findings],
        "advice": one.advice,
    }
