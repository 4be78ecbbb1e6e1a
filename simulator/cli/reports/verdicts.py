"""Verdicts of expectations and the audit on the sandboxes of a run, as cases."""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from reseller_sim.exchange import proxy_hint
from simulator.cli.audit import NOT_EXERCISED, NOTHING, WHERE_TO_SEND
from simulator.cli.reports.cases import ReportCase, Suite
from simulator.domain.model.expectations import Verdict
from simulator.redaction import Secrets, redact
from simulator.runtime.expectation_verdicts import verdicts
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.library import BODY

_BEST_TO_WORST: Final = (NOT_EXERCISED, "met", "warning", "violated")


class Totals:
    """The worst state of each obligation across all sandboxes of a run."""

    def __init__(self) -> None:
        self._worst: dict[str, int] = {}
        self._sandboxes = 0
        self.passed_over = 0
        """The number of sandboxes that got a request, and that their makers excluded."""

    def add(self, cases: Iterable[ReportCase], *, has_reached_endpoint: bool) -> None:
        """Count the obligations of a sandbox that got a request. Requests that reach no endpoint exercise nothing,
        though some obligations are about every request."""
        self._sandboxes += has_reached_endpoint
        for one in cases:
            verdict = "violated" if not one.ok else "warning" if one.message else "met"
            found = _BEST_TO_WORST.index(NOT_EXERCISED if one.skipped else verdict)
            self._worst[one.name] = max(found, self._worst.get(one.name, 0))

    @property
    def of_nothing(self) -> list[Suite]:
        """Return a case that is not ok when nothing was exercised: an audit of nothing shows nothing."""
        if self._sandboxes:
            return []
        return [Suite("audit", (ReportCase(name="a sandbox was judged", ok=False, message=self.text, code=NOTHING),))]

    @property
    def text(self) -> str:
        """Return the counts in a line."""
        passed_over = [f"{self.passed_over} passed over (audit: false)"] if self.passed_over else []
        if not self._sandboxes:
            nothing = ", ".join(
                ["nothing was judged: no request reached an endpoint of a judged sandbox", *passed_over]
            )
            return f"{nothing}; {WHERE_TO_SEND}{proxy_hint(os.environ)}"
        states = list(self._worst.values())
        met, warned, violated = (states.count(_BEST_TO_WORST.index(name)) for name in ("met", "warning", "violated"))
        warnings = [f"{warned} {'warning' if warned == 1 else 'warnings'}"] if warned else []
        counts = [f"{met} met", f"{violated} violated", *warnings, f"{states.count(0)} {NOT_EXERCISED}"]
        many = "sandbox" if self._sandboxes == 1 else "sandboxes"
        return ", ".join([*counts, f"{self._sandboxes} {many}", *passed_over])


class Lives:
    """Collects the verdicts of sandboxes."""

    def __init__(self) -> None:
        self._suites: list[Suite] = []
        self._deleted: Counter[str] = Counter()
        self.total = 0
        self.unmet = 0

    def add(self, live: LiveSandbox, label: str) -> list[Verdict]:
        """Judge the present state of a sandbox that has expectations, and return the verdicts."""
        found = verdicts(live) if live.counters.expected else []
        self.add_cases(live, label, expectation_cases(found, live.secrets))
        return found

    def add_cases(self, live: LiveSandbox, label: str, cases: Iterable[ReportCase]) -> None:
        """Keep cases of a sandbox, which show no secret."""
        kept = tuple(cases)
        self.total += len(kept)
        self.unmet += sum(1 for case in kept if not case.ok)
        if kept:
            self._suites.append(Suite(redact(label, live.secrets), kept))

    def label(self, live: LiveSandbox, ending: str = "") -> str:
        """Return the report's label of a sandbox. `ending` is `deleted`, `reset`, `rewound`, or empty for an existing
        sandbox. Call it once for each life in order, since later sandboxes with the same id are numbered."""
        number = self._deleted[live.id] + 1
        self._deleted[live.id] += ending == "deleted"
        name = f"sandbox {live.id}" + (f" ({number})" if number > 1 else "")
        ends = {"reset": f"before reset {live.resets + 1}", "rewound": f"before rewind {live.rewinds + 1}"}
        return f"{name}, {ends.get(ending, ending)}" if ending else name

    def suites(self, secrets: Iterable[Secrets]) -> list[Suite]:
        """Everything that was judged, without these secrets."""
        known = tuple(secrets)
        return [Suite(redact(one.name, known), without_secrets(one.cases, known)) for one in self._suites]


def expectation_cases(found: Iterable[Verdict], secrets: Iterable[Secrets]) -> tuple[ReportCase, ...]:
    """Verdicts as cases, without secrets."""
    return without_secrets(map(_case, found), secrets)


def _case(one: Verdict) -> ReportCase:
    place = one.expectation.place
    place = place if place and place.file != BODY else None  # not a file that can be opened
    details = [f"nearest: {line}" for line in one.nearest] + [f"pending: {line}" for line in one.pending]
    return ReportCase(
        name=one.expectation.name,
        ok=one.ok,
        message=one.message,
        details=tuple(details),
        code="expectation",
        file=place.file if place else "",
        line=place.line if place else 0,
    )


def without_secrets(cases: Iterable[ReportCase], secrets: Iterable[Secrets]) -> tuple[ReportCase, ...]:
    """Return the cases with redacted texts."""
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
