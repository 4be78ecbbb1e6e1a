"""`reseller-sim exec`: runs a command with its own simulator, which lives as long as the command."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from reseller_sim.exchange import CA_VARIABLE, bypass
from simulator.cli.child import STOP_TIMEOUT_S, check_programs, on_path, run
from simulator.cli.completion import BEHIND_DASHES
from simulator.cli.flags import file_option, option, own_option
from simulator.cli.output import print_to_stderr
from simulator.cli.process import raise_file_limit
from simulator.cli.reports.report_cases import Reports, report_flags
from simulator.cli.server_flags import ServerFlags, names_scenario, of_one_command, server_flags, team_flags
from simulator.cli.usage import CannotStart, verb
from simulator.cli.values import Span

if TYPE_CHECKING:
    from simulator.cli.reports.judge import Judge


class WithCommand(click.Command):
    """Separates what follows the first `--` before the flags are parsed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put COMMAND into `ctx.obj`. A missing COMMAND is a usage error."""
        before, after = args, []
        if "--" in args:
            at = args.index("--")
            before, after = args[:at], args[at + 1 :]
            ctx.meta[BEHIND_DASHES] = True
        if not after and "--help" not in before and not ctx.resilient_parsing:
            required = [piece for piece in super().collect_usage_pieces(ctx) if not piece.startswith("[")]
            example = " ".join(["reseller-sim", str(ctx.info_name), *required, "-- npm test"])
            raise click.UsageError(f"put -- and a command after the options: {example}", ctx)
        ctx.obj = after
        return super().parse_args(ctx, before)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete files after `--`, since commands take them, and before it what every verb offers."""
        if ctx.meta.get(BEHIND_DASHES):
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, incomplete)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the usage line, with the command in it."""
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


@verb("exec", "-- npm test", "mine.yaml --audit --junit result.xml -- pytest -x", cls=WithCommand)
@server_flags(port=0)
@team_flags(own_option)
@own_option("--timeout", type=Span(0.1), help="Stop COMMAND when it takes longer than this; the exit code is 124.")
@option(
    "--coverage",
    is_flag=True,
    help="Report at the end, on stderr, which rules, endpoints and outcomes were used and which were not.",
)
@option("--audit", is_flag=True, help="Judge the requests of COMMAND by the obligations of a client.")
@report_flags
@click.option(
    "--report",
    allow_from_autoenv=False,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the events of every sandbox to this folder, as files and as an HTML page.",
)
@file_option(
    "--tape", help="Write the tape of every sandbox to this file, for `replay`. The scenario's secrets are masked."
)
@click.option("--tape-secrets", is_flag=True, allow_from_autoenv=False, help="Keep the scenario's secrets on the tape.")
@click.pass_context
def exec_command(
    ctx: click.Context,
    /,
    timeout: float | None,
    coverage: bool,
    audit: bool,
    report: Path | None,
    tape: Path | None,
    tape_secrets: bool,
    **flags: Any,
) -> int:
    """`exec` starts a simulator on a free port, runs COMMAND, and stops the simulator. COMMAND finds reseller-sim on
    its PATH, and reads RESELLER_BASE_URL, RESELLER_API_KEY, RESELLER_API_SECRET, RESELLER_USERNAME, RESELLER_PASSWORD,
    RESELLER_SANDBOX and RESELLER_SIM_URL (the control API). It also reads RESELLER_SIM_TOKEN when there is a token, and
    with --tls-cert RESELLER_SIM_CA.

    `exec` exits with COMMAND's exit code; 128+N when signal N ended it; 124 when it took longer than --timeout; 3 when
    it cannot be run. When COMMAND succeeded, the exit code is 1 if a sandbox does not meet an expectation of its
    scenario or, with --audit, a client's obligation of severity error, or if there was nothing to judge; and 3 if a
    report or --data-dir cannot be written. Deleted and reset sandboxes count, too.
    """
    from simulator.cli.reports.judge import Judge
    from simulator.cli.reports.run_tapes import RunTapes

    if tape_secrets and tape is None:
        raise click.UsageError("--tape-secrets needs --tape FILE", ctx)
    reports = Reports(**{name: flags.pop(name) for name in ("junit", "json_file", "format")})
    tapes = None if tape is None else RunTapes(tape, shows_secrets=tape_secrets)
    judge = Judge(reports, report, audits=audit, tapes=tapes)
    wanted = ServerFlags(**flags, names_scenario=names_scenario(ctx))
    try:
        with on_path():
            return _judged(ctx.obj, judge, wanted, timeout, keeps_coverage=coverage)
    except CannotStart as refused:
        judge.not_run(refused.message)
        raise


def _judged(
    to_run: list[str], judge: "Judge", flags: ServerFlags, timeout_s: float | None, *, keeps_coverage: bool
) -> int:
    """Run the command and its server. The server's thread ends with this process, however that ends, unlike a child
    process."""
    from simulator.cli.reports.folder import coverage_page
    from simulator.cli.server import prepare
    from simulator.explore.environment import environment

    check_programs(to_run)
    files_max = raise_file_limit()
    judge.begin()
    answers_or_ended = threading.Event()
    running = prepare(of_one_command(flags), lambda _: answers_or_ended.set(), keeps_coverage=keeps_coverage)
    judge.follow(running, flags.scenario)

    def serve() -> None:
        try:
            running.server.run()
        finally:
            answers_or_ended.set()

    thread = threading.Thread(target=serve, name="simulator", daemon=True)
    thread.start()
    answers_or_ended.wait()
    if not running.server.started:
        raise CannotStart("the server did not start; `reseller-sim serve` shows why")
    try:
        variables = environment(running.app, running.url)
        if running.certificate:
            variables[CA_VARIABLE] = str(Path(running.certificate).absolute())
        status = run(to_run, variables | bypass(variables, running.url), timeout_s, files_max)
    finally:
        running.server.should_exit = True
        thread.join(STOP_TIMEOUT_S)
    if keeps_coverage:
        print_to_stderr(coverage_page(running))
    code = judge.exit_code(status)
    return 3 if running.failures and not code else code
