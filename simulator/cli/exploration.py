"""Explorations: the faults under which a command fails, and whether it still does."""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from reseller_sim.exchange import bypass
from simulator.cli.child import check_programs, on_path
from simulator.cli.output import echo, print_table
from simulator.cli.process import signals_handled
from simulator.cli.reports.cases import UNWRITABLE, Reports
from simulator.cli.reports.explore import Screen, about, base_of, repeated, result, suites, suites_when_stopped
from simulator.cli.server_flags import ServerFlags, of_one_command, options_of
from simulator.cli.usage import CannotStart, ending_with_problems, notify
from simulator.domain.errors import DomainError
from simulator.explore.campaign import Campaign, Plan
from simulator.explore.fault_findings import ExplorationReport, Reproduction
from simulator.explore.finding_proof import ProofResult, prove, read_finding
from simulator.explore.run_verdicts import OtherRun, Record
from simulator.explore.runs import CannotRun, Setting, Workers
from simulator.explore.trials import AsksNothing, BaselineFails, Trials
from simulator.options import LOOPBACK, Options
from simulator.scenario.library import load_scenario
from simulator.server.serve import host_for_clients
from simulator.shortened import whole_line

Words = tuple[str, ...]
ACTIVE = "active"
UNMET = "met nothing"
EXIT_CODES = {"green": 0, "red": 1, "flaky": 2, UNMET: 3}
WANTED_COLOURS = {"before": "red", "after": "green"}
HINT = "does your command send to RESELLER_BASE_URL, and to the paths of the service?"
PROOF_COLUMNS = ("command", "verdict", "failed", "why")


class Wanted(NamedTuple):
    """The flags of `explore` about the exploration. `restart` is empty without `--restart`."""

    command: Words
    restart: Words
    timeout_s: float | None
    out: Path
    workers: int
    minutes: float
    resume: bool
    first: bool


@contextmanager
def _ending_with_reasons(place: Path, command: str = "COMMAND") -> Iterator[None]:
    """Raise `CannotStart` with the reason why no run can be judged; messages call the command `command`, and `place` is
    the file or folder of the runs."""
    try:
        yield
    except (CannotRun, OtherRun, DomainError) as error:
        text = str(error)
    except AsksNothing as error:
        text = f"{UNMET}: {str(error).replace('COMMAND', command, 1)}; {HINT}"
    except BaselineFails as error:
        text = f"{command} fails without any fault: {error}"
    except OSError as error:
        text = f"{place}: {error.strerror or error}"
    else:
        return
    raise CannotStart(text)


def explore(command: Words, restart: Words, timeout_s: float | None, flags: dict[str, Any]) -> int:
    """Explore with the other flags of the verb. Return its exit code."""
    reports = Reports(flags.pop("junit"), None, "text")
    workers = flags.pop("workers") or os.cpu_count() or 1
    own = {name: flags.pop(name) for name in ("out", "minutes", "resume", "first")}
    server = ServerFlags(**flags)
    wanted = Wanted(command, restart, timeout_s, workers=1 if server.port else workers, **own)
    reports.begin()
    os.environ.update(bypass(os.environ, f"http://{host_for_clients(server.host)}"))  # COMMAND inherits them
    try:
        with on_path(), _ending_with_reasons(wanted.out), ending_with_problems(CannotStart):
            check_programs(command, restart)
            wanted.out.mkdir(parents=True, exist_ok=True)
            report = _campaign(server, reports, wanted)
    except CannotStart as refused:
        reports.not_run(refused.message)
        raise
    is_written = reports.write(suites(report))
    return 1 if report.findings else 0 if is_written else UNWRITABLE


def _campaign(flags: ServerFlags, reports: Reports, wanted: Wanted) -> ExplorationReport:
    scenario, screen = load_scenario(flags.scenario), Screen()
    base, rate = base_of(flags, wanted.out, scenario)
    plain = options_of(of_one_command(flags))._replace(mode=None, rate=None, start=None, seed=None)
    setting = Setting(wanted.command, plain, flags.host, flags.port, wanted.out, wanted.restart)
    plan = Plan(
        folder=wanted.out,
        reproduction=Reproduction(wanted.command, wanted.restart, repeated(flags)),
        seed=flags.seed or 0,
        seconds=wanted.minutes * 60,
        ends_at_first=wanted.first,
        keys=tuple((one.code, key.key) for one in scenario.resellers for key in one.keys if key.state == ACTIVE),
        has_start=flags.start is not None or scenario.clock.start is not None,
        rate=rate,
        restarts=bool(wanted.restart),
    )
    record = Record(wanted.out, about(setting, base, flags, wanted.timeout_s), resumes=wanted.resume)
    with (
        signals_handled(lambda number, frame: sys.exit(128 + number), (signal.SIGINT, signal.SIGTERM)),
        closing(record),
        Workers(setting, wanted.workers) as pool,
    ):
        if wanted.resume and record.begins_anew:
            notify(f"{wanted.out} has no runs to resume, so all are run")
        trials = Trials(pool, base, record, rate, wanted.timeout_s)
        campaign = Campaign(trials, record, plan, screen.failed)
        try:
            screen.begin(trials.run_baseline(), wanted.workers)
            record.begin()
            trials.on_judged = screen.watching(campaign)
            report = campaign.explore()
        except SystemExit:  # by a signal: the runs so far are written
            reports.write(suites_when_stopped(campaign.report))
            notify("stopped; the same command with --resume passes over what has been run")
            raise
    echo("\n".join(result(report)))
    return report


def show_proof(finding: Path, words: Words, restart: Words, times: int, timeout_s: float | None) -> int:
    """Play a finding against a command, and print the proof. Return the exit code of its colour."""
    proof = _play(finding, words, restart, times, timeout_s)
    echo(whole_line(f"{proof.colour}: {', '.join(filter(None, (proof.count, proof.why)))}"))
    return EXIT_CODES[proof.colour]


def compare(
    finding: Path,
    commands: Mapping[str, Words],
    restart: Words,
    times: int,
    timeout_s: float | None,
) -> int:
    """Play a finding against a command before and after a change; print both. Return 0 for red, then green."""
    proofs = {
        name: _play(finding, words, restart, times, timeout_s, f"the command of --{name}")
        for name, words in commands.items()
    }
    print_table(PROOF_COLUMNS, [(name, str(proof.colour), proof.count, proof.why) for name, proof in proofs.items()])
    wrong = {name: proofs[name].colour for name, wanted in WANTED_COLOURS.items() if proofs[name].colour != wanted}
    for name, colour in wrong.items():
        notify(f"the command of --{name} must be {WANTED_COLOURS[name]}, and is: {colour}")
    if not wrong:
        return 0
    return EXIT_CODES[UNMET] if UNMET in wrong.values() else 1


def _play(
    path: Path,
    words: Words,
    restart: Words,
    times: int,
    timeout_s: float | None,
    command: str = "COMMAND",
) -> ProofResult:
    """Play the finding. Raises `CannotStart`."""

    def show(number: int, text: str) -> None:
        echo(whole_line(f"run {number} of {times}: {text}"))

    with _ending_with_reasons(path, command), on_path():
        finding = read_finding(path)
        check_programs(words, restart)
        with tempfile.TemporaryDirectory(prefix="reseller-sim-") as folder:
            setting = Setting(words, Options(), LOOPBACK, 0, Path(folder), restart)
            with Workers(setting, 1) as workers:
                return prove(workers, finding, times, timeout_s, show)
