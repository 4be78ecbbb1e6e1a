"""A finding: the fewest faults under which the command fails, written as a scenario file; and the report of all."""

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil
from pathlib import Path

from simulator.explore.fault_catalogue import NAME_CHARS_MAX, RESTART, Fault, sentence
from simulator.explore.run_scenario import Base, document
from simulator.explore.run_verdicts import Kind, Record, RunVerdict, ways
from simulator.explore.runs import text_of
from simulator.explore.trials import Failure, Faults
from simulator.scenario.yaml import comment
from simulator.short_text import one_line, whole_line

OUTPUT_LINES_MAX = 12
REPRODUCTION = "To see it again:"
EXIT_IGNORED = "The exit code does not count: a fault decides what becomes of a payment."


@dataclass(frozen=True, slots=True)
class FaultFinding:
    """`text` is its sentence; `lines` say more of each reason; `command_line` makes it fail again."""

    text: str
    lines: tuple[str, ...]
    path: Path
    command_line: str
    failure: Failure
    is_of_storm: bool = False


@dataclass(frozen=True, slots=True)
class UnrepeatedFailure:
    """A failure that did not recur: its sentence, and its tape, if it has a tape."""

    text: str
    path: Path | None


def summary(failure: Failure) -> str:
    """Return a failure in a sentence."""
    return f"{sentence(failure.faults)}: {_words(failure)}{_frequency(failure)}"


def _words(failure: Failure) -> str:
    return "; ".join(dict.fromkeys(reason.words for reason in failure.verdict.reasons))


def _frequency(failure: Failure) -> str:
    if failure.is_certain:
        return ""
    otherwise = "" if failure.is_alike else ", each time otherwise"
    return f" (fails {failure.failed} of {failure.attempts}{otherwise})"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The parts of the command line that reproduces a finding: `command` and `restart` as words, and the `flags` of
    `exec` that no scenario file can say."""

    command: tuple[str, ...]
    restart: tuple[str, ...] = ()
    flags: str = ""

    def line(self, failure: Failure, path: Path, limit_s: float) -> str:
        """Return the line. A client is restarted by `prove` alone."""
        file, command = shlex.quote(str(path)), shlex.join(self.command)
        if any((fault.callbacks or {}).get("hold") == RESTART for fault in failure.faults):
            return f"reseller-sim prove {file} --restart {shlex.quote(shlex.join(self.restart))} -- {command}"
        return f"reseller-sim exec{_flags(failure, limit_s)} {file} {self.flags}-- {command}"


@dataclass(frozen=True, slots=True)
class FindingWriter:
    """Writes findings into a folder, which may have findings of an earlier exploration. `limit_s` returns the timeout
    of a run under these faults."""

    base: Base
    folder: Path
    record: Record
    reproduction: Reproduction
    limit_s: Callable[[Faults], float]

    def write(self, failure: Failure) -> FaultFinding:
        """Write the scenario file, and the tape if there is a tape. Raises `OSError`."""
        text, reasons = summary(failure), failure.verdict.reasons
        path = self._path(failure, lambda number: f"{number:02}-{_stem(sentence(failure.faults))}.yaml")
        line = self.reproduction.line(failure, path, self.limit_s(failure.faults))
        ignored = [EXIT_IGNORED, ""] if any(fault.decides_outcome for fault in failure.faults) else []
        about = [f"{text}.", "", *_lines(failure), "", *ignored, REPRODUCTION, f"  {line}"]
        expect = [reason.expect for reason in reasons if reason.expect]
        made = document(self.base, failure.faults, expect)
        path.write_text("\n".join([*comment(map(whole_line, about)), text_of(made)]), encoding="utf-8")
        if failure.tape is not None:
            self._write_tape(path.with_suffix(".yaml.tape"), failure.tape)
        return FaultFinding(text, tuple(reason.text for reason in reasons), path, line, failure)

    def write_unrepeated(self, failure: Failure) -> UnrepeatedFailure:
        """Write the tape of the run that failed. Raises `OSError`."""
        stem, digest = _stem(sentence(failure.faults)), _digest(failure)[:8]
        path = self.folder / f"once-{stem}-{digest}.tape"
        if failure.tape is not None:
            self._write_tape(path, failure.tape)
        text = f"{sentence(failure.faults)}: {_words(failure)}: failed once and not again"
        return UnrepeatedFailure(text, path if path.exists() else None)

    def _path(self, failure: Failure, name_of: Callable[[int], str]) -> Path:
        return self.folder / self.record.file_of(_digest(failure), name_of)

    def _write_tape(self, path: Path, tape: bytes) -> None:
        self.record.add_file(path.name)
        path.write_bytes(tape)


def _digest(failure: Failure) -> str:
    return sha256(sentence(failure.faults).encode()).hexdigest()


def _flags(failure: Failure, limit_s: float) -> str:
    """Return the flags with which `exec` sees the failure, and ends a command that hangs."""
    reasons = failure.verdict.reasons
    audit = " --audit" if all(reason.needs_audit for reason in reasons) else ""
    hangs = any(reason.kind is Kind.HUNG for reason in reasons)
    return f"{audit} --timeout {ceil(limit_s)}" if hangs else audit


def _stem(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return words if len(words) <= NAME_CHARS_MAX else words[: NAME_CHARS_MAX + 1].rpartition("-")[0]


def _lines(failure: Failure) -> Iterator[str]:
    yield from (reason.text for reason in failure.verdict.reasons)
    printed = failure.verdict.output.strip().splitlines()[-OUTPUT_LINES_MAX:]
    if printed:
        yield "it printed last:"
        yield from (f"  {one_line(line)}" for line in printed)


@dataclass(slots=True)
class ExplorationReport:
    """The result of an exploration: the number of single faults and storms, the runs, and their verdicts. `unrepeated`
    has the failures that did not recur, which count as survived. `storms_survived_s` is the wall time of the survived
    storms. `no_storms` says why storms that were requested did not run."""

    singles: list[Fault] = field(default_factory=list)
    results: dict[str, RunVerdict] = field(default_factory=dict)
    storms: int = 0
    storms_failed: int = 0
    storms_survived_s: float = 0.0
    no_storms: str = ""
    findings: list[FaultFinding] = field(default_factory=list)
    unrepeated: list[UnrepeatedFailure] = field(default_factory=list)

    @property
    def survived(self) -> int:
        """Return the number of single faults that the command survived."""
        return sum(1 for result in self.results.values() if result.survived)

    @property
    def untriggered(self) -> int:
        """Return the number of single faults that did not apply, since the command behaved differently in that run."""
        return sum(1 for result in self.results.values() if result.survived and not result.is_triggered)

    def is_reported(self, faults: Faults, verdict: RunVerdict) -> bool:
        """Return whether findings with a subset of these faults have reported all failures of this verdict."""
        words = words_of(faults)
        return self._reports_all(
            verdict, [finding for finding in self.findings if words_of(finding.failure.faults) <= words]
        )

    def is_reported_by_place(self, faults: Faults, verdict: RunVerdict) -> bool:
        """Return whether findings at a subset of these places (requests, payments, callbacks, outages) have reported
        all failures of this verdict. Further failures may appear when the user has fixed the reported findings."""
        places = {fault.place for fault in faults}
        few = [finding for finding in self.findings if len(finding.failure.faults) <= len(faults)]
        return self._reports_all(
            verdict, [finding for finding in few if {fault.place for fault in finding.failure.faults} <= places]
        )

    @staticmethod
    def _reports_all(verdict: RunVerdict, findings: list[FaultFinding]) -> bool:
        reported = {way for finding in findings for way in ways(finding.failure.verdict.reasons)}
        return ways(verdict.reasons) <= reported


def words_of(faults: Faults) -> frozenset[str]:
    """Return the words that identify these faults."""
    return frozenset(fault.words for fault in faults)
