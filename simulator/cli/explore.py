"""`reseller-sim explore` and `prove`: the faults under which a command fails, and whether it still does."""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from reseller_sim.exchange import bypass
from simulator.cli import values
from simulator.cli.child import check_programs, on_path
from simulator.cli.exec import WithCommand
from simulator.cli.flags import file_option, own_option
from simulator.cli.output import echo, print_table
from simulator.cli.process import signals_handled
from simulator.cli.reports import explore_report as screen
from simulator.cli.reports.report_cases import UNWRITABLE, Reports
from simulator.cli.server_flags import ServerFlags, of_one_command, options_of, server_flags
from simulator.cli.usage import CannotStart, ending_with_problems, notify, verb
from simulator.cli.values import Integer, Number, Span
from simulator.domain.errors import DomainError
from simulator.explore.campaign import Campaign, Plan
from simulator.explore.fault_findings import ExplorationReport, Reproduction
from simulator.explore.finding_proof import ProofResult, prove, read_finding
from simulator.explore.run_scenario import Base
from simulator.explore.run_verdicts import OtherRun, Record
from simulator.explore.runs import CannotRun, Setting, Workers
from simulator.explore.trials import AsksNothing, BaselineFails, Trials
from simulator.options import LOOPBACK, Options
from simulator.scenario.library import load_scenario
from simulator.server.serve import host_for_clients
from simulator.short_text import whole_line

Words = tuple[str, ...]
ACTIVE = "active"
UNMET = "met nothing"
EXIT_CODES = {"green": 0, "red": 1, "flaky": 2, UNMET: 3}
WANTED_COLOURS = {"before": "red", "after": "green"}
HINT = "does your command send to RESELLER_BASE_URL, and to the paths of the service?"
PROOF_COLUMNS = ("command", "verdict", "failed", "why")
TIMES = 3
RESTART = own_option(
    "--restart",
    metavar="CMD",
    parse=values.command_words,
    help="A command that restarts the client. It runs when a callback is due. It has COMMAND's variables, and "
    "COMMAND's process id in RESELLER_COMMAND_PID.",
)
TIMEOUT = own_option("--timeout", type=Span(0.1), help="End a run that takes longer than this; the run counts as hung.")


class CommandOrProof(WithCommand):
    """A command whose COMMAND is absent with `--prove`, which has two commands of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave COMMAND empty with `--prove`."""
        if any(arg.partition("=")[0] == "--prove" for arg in args) and "--" not in args:
            ctx.obj = []
            return click.Command.parse_args(self, ctx, args)
        return super().parse_args(ctx, args)


@verb(
    "explore",
    "mine.yaml --clock x100 --minutes 30 -- npm test",
    "--prove explored/01-callback.yaml --before 'python old.py' --after 'python new.py'",
    cls=CommandOrProof,
)
@server_flags(port=0)
@own_option(
    "--minutes",
    type=Number(0, 7 * 24 * 60),
    default=10.0,
    help="The time limit in minutes; with 0, try every single fault, and no storms.",
)
@own_option("--workers", type=Integer(1, 64), help="Parallel runs.  [default: one per core]")
@own_option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("explored"),
    help="The folder for findings and for the state of --resume.",
)
@own_option(
    "--resume",
    is_flag=True,
    help="Skip the runs that are finished in the folder of --out, and continue with the others.",
)
@own_option("--first", is_flag=True, help="End with the first finding.")
@TIMEOUT
@RESTART
@file_option("--junit", help="Write the result to this file as JUnit XML.")
@own_option(
    "--prove",
    metavar="FINDING",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Run the commands of --before and --after with the faults of this finding.",
)
@own_option(
    "--before", metavar="CMD", parse=values.command_words, help="With --prove: COMMAND before the change; it fails."
)
@own_option(
    "--after", metavar="CMD", parse=values.command_words, help="With --prove: COMMAND after the change; it survives."
)
@click.pass_context
def explore_command(
    ctx: click.Context,
    /,
    prove: Path | None,
    before: Words | None,
    after: Words | None,
    restart: Words | None,
    timeout: float | None,
    **flags: Any,
) -> int:
    """COMMAND runs as under exec: once without faults, then with each single fault at each of its requests, payments
    and callbacks, then under storms of several faults, chosen at random from --seed. A run fails when COMMAND fails or
    hangs, an order is paid twice, the audit has a new finding, or an expectation is not met. `explore` repeats a failed
    run, removes the faults that it does not need, and writes a scenario file to --out that repeats the failure.

    The exit code is 0 when COMMAND survived everything, 1 when there is a finding, 3 when the baseline fails, sends no
    request or cannot be run. Ctrl-C and SIGTERM stop the verb, with exit codes 130 and 143; --resume continues.
    """
    if prove is not None or before is not None or after is not None:
        if prove is None or not before or not after or ctx.obj:
            raise click.UsageError("--prove FINDING needs --before CMD and --after CMD, and no other command", ctx)
        return _compare(prove, {"before": before, "after": after}, restart or (), timeout)
    if flags["port"] and flags["workers"] not in (None, 1):
        raise click.UsageError("several workers cannot listen on the same port; omit --port, or give --workers 1", ctx)
    return _explore(tuple(ctx.obj), restart or (), timeout, flags)


@verb(
    "prove",
    "explored/01-callback.yaml -- npm test",
    "explored/01-callback.yaml --times 10 -- python shop.py",
    cls=WithCommand,
)
@click.argument("finding", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@own_option("--times", type=Integer(1, 100), default=TIMES, help="The number of runs.")
@TIMEOUT
@RESTART
@click.pass_context
def prove_command(
    ctx: click.Context, /, finding: Path, times: int, timeout: float | None, restart: Words | None
) -> int:
    """COMMAND runs once without the faults of the finding, and must succeed. Then it runs --times times with them:
    `green` means that it survives every run, `red` that it fails in every run, `flaky` that it fails in some. The exit
    code is 0 for green, 1 for red, 2 for flaky, 3 when no fault was used, or when COMMAND fails without faults.
    """
    proof = _play(finding, tuple(ctx.obj), restart or (), times, timeout)
    echo(whole_line(f"{proof.colour}: {', '.join(filter(None, (proof.count, proof.why)))}"))
    return EXIT_CODES[proof.colour]


@contextmanager
def _ending_with_reasons(command: str = "COMMAND") -> Iterator[None]:
    """Raise `CannotStart` with the reason why no run can be judged; messages call the command `command`."""
    try:
        yield
    except (CannotRun, OtherRun, DomainError) as error:
        text = str(error)
    except AsksNothing as error:
        text = f"{UNMET}: {str(error).replace('COMMAND', command, 1)}; {HINT}"
    except BaselineFails as error:
        text = f"{command} fails without any fault: {error}"
    except OSError as error:
        text = f"{error.filename or 'the runs stopped'}: {error.strerror or error}"
    else:
        return
    raise CannotStart(text)


def _explore(command: Words, restart: Words, timeout_s: float | None, flags: dict[str, Any]) -> int:
    """Explore with the other flags of the verb. Return its exit code."""
    reports = Reports(flags.pop("junit"), None, "text")
    workers = flags.pop("workers") or (1 if flags["port"] else os.cpu_count() or 1)
    out, minutes, resumes, is_first = (flags.pop(name) for name in ("out", "minutes", "resume", "first"))
    server = ServerFlags(**flags)
    plain = options_of(of_one_command(server))._replace(mode=None, rate=None, start=None, seed=None)
    setting = Setting(command, plain, server.host, server.port, out, restart)
    is_new = not out.exists()
    reports.begin()
    os.environ.update(bypass(os.environ, f"http://{host_for_clients(server.host)}"))  # COMMAND inherits them
    try:
        with on_path(), _ending_with_reasons(), ending_with_problems(CannotStart):
            check_programs(command, restart)
            out.mkdir(parents=True, exist_ok=True)
            scenario = load_scenario(server.scenario)
            base, rate = screen.base_of(server, out, scenario)
            plan = Plan(
                folder=out,
                reproduction=Reproduction(command, restart, screen.repeated(server)),
                seed=server.seed or 0,
                seconds=minutes * 60,
                ends_at_first=is_first,
                keys=tuple(
                    (one.code, key.key) for one in scenario.resellers for key in one.keys if key.state == ACTIVE
                ),
                has_start=server.start is not None or scenario.clock.start is not None,
                rate=rate,
                restarts=bool(restart),
            )
            record = Record(out, screen.about(setting, base, server, timeout_s), resumes=resumes)
            if resumes and record.begins_anew:
                notify(f"{out} has no runs to resume, so all are run")
            report = _campaign(setting, plan, base, record, reports, timeout_s, workers)
    except CannotStart as refused:
        reports.not_run(refused.message)
        if is_new:
            with suppress(OSError):  # it is empty unless runs were recorded
                out.rmdir()
        raise
    is_written = reports.write(screen.suites(report))
    return 1 if report.findings else 0 if is_written else UNWRITABLE


def _campaign(
    setting: Setting, plan: Plan, base: Base, record: Record, reports: Reports, timeout_s: float | None, workers: int
) -> ExplorationReport:
    """Explore, and print what is found."""
    with (
        signals_handled(lambda number, frame: sys.exit(128 + number), (signal.SIGINT, signal.SIGTERM)),
        closing(record),
        Workers(setting, workers) as pool,
    ):
        trials = Trials(pool, base, record, plan.rate, timeout_s)
        campaign = Campaign(trials, record, plan, screen.show_failure)
        try:
            screen.show_baseline(trials.run_baseline(), workers)
            record.begin()
            trials.on_judged = screen.watching(campaign)
            report = campaign.explore()
        except SystemExit:  # by a signal: the runs so far are written
            reports.write(screen.suites_when_stopped(campaign.report))
            notify("stopped; the same command with --resume skips the finished runs")
            raise
    echo("\n".join(screen.result(report)))
    return report


def _compare(finding: Path, commands: Mapping[str, Words], restart: Words, timeout_s: float | None) -> int:
    """Play a finding against a command before and after a change; print both. Return 0 for red, then green."""
    proofs = {
        name: _play(finding, words, restart, TIMES, timeout_s, f"the command of --{name}")
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
    path: Path, words: Words, restart: Words, times: int, timeout_s: float | None, command: str = "COMMAND"
) -> ProofResult:
    """Play the finding. Raises `CannotStart`."""

    def show(number: int, text: str) -> None:
        echo(whole_line(f"run {number} of {times}: {text}"))

    with _ending_with_reasons(command), on_path():
        finding = read_finding(path)
        check_programs(words, restart)
        with tempfile.TemporaryDirectory(prefix="reseller-sim-") as folder:
            setting = Setting(words, Options(), LOOPBACK, 0, Path(folder), restart)
            with Workers(setting, 1) as workers:
                return prove(workers, finding, times, timeout_s, show)
