"""Verdicts of expectations and the audit on the sandboxes of a run, as lines and as cases."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reseller_sim.exchange import proxy_hint
from simulator.cli.reports.cases import ReportCase, Suite

if TYPE_CHECKING:
    from simulator.domain.model.expectations import Verdict
    from simulator.redaction import Secrets
    from simulator.runtime.live_sandbox import LiveSandbox

AUDIT, WARNING, NOTHING = "audit", "audit_warning", "audit_of_nothing"
NOT_EXERCISED = "not exercised"

Row = Mapping[str, Any]
NO_REQUEST: Final = "no sandbox got a request; does the command send to RESELLER_BASE_URL?"
NO_ENDPOINT: Final = (
    "nothing was exercised: requests came, but only for unknown paths or sandboxes; "
    "does the command send to RESELLER_BASE_URL and the paths of the service?"
)
_BEST_TO_WORST: Final = (NOT_EXERCISED, "met", "warning", "violated")
EXPECTATION = "expectation"


def mark(row: Row) -> str:
    """Return the state of an obligation as a word."""
    if row["state"] == "violated":
        return "VIOLATED" if row["severity"] == "error" else "warning"
    return "ok" if row["state"] == "met" else "-"


def lines_of(row: Row) -> Iterator[str]:
    """Yield one obligation: its line, and below it what violates it and what to do."""
    yield f"{mark(row):<8}  {row['section']:<5} {row['id']}: {row['title']}"
    if row["state"] == "violated":
        yield from (f"            {text}" for text in row["findings"])
        more = row["violations"] - len(row["findings"])
        if more > 0:
            yield f"            and {more} more"
        yield f"            do: {row['advice']}"


def ending(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counts in a line, and what the logs have lost."""
    states = [row["state"] for row in made["obligations"]]
    words = {"met": "met", "violated": "violated", "not_exercised": NOT_EXERCISED}
    yield ", ".join(f"{states.count(state)} {word}" for state, word in words.items())
    if made["left_out"]:
        yield f"{made['left_out']} older requests and notifications were evicted, and are not judged"


class Totals:
    """The worst state of each obligation across all sandboxes of a run."""

    def __init__(self) -> None:
        self._worst: dict[str, int] = {}
        self._sandboxes = 0
        self._unreached = 0
        self._passed_over = 0

    def add(self, cases: Iterable[ReportCase], *, has_reached_endpoint: bool) -> None:
        """Count the obligations of a sandbox that got a request. Requests that reach no endpoint exercise nothing,
        though some obligations are about every request."""
        self._sandboxes += has_reached_endpoint
        self._unreached += not has_reached_endpoint
        for one in cases:
            found = _BEST_TO_WORST.index(_state(one))
            self._worst[one.name] = max(found, self._worst.get(one.name, 0))

    def pass_over(self) -> None:
        """Count one more that has got a request, and that its maker wants not to be judged."""
        self._passed_over += 1

    @property
    def of_nothing(self) -> list[Suite]:
        """Return a case that is not ok when nothing was exercised: an audit of nothing shows nothing."""
        if self._sandboxes:
            return []
        name = "a sandbox was judged" if self._passed_over or self._unreached else "a sandbox got a request"
        return [Suite("audit", (ReportCase(name=name, ok=False, message=self._why_nothing, code=NOTHING),))]

    @property
    def _why_nothing(self) -> str:
        if self._unreached:
            return NO_ENDPOINT
        if not self._passed_over:
            return NO_REQUEST + proxy_hint(os.environ)
        those = "the only sandbox" if self._passed_over == 1 else f"all {self._passed_over} sandboxes"
        were = "was" if self._passed_over == 1 else "were"
        return f"nothing was judged: {those} that got a request {were} made with audit: false"

    @property
    def text(self) -> str:
        """Return the counts in a line."""
        if not self._sandboxes:
            return self._why_nothing
        states = list(self._worst.values())
        met, warned, violated = (states.count(_BEST_TO_WORST.index(name)) for name in ("met", "warning", "violated"))
        warnings = [f"{warned} {'warning' if warned == 1 else 'warnings'}"] if warned else []
        counts = [f"{met} met", f"{violated} violated", *warnings, f"{states.count(0)} {NOT_EXERCISED}"]
        many = "sandbox" if self._sandboxes == 1 else "sandboxes"
        passed_over = [f"{self._passed_over} passed over (audit: false)"] if self._passed_over else []
        return ", ".join([*counts, f"{self._sandboxes} {many}", *passed_over])


def _state(case: ReportCase) -> str:
    if case.skipped:
        return NOT_EXERCISED
    return "violated" if not case.ok else "warning" if case.message else "met"


def audit_cases(rows: Iterable[Row]) -> Iterator[ReportCase]:
    """Obligations as cases: only an error that is violated is not ok."""
    for row in rows:
        is_violated, is_error = row["state"] == "violated", row["severity"] == "error"
        first, *others = row["findings"] or [""]
        message = f"SPEC {row['section']}: {first}" if is_violated else ""
        yield ReportCase(
            name=f"{row['id']}: {row['title']}",
            ok=not (is_violated and is_error),
            message=message,
            details=(*others, f"do: {row['advice']}") if is_violated else (),
            code=AUDIT if is_error else WARNING,
            skipped=NOT_EXERCISED if row["state"] == "not_exercised" else "",
        )


class Lives:
    """Collects the verdicts of sandboxes."""

    def __init__(self) -> None:
        self._suites: list[Suite] = []
        self._deleted: Counter[str] = Counter()
        self.total = 0
        self.unmet = 0

    def add(self, live: "LiveSandbox", label: str) -> "list[Verdict]":
        """Judge the present state of a sandbox that has expectations, and return the verdicts."""
        from simulator.runtime.expectation_verdicts import verdicts

        found = verdicts(live) if live.counters.expected else []
        self.add_cases(live, label, expectation_cases(found, live.secrets))
        return found

    def add_cases(self, live: "LiveSandbox", label: str, cases: Iterable[ReportCase]) -> None:
        """Keep cases of a sandbox, which show no secret."""
        from simulator.redaction import redact

        kept = tuple(cases)
        self.total += len(kept)
        self.unmet += sum(1 for case in kept if not case.ok)
        if kept:
            self._suites.append(Suite(redact(label, live.secrets), kept))

    def label(self, live: "LiveSandbox", ending: str = "") -> str:
        """Return the report's label of a sandbox. `ending` is `deleted`, `reset`, `rewound`, or empty for an existing
        sandbox. Call it once for each life in order, since later sandboxes with the same id are numbered."""
        number = self._deleted[live.id] + 1
        self._deleted[live.id] += ending == "deleted"
        name = f"sandbox {live.id}" + (f", {_ordinal(number)}" if number > 1 else "")
        if ending == "reset":
            return f"{name}, before its {_ordinal(live.resets + 1)} reset"
        if ending == "rewound":
            return f"{name}, before its {_ordinal(live.rewinds + 1)} rewind"
        return name + (f", {ending}" if ending else "")

    def suites(self, secrets: "Iterable[Secrets]") -> list[Suite]:
        """Everything that was judged, without these secrets."""
        from simulator.redaction import redact

        known = tuple(secrets)
        return [Suite(redact(one.name, known), without_secrets(one.cases, known)) for one in self._suites]


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def expectation_cases(found: "Iterable[Verdict]", secrets: "Iterable[Secrets]") -> tuple[ReportCase, ...]:
    """Verdicts as cases, without secrets."""
    return without_secrets(map(_case, found), secrets)


def _case(one: "Verdict") -> ReportCase:
    from simulator.scenario.library import BODY

    place = one.expectation.place
    place = place if place and place.file != BODY else None  # not a file that can be opened
    details = [f"nearest: {line}" for line in one.nearest] + [f"pending: {line}" for line in one.pending]
    return ReportCase(
        name=one.expectation.name,
        ok=one.ok,
        message=one.message,
        details=tuple(details),
        code=EXPECTATION,
        file=place.file if place else "",
        line=place.line if place else 0,
    )


def without_secrets(cases: Iterable[ReportCase], secrets: "Iterable[Secrets]") -> tuple[ReportCase, ...]:
    """Return the cases with redacted texts."""
    from simulator.redaction import redact

    known = tuple(secrets)
    return tuple(
        replace(
            one,
            name=redact(one.name, known),
            message=redact(one.message, known),
            details=tuple(redact(line, known) for line in one.details),
        )
        for one in cases
    )
