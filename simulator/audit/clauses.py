"""The obligations of a client: each is a small function that judges the traffic and yields findings."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, NamedTuple

from simulator.audit.client_traffic import Traffic

FINDINGS_MAX: Final = 20
"""The maximum number of findings that are reported for an obligation. All violations are counted."""

EVIDENCE_MAX: Final = 100

Severity = Literal["error", "warning"]
Log = Literal["requests", "notifications"]


class Finding(NamedTuple):
    """A violation of an obligation: the numbers of the requests or notifications that show it, and a sentence about
    them."""

    evidence: tuple[int, ...]
    text: str


Occasion = Finding | None
"""An occasion to meet an obligation; None when the client met it."""

Judge = Callable[[Traffic], Iterator[Occasion]]


@dataclass(frozen=True, slots=True)
class Clause:
    """An obligation, from `contracts/obligations.yaml`. `judge` yields every occasion; an obligation without an
    occasion was not exercised."""

    id: str
    section: str
    severity: Severity
    title: str
    advice: str
    log: Log
    judge: Judge


State = Literal["met", "violated", "not_exercised"]


@dataclass(frozen=True, slots=True)
class Obligation(Clause):
    """An obligation and its verdict. `evidence` has the numbers of the requests that show a violation, or of the
    notifications when `log` says so. `findings` has a sentence for each violation, and `violations` counts all of
    them."""

    state: State
    evidence: tuple[int, ...]
    violations: int
    findings: tuple[str, ...]

    @property
    def is_violated(self) -> bool:
        """Return whether there is at least one finding."""
        return self.state == "violated"


def judged(clause: Clause, traffic: Traffic) -> Obligation:
    """Return the verdict on an obligation for this traffic."""
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
    obligations: Iterable[Obligation], *, left_out: int = 0, redact: Callable[[str], str] = str
) -> dict[str, Any]:
    """Return the answer of `GET /_sim/sandboxes/{id}/audit`. `left_out` counts the requests and notifications that were
    evicted and are not judged. `redact` masks secrets in sentences."""
    rows = []
    for obligation in obligations:
        row = {name: getattr(obligation, name) for name in MEMBERS}
        rows.append(row | {"evidence": list(obligation.evidence), "findings": list(map(redact, obligation.findings))})
    return {"ok": not any(row["state"] == "violated" for row in rows), "left_out": left_out, "obligations": rows}
