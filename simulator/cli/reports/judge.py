"""The verdict of `exec` on all of its sandboxes at the end of a run, and the file of their tapes."""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Final

from reseller_sim.exchange import proxy_hint
from simulator.cli.audit import AUDIT, WARNING, audit_cases
from simulator.cli.reports.cases import UNWRITABLE, Reports, RunFacts, Suite
from simulator.cli.reports.folder import ReportFolder, begin_folder, write_why_not
from simulator.cli.reports.verdicts import Lives, Totals, expectation_cases, without_secrets
from simulator.cli.server import Running
from simulator.cli.usage import CannotStart, notify
from simulator.control.results import audit_of
from simulator.persistence.replay.player import RequestReplay
from simulator.persistence.replay.tape_redaction import CannotMask, lines_without_secrets
from simulator.persistence.replay.tape_writer import packed, take_tape, tape_lines
from simulator.redaction import Mask
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import Ending

WAITING_MAX: Final = 200
"""The maximum number of ended sandboxes that wait for their verdict. Beyond it the event loop waits."""

SECRET_MODE: Final = 0o600
"""The mode of a new file with secrets."""


class Tapes:
    """Writes each tape when its sandbox has ended. `error` says why the file cannot be written. `left_out` names the
    missing tapes, with the reason and advice."""

    def __init__(self, path: Path, *, shows_secrets: bool = False) -> None:
        self._path = path
        self._shows_secrets = shows_secrets
        self._file: IO[bytes] | None = None
        self.replayer: RequestReplay
        """Rebuilds sandboxes without their secrets."""
        self.error = ""
        self.left_out: list[str] = []

    def begin(self) -> None:
        """Create the file, empty. Raises `CannotStart` when it cannot."""
        try:
            if self._shows_secrets:
                self._path.touch(SECRET_MODE)  # keeps the mode of an existing file
            self._file = self._path.open("wb")
        except OSError as error:
            raise CannotStart(f"the tape {self._path} cannot be written: {error.strerror}") from None

    def not_run(self) -> None:
        """Empty the file if it can be written, since this run cannot start and the file may have an earlier result."""
        with suppress(OSError):
            self._path.write_bytes(b"")

    def add(self, life: LiveSandbox, at: datetime, ending: Ending) -> None:
        """Append the tape of a life. `at` is the sandbox's time of its end, `ending` its cause, empty at the end of the
        run."""
        if self._file is None:
            return
        tape = take_tape(life, at, ending)
        try:
            lines = tape_lines(tape) if self._shows_secrets else lines_without_secrets(tape, self.replayer)
        except CannotMask as error:
            text = "it is not in the file, --tape-secrets writes it with its secrets"
            self.left_out.append(f"{life.id}: {error}; {text}")
            return
        try:
            self._file.write(b"".join(packed(lines)))
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def end(self) -> None:
        """Close the file."""
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.error = self.error or f"the tape {self._path} cannot be written: {error.strerror}"
        self._file = None


class Judge:
    """Judges each sandbox when it is deleted or reset, and the remaining sandboxes at the end of the run."""

    def __init__(
        self, reports: Reports, folder: Path | None, *, audits: bool = False, tapes: Tapes | None = None
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
            begin_folder(self._path)
        if self._tapes is not None:
            self._tapes.begin()

    def not_run(self, message: str) -> None:
        """Write and print that there is no result, and why."""
        self._reports.not_run(message)
        if self._path is not None:
            write_why_not(self._path, message)
        if self._tapes is not None:
            self._tapes.not_run()

    def follow(self, running: Running, scenario: str) -> None:
        """Judge the sandboxes of a server that is about to start from this scenario."""
        self._running = running
        if self._tapes is not None:
            self._tapes.replayer = running.app.replayer
        self._scenario, self._seed = scenario, running.sandbox.seed
        self._began = datetime.now().astimezone().isoformat(timespec="seconds")
        self._lives, self._audited = Lives(), Lives()
        if self._path is not None:
            self._folder = ReportFolder(self._path, running.app.sandboxes, running.url)
        running.app.sandboxes.on_ended = self._add

    def _add(self, live: LiveSandbox, ending: Ending = "") -> None:
        """Judge and write a sandbox in a worker thread, since this takes seconds for thousands of payments. The worker
        reads a frozen copy, which has the final state."""
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
        self, life: LiveSandbox, ended: datetime, ending: Ending, label: str, masks: Mapping[str, Mask]
    ) -> None:
        if self._tapes is not None:
            self._tapes.add(life, ended, ending)
        found = self._lives.add(life, label)
        cases = expectation_cases(found, life.secrets)
        is_asked = self._audits and life.life_journal.last_n > 0
        audit = audit_of(life) if is_asked or self._folder is not None else {}
        if is_asked and not life.spec.is_audited:
            self._totals.passed_over += 1
        elif is_asked:
            audited = without_secrets(audit_cases(audit["obligations"]), life.secrets)
            self._totals.add(audited, has_reached_endpoint=life.counters.has_reached_endpoint)
            self._audited.add_cases(life, f"{label}, audit", audited)
            cases += tuple(one for one in audited if one.message)
        if self._folder is not None:
            self._folder.add(life, label, found, cases, audit, masks)

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
        of_nothing = self._totals.of_nothing if self._audits else []
        suites = self._lives.suites(sandboxes.secrets) + self._audited.suites(sandboxes.secrets) + of_nothing
        is_written = self._write_reports(suites, RunFacts(status, self._scenario, self._seed, self._began))
        if self._reports.is_text:
            _print(suites)
        if self._audits and not of_nothing:
            notify(f"audit: {self._totals.text}")
        self._reports.show(suites, is_after_others=True)
        if self._tapes is not None:
            self._tapes.end()
            for lacking in self._tapes.left_out:
                notify(f"the tape of {lacking}")
            if self._tapes.error:
                notify(self._tapes.error)
            is_written = is_written and not self._tapes.error
        if status:
            return status
        return UNWRITABLE if not is_written else 0 if all(suite.ok for suite in suites) else 1

    def _write_reports(self, suites: Sequence[Suite], run: RunFacts) -> bool:
        """Write the files and the folder's page. Return whether that was possible."""
        is_written = self._reports.write(suites, run)
        if self._folder is None:
            return is_written
        self._folder.end(_verdict(self._lives, run, f"audit: {self._totals.text}" if self._audits else ""))
        notify(self._folder.error or f"report: {self._path}/index.html")
        return is_written and not self._folder.error


def _verdict(lives: Lives, run: RunFacts, audit: str) -> str:
    """Return the result of a run in a line. `audit` is the result of the audit, if it ran."""
    unmet = f"{lives.unmet} of {lives.total} expectations not met" if lives.unmet else ""
    met = f"all {lives.total} expectations met" if lives.total else "nothing was expected"
    about = f"scenario {run.scenario}, seed {run.seed}, {run.began}"
    return "; ".join(filter(None, (unmet or met, audit, f"the command exited with {run.command_exit}", about)))


def _print(suites: Sequence[Suite]) -> None:
    """Print the cases that are not ok, and the warnings."""
    for name, case in ((suite.name, case) for suite in suites for case in suite.cases):
        if case.ok and not (case.code == WARNING and case.message):
            continue
        place = f"{case.file}:{case.line}: " if case.line else ""
        if case.code in (AUDIT, WARNING):
            place = f"{case.name.partition(':')[0]}: "
        notify(f"{'warning' if case.ok else 'not as expected'}: {name}: {place}{case.message}")
        for line in case.details:
            notify(f"  {line}")
