"""The output of `explore`, and the inputs that all of its runs share."""

import os
import shlex
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from simulator.cli.output import echo
from simulator.cli.reports.report_cases import ReportCase, Suite
from simulator.cli.server_flags import ServerFlags
from simulator.cli.usage import notify
from simulator.domain.model.scenario import Scenario
from simulator.explore.campaign import Campaign
from simulator.explore.fault_findings import ExplorationReport, FaultFinding, UnrepeatedFailure
from simulator.explore.observation import RunOutcome
from simulator.explore.run_scenario import Base, receiver_timeouts
from simulator.explore.run_verdicts import RunVerdict
from simulator.explore.runs import Setting
from simulator.explore.trials import Trial
from simulator.options import LOOPBACK
from simulator.scenario.library import load_scenario
from simulator.scenario.reading.scenario_files import is_path
from simulator.short_text import whole_line

CODE = "explore"
UNREPEATED = "it failed once and was not repeated, so it is not a finding"
EVERY_S = 5.0
REPEATED = {"host": LOOPBACK, "port": 0} | dict.fromkeys(
    ("callback", "callbacks", "callbacks_ca", "sandbox_ttl", "tape_budget", "scenarios")
)
"""The fields of `ServerFlags` that no scenario file has, with their defaults."""


def show_baseline(baseline: RunOutcome, workers: int) -> None:
    """Print the counts of the baseline."""
    seen = baseline.seen
    counts = (
        _many(sum(seen.exchanges.values()), "request"),
        _many(len(seen.payments), "payment"),
        _many(sum(len(payment.callbacks) for payment in seen.payments), "callback"),
    )
    took = f"baseline: exit 0 in {baseline.duration_s:.1f} s"
    echo(f"{took}; {', '.join(counts)}; {_many(workers, 'worker')}")


def watching(campaign: Campaign) -> Callable[[Trial, RunVerdict], None]:
    """Return the function that prints to stderr, now and then, how far a campaign is."""
    shown_s, runs = time.monotonic(), 0

    def show(trial: Trial, verdict: RunVerdict) -> None:
        nonlocal shown_s, runs
        runs += 1
        if time.monotonic() - shown_s >= EVERY_S:
            shown_s = time.monotonic()
            notify(_progress(campaign.report, runs))

    return show


def show_failure(failure: FaultFinding | UnrepeatedFailure) -> None:
    """Print a new finding, or what failed once and not again."""
    if isinstance(failure, FaultFinding):
        lines = [f"FOUND {failure.text}", *failure.lines, failure.command_line]
    else:
        replay = [f"reseller-sim replay {shlex.quote(str(failure.path))} --serve"] if failure.path else []
        lines = [f"no finding: {failure.text}", *replay]
    echo("\n      ".join(map(whole_line, lines)))


def result(report: ExplorationReport) -> Iterator[str]:
    """Yield the result, a line each for single faults and storms, and for what else there is to know."""
    unmatched = f"; {report.untriggered} of them met nothing" if report.untriggered else ""
    tried = len(report.results)
    left = f" ({len(report.singles) - tried} not tried)" if tried < len(report.singles) else ""
    yield f"single faults: {report.survived} of {tried} survived{unmatched}{left}"
    if report.unrepeated:
        yield f"{_many(len(report.unrepeated), 'run')} failed once and not again, so it is not a finding"
    if problems := [item.problem for item in report.results.values() if item.problem]:
        faults = _many(len(problems), "single fault")
        yield whole_line(f"{faults} cannot be combined with your scenario: {problems[0]}")
    if report.storms:
        yield f"storms: {report.storms - report.storms_failed} of {report.storms} survived"
    if report.no_storms:
        yield f"storms: none, {report.no_storms}"


def _progress(report: ExplorationReport, runs: int) -> str:
    tried, all_ = len(report.results), len(report.singles)
    failed = tried - report.survived
    if tried < all_:
        return f"{tried} of {all_} single faults, {failed} failed"
    return f"{all_} single faults, {failed} failed; {_many(report.storms, 'storm')}; {_many(runs, 'run')}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def suites(report: ExplorationReport) -> list[Suite]:
    """Return every single fault as a case, and what storms have found."""
    by_words = {item.failure.faults[0].words: item for item in report.findings if not item.is_of_storm}
    singles = []
    for fault in report.singles:
        verdict = report.results.get(fault.words)
        if verdict is None:
            singles.append(ReportCase(fault.words, ok=True, skipped="not tried"))
        elif verdict.survived:
            skipped = verdict.problem or ("" if verdict.is_triggered else "it met nothing")
            singles.append(ReportCase(fault.words, ok=True, skipped=skipped, duration_s=verdict.duration_s))
        elif (finding := by_words.get(fault.words)) is not None:
            singles.append(_failed(fault.words, finding, verdict.duration_s))
        else:  # the exploration ended before
            singles.append(ReportCase(fault.words, ok=True, skipped=UNREPEATED, duration_s=verdict.duration_s))
    of_storms = [item for item in report.findings if item.is_of_storm]
    survived = report.storms - report.storms_failed
    survivors = ReportCase(f"{_many(survived, 'storm')} survived", ok=True, duration_s=report.storms_survived_s)
    storms = [survivors] if report.storms else []
    storms += [ReportCase("storms", ok=True, skipped=report.no_storms)] if report.no_storms else []
    storms += [_failed(storm.text, storm, storm.failure.verdict.duration_s) for storm in of_storms]
    return [Suite("single faults", tuple(singles)), *([Suite("storms", tuple(storms))] if storms else [])]


def suites_when_stopped(report: ExplorationReport) -> list[Suite]:
    """Return the suites of an exploration that a signal has ended. Faults that were not run are skipped, and a failed
    case says so."""
    tried, of_all = len(report.results), _many(len(report.singles), "single fault")
    run = f"{tried} of {of_all} and {_many(report.storms, 'storm')} were run"
    text = f"stopped by a signal: {run}; the same command with --resume continues"
    return [*suites(report), Suite(CODE, (ReportCase("stopped", ok=False, message=text, code=CODE),))]


def _failed(name: str, finding: FaultFinding, duration_s: float) -> ReportCase:
    details = (*finding.lines, finding.command_line)
    return ReportCase(name, ok=False, message=finding.text, details=details, code=CODE, duration_s=duration_s)


def base_of(flags: ServerFlags, out: Path, scenario: Scenario) -> tuple[Base, float]:
    """Return the base of all scenario files: the extended scenario, the clock and seed of the flags (so `exec` does not
    need these flags), and the timeout of receivers. Also return the rate of the clock."""
    mode, rate = flags.clock or (scenario.clock.mode, scenario.clock.rate)
    rate = rate if mode == "xN" else 1.0
    clock: dict[str, Any] = {"mode": mode}
    if mode == "xN":
        clock["rate"] = int(rate) if rate == int(rate) else Decimal(str(rate))
    if flags.start is not None:
        clock["start"] = flags.start.isoformat()
    is_file = is_path(flags.scenario) or Path(flags.scenario).is_file()
    extends = os.path.relpath(flags.scenario, out) if is_file else flags.scenario
    if is_file and not is_path(extends):
        extends = f"./{extends}"
    return Base(extends, clock, flags.seed, receiver_timeouts(scenario, rate)), rate


def about(setting: Setting, base: Base, flags: ServerFlags, timeout_s: float | None) -> dict[str, Any]:
    """Return the inputs that all runs of a folder share, by name. With other inputs the verdicts may differ."""
    return {
        "command": [setting.command, setting.restart],
        "scenario": [base.extends, load_scenario(flags.scenario).document],
        "clock, start or seed": [base.clock, base.seed],
        "--timeout": timeout_s,
        "flags": [str(setting.options._replace(control_token=None)), setting.host, setting.port],
    }


def repeated(flags: ServerFlags) -> str:
    """Return the flags of `exec` that have no counterpart in a scenario file. Tokens are secrets and left out."""
    words = []
    for name, usual in REPEATED.items():
        if (value := getattr(flags, name)) != usual:
            text = format(Decimal(repr(value)).normalize(), "f") if isinstance(value, float) else str(value)
            words += [f"--{name.replace('_', '-')}", text]
    words += [word for name in flags.allow_host for word in ("--allow-host", name)]
    words += ["--trust-forwarded"] if flags.trust_forwarded else []
    return f"{shlex.join(words)} " if words else ""
