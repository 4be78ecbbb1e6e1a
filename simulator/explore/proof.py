"""The proof of a finding: several runs show whether the command fails under it each time, sometimes or never."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import yaml

from simulator.explore.findings import EXIT_IGNORED
from simulator.explore.runs import CannotRun, Job, Workers
from simulator.explore.trials import SLOWER_MAX, TIMEOUT_S, surviving
from simulator.explore.verdicts import Kind, Reason, reasons

WAITS_S: Final = 300
"""The longest delay of a run by faults, in the sandbox's time."""

CALM: Final = {"clock": ("mode", "rate", "start"), "limits": ("callback_timeout",), "webhooks": ("timeout",)}
"""The parts of a finding that are not faults, by section."""


class Colour(StrEnum):
    """Whether the command fails under the finding each time, never or sometimes."""

    RED = "red"
    GREEN = "green"
    FLAKY = "flaky"


@dataclass(frozen=True, slots=True)
class Proof:
    """The number of runs and failures, and the reasons of the last failure."""

    failed: int
    runs: int
    reasons: tuple[Reason, ...] = ()

    @property
    def colour(self) -> Colour:
        """The verdict on all runs."""
        if self.failed in (0, self.runs):
            return Colour.RED if self.failed else Colour.GREEN
        return Colour.FLAKY


@dataclass(frozen=True, slots=True)
class Finding:
    """A scenario file that `explore` has written. `extends` is the extended scenario relative to `folder`."""

    path: Path
    extends: str
    document: dict[str, Any]
    ignores_exit: bool

    def baseline(self) -> dict[str, Any]:
        """Return the scenario without the faults of the finding. Sections may mix faults and other entries."""
        made: dict[str, Any] = {"extends": self.extends}
        if "seed" in self.document:
            made["seed"] = self.document["seed"]
        for section, names in CALM.items():
            found = self.document.get(section) or {}
            if kept := {name: found[name] for name in names if name in found}:
                made[section] = kept
        return made

    @property
    def rate(self) -> float:
        """The speed of its clock as a multiple of wall time."""
        clock = self.document.get("clock")
        return float(clock.get("rate", 1)) if isinstance(clock, dict) else 1.0


def read_finding(path: Path) -> Finding:
    """Read a finding. Raises `CannotRun` for any other file, and `OSError`."""
    text = path.read_text("utf-8")
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError:
        document = None
    if not isinstance(document, dict) or "extends" not in document:
        raise CannotRun(f"{path} is no finding: explore writes files that extend a scenario")
    extends = str(document["extends"])
    if extends.endswith((".yaml", ".yml")):
        extends = str((path.parent / extends).resolve())
    return Finding(path.resolve(), extends, document, f"# {EXIT_IGNORED}" in text.splitlines())


def prove(
    workers: Workers,
    finding: Finding,
    times: int,
    timeout_s: float | None = None,
    on_run: Callable[[int, tuple[Reason, ...]], None] = lambda number, reasons: None,
) -> Proof:
    """Run the command without faults, then `times` times under the finding. `on_run` gets each run under the finding.
    Raises `BaselineFails` and `CannotRun`."""
    calm = Job(finding.baseline(), timeout_s or 20 * TIMEOUT_S, wants_tape=False)
    baseline = surviving(workers.run_one(calm))
    limit_s = timeout_s or TIMEOUT_S + SLOWER_MAX * baseline.duration_s + WAITS_S / finding.rate
    failures = []
    for number in range(1, times + 1):
        outcome = workers.run_one(Job({"extends": str(finding.path)}, limit_s, wants_tape=False))
        found = tuple(
            reason
            for reason in reasons(baseline, outcome, ())
            if not (finding.ignores_exit and reason.kind is Kind.EXIT)  # a failure may be right
        )
        on_run(number, found)
        failures += [found] if found else []
    return Proof(len(failures), times, failures[-1] if failures else ())
