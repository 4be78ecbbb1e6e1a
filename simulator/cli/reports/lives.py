"""The sandboxes of a run, those included that were deleted or reset, each judged when it ended."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from simulator.cli.reports.cases import Case, Suite
from simulator.domain.model.expectations import Verdict
from simulator.redaction import Secrets, redact
from simulator.runtime.expectations import verdicts
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.library import BODY

CASES_MAX = 10_000
BYTES_MAX = 8 * 1024 * 1024
CODE = "expectation"


class Lives:
    """Collects the verdicts of sandboxes, bounded by number and bytes: what is met is left out first. Those that are
    not met are counted beyond the bounds, too, so that nothing turns green by being forgotten."""

    def __init__(self, what: str = "expectations") -> None:
        self._what = what
        self._suites: list[Suite] = []
        self._deleted: Counter[str] = Counter()
        self._cases = 0
        self._bytes = 0
        self.total = 0
        self.unmet = 0
        self.met_left_out = 0
        self.unmet_left_out = 0

    def add(self, live: LiveSandbox, label: str) -> list[Verdict]:
        """Judge a sandbox as it is now, if it expects anything; returns its verdicts."""
        found = verdicts(live) if live.counters.expected else []
        self.add_cases(live, label, cases_of(found, live.secrets))
        return found

    def add_cases(self, live: LiveSandbox, label: str, cases: Iterable[Case]) -> None:
        """Keep cases of a sandbox, which show no secret, as far as there is room."""
        kept = tuple(filter(self._keep, cases))
        if kept:
            self._suites.append(Suite(redact(label, live.secrets), kept))

    def label(self, live: LiveSandbox, ending: str = "") -> str:
        """What the report calls a sandbox, `ending` being `deleted`, `reset`, `rewound` or empty for one that still
        exists. To be called once for each, in their order: of several with one id, all but the first are numbered."""
        number = self._deleted[live.id] + 1
        self._deleted[live.id] += ending == "deleted"
        name = f"sandbox {live.id}" + (f", {_ordinal(number)}" if number > 1 else "")
        if ending == "reset":
            return f"{name}, before its {_ordinal(live.resets + 1)} reset"
        if ending == "rewound":
            return f"{name}, before its {_ordinal(live.rewinds + 1)} rewind"
        return name + (f", {ending}" if ending else "")

    def _keep(self, case: Case) -> bool:
        self.total += 1
        self.unmet += not case.ok
        part = 2 if case.ok else 1  # half of the room is for what is not met
        if self._cases >= CASES_MAX // part or self._bytes + case.size > BYTES_MAX // part:
            self.met_left_out += case.ok
            self.unmet_left_out += not case.ok
            return False
        self._cases += 1
        self._bytes += case.size
        return True

    def suites(self, secrets: Iterable[Secrets]) -> list[Suite]:
        """Everything that was judged, without these secrets; a suite about what was left out, if anything was."""
        all_secrets = tuple(secrets)
        shown = [Suite(redact(one.name, all_secrets), without_secrets(one.cases, all_secrets)) for one in self._suites]
        if self.met_left_out or self.unmet_left_out:
            text = (
                f"{self.unmet_left_out} more {self._what} were not met, and {self.met_left_out} more were met:"
                f" a run keeps at most {CASES_MAX}"
            )
            shown.append(Suite("left out", (Case("left out", not self.unmet_left_out, text, code=CODE),)))
        return shown


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def cases_of(found: Iterable[Verdict], secrets: Iterable[Secrets]) -> tuple[Case, ...]:
    """Verdicts as cases, without secrets."""
    return without_secrets(map(_case, found), secrets)


def _case(one: Verdict) -> Case:
    place = one.expectation.place
    place = place if place and place.file != BODY else None  # there is no such file to open
    details = [f"nearest: {line}" for line in one.nearest] + [f"pending: {line}" for line in one.pending]
    return Case(
        name=one.expectation.name,
        ok=one.ok,
        message=one.message,
        details=tuple(details),
        code=CODE,
        file=place.file if place else "",
        line=place.line if place else 0,
    )


def without_secrets(cases: Iterable[Case], secrets: Iterable[Secrets]) -> tuple[Case, ...]:
    """The same cases, their texts without these secrets."""
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
