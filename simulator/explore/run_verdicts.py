"""Verdicts: the failures of a run that do not occur without faults. A file records them, so that `--resume` skips the
runs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

import msgspec

from simulator.explore.fault_catalogue import NAME_CHARS_MAX, Fault, when_of
from simulator.explore.observation import EXPECTED_OF_WARNINGS, GIVEN_BACK, RunOutcome
from simulator.wire.payment_answers import STATUS_NAMES


class Kind(StrEnum):
    """The kinds of failure, the clearest first."""

    PAID_TWICE = "paid twice"
    EXPECTATION = "expectation"
    AUDIT = "audit"
    EXIT = "exit"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class FailureReason:
    """A reason of a failure: a few words and a line. `expect` is an expectation for a scenario under which the run also
    fails with `exec`. `needs_audit` is true when only `exec --audit` detects the failure."""

    kind: Kind
    words: str
    text: str
    expect: Mapping[str, Any] = field(default_factory=dict)
    needs_audit: bool = False


def reasons(baseline: RunOutcome, outcome: RunOutcome, faults: tuple[Fault, ...]) -> tuple[FailureReason, ...]:
    """Return the reasons why a run under these faults failed; empty when it survived."""
    found = [*_paid_twice(baseline, outcome), *_unmet(baseline, outcome), *_breaches(baseline, outcome)]
    if outcome.exit_code is None:
        found.append(FailureReason(Kind.HUNG, "hung", f"the command had not ended after {outcome.duration_s:.0f} s"))
    elif outcome.exit_code != baseline.exit_code and not any(fault.decides_outcome for fault in faults):
        found.append(
            FailureReason(Kind.EXIT, f"exit {outcome.exit_code}", f"the command exited with {outcome.exit_code}")
        )
    return tuple(found)


def ways(reasons: tuple[FailureReason, ...]) -> set[tuple[Kind, str]]:
    """Return the kinds of failure of a run, without the objects concerned."""
    return {(reason.kind, reason.words) for reason in reasons}


def common(of_runs: list[tuple[FailureReason, ...]]) -> tuple[FailureReason, ...]:
    """Return the reasons of the last run that all runs share; empty when they share none."""
    in_all = set.intersection(*map(ways, of_runs)) if of_runs else set()
    return tuple(run for run in of_runs[-1] if (run.kind, run.words) in in_all) if in_all else ()


def _paid_twice(baseline: RunOutcome, outcome: RunOutcome) -> list[FailureReason]:
    """Return the orders with more kept payments than in the baseline.

    The simulator does not know the client's orders. Payments of the same product, account and amount belong to the same
    order if they did in the baseline. The command may draw new accounts: an account that is not in the baseline may be
    paid as often as the most frequently paid account there.
    """
    usual = max(baseline.seen.kept.values(), default=1)
    given_back = {payment.order for payment in baseline.seen.payments} - set(baseline.seen.kept)
    found = []
    for order, count in outcome.seen.kept.items():
        allowed = baseline.seen.kept.get(order) or (1 if order in given_back else usual)
        if count <= allowed:
            continue
        times = "twice" if count == 2 * allowed else f"{count} times instead of {allowed}"
        expect = {
            "name": f"{order} is paid {'once' if allowed == 1 else f'{allowed} times'}"[:NAME_CHARS_MAX],
            "payments": {
                **when_of(order),
                "status": [name for status, name in STATUS_NAMES.items() if status not in GIVEN_BACK],
            },
            "count": {"max": allowed},
        }
        found.append(FailureReason(Kind.PAID_TWICE, f"paid {times}", f"{order} was paid {times}", expect))
    return found


def _unmet(baseline: RunOutcome, outcome: RunOutcome) -> list[FailureReason]:
    new = {name: text for name, text in outcome.seen.unmet.items() if name not in baseline.seen.unmet}
    return [FailureReason(Kind.EXPECTATION, f"expectation not met: {name}", text) for name, text in new.items()]


def _breaches(baseline: RunOutcome, outcome: RunOutcome) -> list[FailureReason]:
    """Return the obligations that the baseline did not violate."""
    found = []
    for id_, text in outcome.seen.breaches.items():
        expect = EXPECTED_OF_WARNINGS.get(id_, {})
        if id_ not in baseline.seen.breaches:
            found.append(FailureReason(Kind.AUDIT, f"audit: {id_}", f"{id_}: {text}", expect, needs_audit=not expect))
    return found


FILE = "runs.jsonl"
VERSION = 4


class OtherRun(Exception):
    """The folder has the runs of another exploration. The text says what to do."""


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The reasons why a run failed (empty when it survived), whether a fault was triggered, and the end of the
    command's output. `problem` says why the scenario with these faults could not be loaded. `duration_s` is the wall
    time of the run."""

    reasons: tuple[FailureReason, ...]
    is_triggered: bool
    output: str = ""
    problem: str = ""
    duration_s: float = 0.0

    @property
    def survived(self) -> bool:
        """Return whether there is no reason for a failure."""
        return not self.reasons


class Record:
    """The recorded verdicts by key. `about` has the common inputs of all runs, by name. `begins_anew` is true unless
    runs are resumed. Files are deleted and written only after `begin`."""

    def __init__(self, folder: Path, about: Mapping[str, Any], *, resumes: bool) -> None:
        self._path = folder / FILE
        self._verdicts: dict[str, RunVerdict] = {}
        self._files: dict[str, str] = {}  # file names of findings
        self._head = {"version": VERSION, "about": _digest(about)}
        self._file: TextIO | None = None
        self.begins_anew = not (resumes and self._path.exists())
        if not self.begins_anew:
            self._read()

    def begin(self) -> None:
        """Delete the files of an earlier exploration unless this exploration resumes it, and open the record."""
        if self.begins_anew:
            self._forget()
            self._path.write_text(json.dumps(self._head) + "\n", encoding="utf-8")
        self._file = self._path.open("a", encoding="utf-8")
        if not self.begins_anew:
            self._file.write("\n")  # the last line may be incomplete

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def get(self, key: str) -> RunVerdict | None:
        """Return the verdict of a completed run."""
        return self._verdicts.get(key)

    def add(self, key: str, verdict: RunVerdict) -> None:
        """Record a verdict."""
        self._verdicts[key] = verdict
        self._write({"key": key, **asdict(verdict)})

    def file_of(self, key: str, name_of: Callable[[int], str]) -> str:
        """Return the file of a finding: its recorded name, or a new name with the next number."""
        if key not in self._files:
            self._files[key] = name_of(len(self._files) + 1)
            self._write({"file": self._files[key], "of": key})
        return self._files[key]

    def add_file(self, name: str) -> None:
        """Record a file of these runs, which is deleted when another exploration replaces them."""
        self._write({"file": name})

    def _write(self, line: Mapping[str, Any]) -> None:
        assert self._file is not None, "it has begun"
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def _lines(self) -> list[dict[str, Any]]:
        """Return the complete lines. The last line may be incomplete."""
        found = []
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                found.append(value)
        return found

    def _read(self) -> None:
        lines = self._lines()
        if lines[:1] != [self._head]:
            other = "another command, scenario or version, or of other flags"
            raise OtherRun(f"{self._path} has the runs of {other}; leave --resume out, or take another --out")
        for line in lines[1:]:
            if "of" in line:
                self._files[line["of"]] = line["file"]
            if key := line.pop("key", ""):
                self._verdicts[key] = msgspec.convert(line, RunVerdict)

    def _forget(self) -> None:
        """Delete only the recorded files."""
        if self._path.exists():
            for line in self._lines():
                if (name := line.get("file")) and Path(name).name == name:
                    self._path.with_name(name).unlink(missing_ok=True)


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
