"""The proof of a finding: several runs show whether the command fails under it each time, sometimes or never."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from simulator.explore.fault_findings import EXIT_IGNORED, REPRODUCTION
from simulator.explore.observation import RunOutcome
from simulator.explore.run_verdicts import FailureReason, Kind, reasons
from simulator.explore.runs import CannotRun, RunJob, Workers
from simulator.explore.trials import SLOWER_MAX, TIMEOUT_S, usable
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.yaml_parser import file_text, load_file

WAITS_S: Final = 300
"""The longest delay of a run by faults, in the sandbox's time."""

CALM: Final = {"clock": ("mode", "rate", "start"), "limits": ("callback_timeout",), "webhooks": ("timeout",)}
"""The parts of a finding that are not faults, by section."""


class Colour(StrEnum):
    """Whether the command fails under the finding each time, never or sometimes, or has not met its faults."""

    RED = "red"
    GREEN = "green"
    FLAKY = "flaky"
    UNMET = "met nothing"


@dataclass(frozen=True, slots=True)
class ProofResult:
    """The number of runs and failures, the reasons of the last failure, and the number of runs that met no fault."""

    failed: int
    runs: int
    reasons: tuple[FailureReason, ...] = ()
    unmet: int = 0

    @property
    def colour(self) -> Colour:
        """Return the verdict on all runs."""
        if self.failed in (0, self.runs):
            return Colour.RED if self.failed else Colour.UNMET if self.unmet else Colour.GREEN
        return Colour.FLAKY

    @property
    def count(self) -> str:
        """Describe how many runs failed, and in how many runs the faults did not apply."""
        unmet = f", {self.unmet} met no fault of the finding" if self.unmet else ""
        return f"{self.failed} of {self.runs} failed{unmet}"

    @property
    def why(self) -> str:
        """Return the reasons in a few words."""
        return ", ".join(dict.fromkeys(reason.words for reason in self.reasons))


@dataclass(frozen=True, slots=True)
class FindingFile:
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
            found = self.document.get(section)
            if isinstance(found, dict) and (kept := {name: found[name] for name in names if name in found}):
                made[section] = kept
        return made

    def is_met(self, outcome: RunOutcome) -> bool:
        """Return whether a fault applied in a run: one of its rules, or the subject of its other sections."""
        seen, rules = outcome.seen, [*(self.document.get("faults") or ()), *(self.document.get("payments") or ())]
        if names := {rule["name"] for rule in rules if "name" in rule}:
            return bool(names & seen.triggered)
        return bool(seen.webhooks if "webhooks" in self.document else seen.exchanges)

    @property
    def rate(self) -> float:
        """Return the speed of its clock as a multiple of wall time."""
        clock = self.document.get("clock")
        return float(clock.get("rate", 1)) if isinstance(clock, dict) else 1.0


def read_finding(path: Path) -> FindingFile:
    """Read a finding. Raises `CannotRun` for any other file."""
    try:
        document, lines = load_file(path).data, file_text(path).splitlines()
    except ScenarioError as error:
        raise CannotRun(f"{path} cannot be read: {error.problems[0].message}") from None
    if not isinstance(document, dict) or "extends" not in document or f"# {REPRODUCTION}" not in lines:
        raise CannotRun(f"{path} is not a finding: pass a scenario file that explore has written, with its comments")
    extends = str(document["extends"])
    if extends.endswith((".yaml", ".yml")):
        extends = str((path.parent / extends).resolve())
    return FindingFile(path.resolve(), extends, document, f"# {EXIT_IGNORED}" in lines)


def prove(
    workers: Workers,
    finding: FindingFile,
    times: int,
    timeout_s: float | None = None,
    on_run: Callable[[int, str], None] = lambda number, text: None,
) -> ProofResult:
    """Run the command without faults, then `times` times under the finding; `on_run` gets the result of each as text.
    Raises `AsksNothing`, `BaselineFails` and `CannotRun`."""
    calm = RunJob(finding.baseline(), timeout_s or 20 * TIMEOUT_S, wants_tape=False)
    baseline = usable(workers.run_one(calm))
    limit_s = timeout_s or TIMEOUT_S + SLOWER_MAX * baseline.duration_s + WAITS_S / finding.rate
    failures, unmet = [], 0
    for number in range(1, times + 1):
        outcome = workers.run_one(RunJob({"extends": str(finding.path)}, limit_s, wants_tape=False))
        found = _counting_reasons(finding, reasons(baseline, outcome, ()))
        is_met = finding.is_met(outcome)
        on_run(number, "; ".join(reason.text for reason in found) or ("survived" if is_met else "met nothing"))
        failures += [found] if found else []
        unmet += not (found or is_met)
    return ProofResult(len(failures), times, failures[-1] if failures else (), unmet)


def _counting_reasons(finding: FindingFile, reasons: tuple[FailureReason, ...]) -> tuple[FailureReason, ...]:
    """Return the reasons without an exit code that may rightly fail, and without expectations that repeat a reason."""
    repeated = {f"expectation not met: {reason.expect['name']}" for reason in reasons if reason.expect}
    return tuple(
        reason
        for reason in reasons
        if reason.words not in repeated and not (finding.ignores_exit and reason.kind is Kind.EXIT)
    )
