"""The verdicts of `exec` on its sandboxes, by their expectations and the audit, and the end of a run."""

import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from reseller_sim.exchange import proxy_hint
from simulator.cli.audit import AUDIT, NOT_EXERCISED, NOTHING, WHERE_TO_SEND, audit_cases
from simulator.cli.reports.folder import ReportFolder, begin_folder
from simulator.cli.reports.report_cases import UNWRITABLE, WARNING, ReportCase, Reports, RunFacts, Suite
from simulator.cli.reports.run_tapes import RunTapes
from simulator.cli.server import BoundServer
from simulator.cli.usage import CannotStart, notify
from simulator.control.result_endpoints import audit_of
from simulator.domain.model.expectations import Verdict
from simulator.redaction import Mask, Secrets, redact
from simulator.runtime.expectation_verdicts import verdicts
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import LifeEnding
from simulator.scenario.library import BODY

_BEST_TO_WORST: Final = (NOT_EXERCISED, "met", "warning", "violated")
WAITING_MAX: Final = 200
"""The maximum number of ended sandboxes that wait for their verdict. Beyond it the event loop waits."""


class RunVerdicts:
    """The suites of the sandboxes of a run: of their expectations, and of their audits. `passed_over` is the number of
    sandboxes that got a request, and that their makers excluded from the audit."""

    def __init__(self) -> None:
        self.expected: list[Suite] = []
        self._audited: list[Suite] = []
        self._worst: dict[str, int] = {}
        self._sandboxes = 0
        self.passed_over = 0
        self._deleted: Counter[str] = Counter()
        self._ended: Counter[tuple[str, int, str]] = Counter()  # lives, by sandbox and ending

    def label(self, live: LiveSandbox, ending: str = "") -> str:
        """Return the report's label of a sandbox. `ending` is `deleted`, `reset`, `rewound`, or empty for an existing
        sandbox. Call it once for each life in order, since later sandboxes with the same id are numbered."""
        number = self._deleted[live.id] + 1
        self._deleted[live.id] += ending == "deleted"
        name = f"sandbox {live.id}" + (f" ({number})" if number > 1 else "")
        self._ended[live.id, number, ending] += 1
        nth = self._ended[live.id, number, ending]
        ends = {"reset": f"before reset {nth}", "rewound": f"before rewind {nth}"}
        return f"{name}, {ends.get(ending, ending)}" if ending else name

    def add_audit(self, suite: Suite, *, has_reached_endpoint: bool) -> None:
        """Add the obligations of a sandbox that got a request, and keep the worst state of each. Requests that reach no
        endpoint exercise nothing, though some obligations are about every request."""
        self._audited.append(suite)
        self._sandboxes += has_reached_endpoint
        for case in suite.cases:
            verdict = "violated" if not case.ok else "warning" if case.message else "met"
            found = _BEST_TO_WORST.index(NOT_EXERCISED if case.skipped else verdict)
            self._worst[case.name] = max(found, self._worst.get(case.name, 0))

    def suites(self, secrets: Iterable[Secrets]) -> list[Suite]:
        """Return everything that was judged, without these secrets."""
        known = tuple(secrets)
        return [without_secrets(suite, known) for suite in (*self.expected, *self._audited)]

    @property
    def expectations(self) -> str:
        """Return the counts of the expectations in a line."""
        cases = [case for suite in self.expected for case in suite.cases]
        if unmet := sum(not case.ok for case in cases):
            return f"{unmet} of {len(cases)} expectations not met"
        return f"all {len(cases)} expectations met" if cases else "nothing was expected"

    @property
    def nothing_audited(self) -> list[Suite]:
        """Return a case that is not ok when nothing was exercised: an audit of nothing shows nothing."""
        if self._sandboxes:
            return []
        case = ReportCase(name="a sandbox was judged", ok=False, message=self.audit, code=NOTHING)
        return [Suite("audit", (case,))]

    @property
    def audit(self) -> str:
        """Return the counts of the audit in a line."""
        passed_over = [f"{self.passed_over} passed over (audit: false)"] if self.passed_over else []
        if not self._sandboxes:
            nothing = "nothing was judged: no request reached an endpoint of a judged sandbox"
            return f"{', '.join([nothing, *passed_over])}; {WHERE_TO_SEND}{proxy_hint(os.environ)}"
        states = list(self._worst.values())
        met, warned, violated = (states.count(_BEST_TO_WORST.index(name)) for name in ("met", "warning", "violated"))
        warnings = [f"{warned} {'warning' if warned == 1 else 'warnings'}"] if warned else []
        counts = [f"{met} met", f"{violated} violated", *warnings, f"{states.count(0)} {NOT_EXERCISED}"]
        many = "sandbox" if self._sandboxes == 1 else "sandboxes"
        return ", ".join([*counts, f"{self._sandboxes} {many}", *passed_over])


class Judge:
    """Judges each sandbox when it is deleted or reset, and the remaining sandboxes at the end of the run."""

    def __init__(
        self, reports: Reports, folder: Path | None, *, audits: bool = False, tapes: RunTapes | None = None
    ) -> None:
        self._reports = reports
        self._tapes = tapes
        self._audits = audits
        self._path = folder
        self._verdicts = RunVerdicts()
        self._got_request = False
        self._folder: ReportFolder | None = None
        self._worker = ThreadPoolExecutor(1, "report")
        self._waiting: deque[Future[None]] = deque()

    def begin(self) -> None:
        """Mark all files as unfinished. Raises `CannotStart` for a file that cannot be written."""
        self._reports.begin()
        if self._path is not None:
            begin_folder(self._path)
        if self._tapes is not None:
            self._tapes.begin()

    def not_run(self, message: str) -> None:
        """Write and print that there is no result, and why."""
        self._reports.not_run(message)
        if self._path is not None:
            with suppress(CannotStart):
                begin_folder(self._path, message)
        if self._tapes is not None:
            self._tapes.not_run()

    def follow(self, running: BoundServer, scenario: str) -> None:
        """Judge the sandboxes of a server that is about to start from this scenario."""
        self._running = running
        if self._tapes is not None:
            self._tapes.replayer = running.app.replayer
        self._scenario, self._seed = scenario, running.app.sandboxes.default.seed
        self._began = datetime.now().astimezone().isoformat(timespec="seconds")
        if self._path is not None:
            self._folder = ReportFolder(self._path, running.app.sandboxes, running.url)
        running.app.sandboxes.on_ended = self._add

    def _add(self, live: LiveSandbox, ending: LifeEnding = "") -> None:
        """Judge and write a sandbox in a worker thread, since this takes seconds for thousands of payments. The worker
        reads a frozen copy, which has the final state."""
        self._got_request |= live.life.journal.last_n > 0
        label = self._verdicts.label(live, ending)
        is_judged = self._folder is not None or live.counters.expected or self._audits
        if not is_judged and self._tapes is None:
            return
        life, ended = live.frozen_copy(), live.clock.now()
        masks = self._folder.masks(life) if self._folder is not None else {}
        if len(self._waiting) >= WAITING_MAX:
            self._waiting.popleft().result()
        self._waiting.append(self._worker.submit(self._add_life, life, ended, ending, label, masks))

    def _add_life(
        self, life: LiveSandbox, ended: datetime, ending: LifeEnding, label: str, masks: Mapping[str, Mask]
    ) -> None:
        if self._tapes is not None:
            self._tapes.add(life, ended, ending)
        found = verdicts(life) if life.counters.expected else []
        suite = without_secrets(Suite(label, tuple(map(expectation_case, found))), life.secrets)
        self._verdicts.expected += [suite] if found else []
        cases = suite.cases
        is_asked = self._audits and life.journal.last_n > 0
        audit = audit_of(life) if is_asked or self._folder is not None else {}
        if is_asked and not life.spec.is_audited:
            self._verdicts.passed_over += 1
        elif is_asked:
            audited = Suite(f"{label}, audit", tuple(audit_cases(audit["obligations"])))
            audited = without_secrets(audited, life.secrets)
            self._verdicts.add_audit(audited, has_reached_endpoint=life.counters.has_reached_endpoint)
            cases += tuple(case for case in audited.cases if case.message)
        if self._folder is not None:
            self._folder.add(life, Suite(label, cases), found, audit, masks)

    def exit_code(self, status: int) -> int:
        """Judge the remaining sandboxes, which are idle by now, and write all reports. Return our exit code for the
        `status` of the command."""
        sandboxes = self._running.app.sandboxes
        for live in sandboxes:
            self._add(live)
        while self._waiting:
            self._waiting.popleft().result()
        if not self._got_request and not self._audits and (hint := proxy_hint(os.environ)):
            notify(f"no sandbox got a request;{hint}")
        nothing_audited = self._verdicts.nothing_audited if self._audits else []
        suites = self._verdicts.suites(sandboxes.secrets) + nothing_audited
        is_written = self._write_reports(suites, RunFacts(status, self._scenario, self._seed, self._began))
        if self._reports.format == "text":
            _print(suites)
        if self._audits and not nothing_audited:
            notify(f"audit: {self._verdicts.audit}")
        self._reports.show(suites, is_after_others=True)
        if self._tapes is not None:
            is_written = self._tapes.end() and is_written
        if status:
            return status
        return UNWRITABLE if not is_written else 0 if all(suite.ok for suite in suites) else 1

    def _write_reports(self, suites: Sequence[Suite], run: RunFacts) -> bool:
        """Write the files and the folder's page. Return whether that was possible."""
        is_written = self._reports.write(suites, run)
        if self._folder is None:
            return is_written
        audit = f"audit: {self._verdicts.audit}; " if self._audits else ""
        about = f"scenario {run.scenario}, seed {run.seed}, {run.began}"
        self._folder.end(f"{self._verdicts.expectations}; {audit}the command exited with {run.command_exit}; {about}")
        notify(self._folder.error or f"report: {self._path}/index.html")
        return is_written and not self._folder.error


def _print(suites: Sequence[Suite]) -> None:
    """Print the cases that are not ok, and the warnings."""
    for name, case in ((suite.name, case) for suite in suites for case in suite.cases):
        if case.ok and not case.is_warning:
            continue
        place = f"{case.file}:{case.line}: " if case.line else ""
        if case.code in (AUDIT, WARNING):
            place = f"{case.name.partition(':')[0]}: "
        notify(f"{'warning' if case.ok else 'not as expected'}: {name}: {place}{case.message}")
        for line in case.details:
            notify(f"  {line}")


def expectation_case(verdict: Verdict) -> ReportCase:
    place = verdict.expectation.place
    place = place if place and place.file != BODY else None  # not a file that can be opened
    details = [f"nearest: {line}" for line in verdict.nearest] + [f"pending: {line}" for line in verdict.pending]
    return ReportCase(
        name=verdict.expectation.name,
        ok=verdict.ok,
        message=verdict.message,
        details=tuple(details),
        code="expectation",
        file=place.file if place else "",
        line=place.line if place else 0,
    )


def without_secrets(suite: Suite, secrets: tuple[Secrets, ...]) -> Suite:
    """Return a suite with redacted texts."""
    cases = [
        replace(
            case,
            name=redact(case.name, secrets),
            message=redact(case.message, secrets),
            details=tuple(redact(line, secrets) for line in case.details),
        )
        for case in suite.cases
    ]
    return Suite(redact(suite.name, secrets), tuple(cases))
