"""The verdict of `exec` on all of its sandboxes at the end of a run."""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reseller_sim.exchange import proxy_hint
from simulator.cli.output import print_to_stderr
from simulator.cli.reports.cases import UNWRITABLE, ReportCase, Reports, RunFacts, Suite, all_ok
from simulator.cli.reports.verdicts import (
    AUDIT,
    WARNING,
    Lives,
    Totals,
    audit_cases,
    expectation_cases,
    without_secrets,
)
from simulator.shortened import whole_line

if TYPE_CHECKING:
    from simulator.cli.reports.folder import ReportFolder
    from simulator.cli.reports.tapes import Tapes
    from simulator.cli.server import Running
    from simulator.redaction import Mask
    from simulator.runtime.live_sandbox import LiveSandbox
    from simulator.runtime.lives import Ending


WAITING_MAX: Final = 200
"""The maximum number of ended sandboxes that wait for their verdict. Beyond it the event loop waits."""


class Judge:
    """Judges each sandbox when it is deleted or reset, and the remaining sandboxes at the end of the run. Imports the
    server's modules only in `follow`."""

    def __init__(
        self, reports: Reports, folder: Path | None, *, audits: bool = False, tapes: "Tapes | None" = None
    ) -> None:
        self._reports = reports
        self._tapes = tapes
        self._audits = audits
        self._path = folder
        self._totals = Totals()
        self._got_request = False
        self._folder: ReportFolder | None = None
        self._worker = ThreadPoolExecutor(1, "report")
        self._waiting: deque[Future[None]] = deque()

    def begin(self) -> None:
        """Mark all files as unfinished. Raises `CannotStart` for a file that cannot be written."""
        self._reports.begin()
        if self._path is not None:
            from simulator.cli.reports.folder import begin_folder

            begin_folder(self._path)
        if self._tapes is not None:
            self._tapes.begin()

    def follow(self, running: "Running", scenario: str) -> None:
        """Judge the sandboxes of a server that is about to start from this scenario."""

        self._running = running
        if self._tapes is not None:
            self._tapes.follow(running.app.replayer)
        self._scenario, self._seed = scenario, running.sandbox.seed
        self._began = datetime.now().astimezone().isoformat(timespec="seconds")
        self._lives, self._audited = Lives(), Lives()
        if self._path is not None:
            from simulator.cli.reports.folder import ReportFolder

            self._folder = ReportFolder(self._path, running.app.sandboxes, running.url)
        running.app.sandboxes.on_ended = self._add

    def _add(self, live: "LiveSandbox", ending: "Ending" = "") -> None:
        """Judge and write a sandbox in a worker thread, since this takes seconds for thousands of payments. The copy of
        the object keeps the sandbox's final state, which does not change any more."""
        self._got_request |= live.life_journal.last_n > 0
        label = self._lives.label(live, ending)
        is_judged = self._folder is not None or live.counters.expected or self._audits
        if not is_judged and self._tapes is None:
            return
        life, ended = live.frozen_copy(), live.clock.now()
        masks = self._folder.masks(life) if self._folder is not None else {}
        while self._waiting and (self._waiting[0].done() or len(self._waiting) >= WAITING_MAX):
            self._waiting.popleft().result()
        self._waiting.append(self._worker.submit(self._add_life, life, ended, ending, label, masks))

    def _add_life(
        self, life: "LiveSandbox", ended: datetime, ending: "Ending", label: str, masks: "Mapping[str, Mask]"
    ) -> None:
        from simulator.control.verdicts import answer_of

        if self._tapes is not None:
            self._tapes.add(life, ended, ending)
        found = self._lives.add(life, label)
        cases = expectation_cases(found, life.secrets)
        is_asked = self._audits and life.life_journal.last_n > 0
        audit = answer_of(life) if is_asked or self._folder is not None else {}
        if is_asked and not life.spec.is_audited:
            self._totals.pass_over()
        elif is_asked:
            audited = without_secrets(audit_cases(audit["obligations"]), life.secrets)
            self._totals.add(audited, has_reached_endpoint=life.counters.has_reached_endpoint)
            self._audited.add_cases(life, f"{label}, audit", audited)
            cases += tuple(one for one in audited if one.message)
        if self._folder is not None:
            self._folder.add(life, label, found, cases, audit, masks)

    def exit_code(self, status: int) -> int:
        """Judge what is left, write all reports; returns our exit code for the command's `status`. The sandboxes are
        idle by now."""
        sandboxes = self._running.app.sandboxes
        for live in sandboxes:
            self._add(live)
        while self._waiting:
            self._waiting.popleft().result()
        if not self._got_request and not self._audits and (hint := proxy_hint(os.environ)):
            print_to_stderr(f"reseller-sim exec: no sandbox got a request;{hint}")
        of_nothing = self._totals.of_nothing if self._audits else []
        suites = self._lives.suites(sandboxes.secrets) + self._audited.suites(sandboxes.secrets) + of_nothing
        is_written = self._is_written(suites, RunFacts(status, self._scenario, self._seed, self._began))
        if self._reports.is_text:
            _print(suites)
        if self._audits and not of_nothing:
            print_to_stderr(f"reseller-sim exec: audit: {self._totals.text}")
        self._reports.show(suites, is_after_others=True)
        if self._tapes is not None:
            self._tapes.end()
            for lacking in self._tapes.left_out:
                print_to_stderr(whole_line(f"reseller-sim exec: the tape of {lacking}"))
            if self._tapes.error:
                print_to_stderr(whole_line(f"reseller-sim exec: {self._tapes.error}"))
                is_written = False
        if status:
            return status
        return UNWRITABLE if not is_written else 0 if all_ok(suites) else 1

    def _is_written(self, suites: Sequence[Suite], run: RunFacts) -> bool:
        """Write the files and the folder's page; whether that was possible."""
        is_written = self._reports.write(suites, run)
        if self._folder is None:
            return is_written
        self._folder.end(_verdict(self._lives, run, f"audit: {self._totals.text}" if self._audits else ""))
        text = self._folder.error or f"report: {self._path}/index.html"
        print_to_stderr(whole_line(f"reseller-sim exec: {text}"))
        return is_written and not self._folder.error


def _verdict(lives: Lives, run: RunFacts, audit: str) -> str:
    """Return the result of a run in a line. `audit` is the result of the audit, if it ran."""
    unmet = f"{lives.unmet} of {lives.total} expectations not met" if lives.unmet else ""
    met = f"all {lives.total} expectations met" if lives.total else "nothing was expected"
    about = f"scenario {run.scenario}, seed {run.seed}, {run.began}"
    return "; ".join(filter(None, (unmet or met, audit, f"the command exited with {run.command_exit}", about)))


def _print(suites: Sequence[Suite]) -> None:
    for suite in suites:
        for case in suite.cases:
            if not case.ok:
                _print_case(suite, case, "not as expected")
            elif case.code == WARNING and case.message:
                _print_case(suite, case, "warning")


def _print_case(suite: Suite, case: ReportCase, verdict: str) -> None:
    place = f"{case.file}:{case.line}: " if case.line else ""
    if case.code in (AUDIT, WARNING):
        place = f"{case.name.partition(':')[0]}: "
    print_to_stderr(whole_line(f"reseller-sim exec: {verdict}: {suite.name}: {place}{case.message}"))
    for line in case.details:
        print_to_stderr(whole_line(f"reseller-sim exec:   {line}"))
