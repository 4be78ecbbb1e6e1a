"""`reseller-sim exec`: runs a command with its own simulator, which lives as long as the command."""

import os
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from simulator.cli.complete import BEHIND_DASHES
from simulator.cli.flags import CannotStart, ServerFlags, option, server_flags, verb
from simulator.cli.output import print_to_stderr
from simulator.cli.reports import earlier
from simulator.cli.reports.flags import Reports, report_flags
from simulator.cli.reports.judge import Judge
from simulator.cli.reports.tapes import Tapes

if TYPE_CHECKING:
    from simulator.cli.running import Running

STOP_TIMEOUT_S = 5.0
FORWARDED = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class WithCommand(click.Command):
    """Separates what follows the first `--` before the flags are parsed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put COMMAND into `ctx.obj`. A missing one is a usage error."""
        before, after = args, []
        if "--" in args:
            at = args.index("--")
            before, after = args[:at], args[at + 1 :]
            ctx.meta[BEHIND_DASHES] = True
        if not after and "--help" not in before and not ctx.resilient_parsing:
            raise click.UsageError(
                f"put -- and a command after the options: reseller-sim {ctx.info_name} -- npm test", ctx
            )
        ctx.obj = after
        return super().parse_args(ctx, before)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Behind `--` files, which commands take; else what every verb offers."""
        if ctx.meta.get(BEHIND_DASHES):
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, incomplete)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line, with the command in it."""
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


@verb("exec", cls=WithCommand)
@server_flags(port=0, port_variable=False)
@option("--coverage", is_flag=True, help="Report at the end, on stderr, what was exercised and what was not.")
@option("--audit", is_flag=True, help="Judge what COMMAND did by what the service asks of a client.")
@report_flags
@click.option(
    "--report",
    allow_from_autoenv=False,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write what every sandbox did to this folder, as files and as a page.",
)
@click.option(
    "--tape",
    allow_from_autoenv=False,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what came to every sandbox to this file, to be replayed; without the scenario's secrets.",
)
@click.option(
    "--tape-secrets", is_flag=True, allow_from_autoenv=False, help="Leave the scenario's secrets on the tape."
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    coverage: bool,
    audit: bool,
    report: Path | None,
    tape: Path | None,
    tape_secrets: bool,
    **flags: Any,
) -> int:
    """Run a command against a simulator of its own.

    The simulator selects a free port, runs COMMAND, and ends with it. The exit code is COMMAND's; 128+N when signal N
    ended it; 3 when it cannot be run, or when it succeeded and a report cannot be written; 1 when it succeeded but an
    expectation is not met, of whatever sandbox, deleted and reset ones included. COMMAND reads RESELLER_BASE_URL,
    RESELLER_API_KEY, RESELLER_API_SECRET, RESELLER_USERNAME, RESELLER_PASSWORD, RESELLER_SANDBOX, RESELLER_SIM_URL (the
    control API), RESELLER_SIM_KEY, RESELLER_SIM_SECRET and, when there is a token, RESELLER_SIM_TOKEN and
    RESELLER_SIM_CONTROL_TOKEN from its environment.

    With --coverage, or RESELLER_SIM_COVERAGE=1, it reports at the end which rules, endpoints and outcomes were met.
    With --audit, or RESELLER_SIM_AUDIT=1, it prints how COMMAND violated what the service asks of a client; when it
    succeeded, the exit code is 1 for a violation that is more than a warning, and when there was nothing to judge.
    With --format github, or RESELLER_SIM_FORMAT=github, what is not as expected is annotated.

    \b
    Examples:
      reseller-sim exec -- npm test
      reseller-sim exec mine.yaml --clock manual -- pytest -x
      reseller-sim exec --coverage -- pytest
      reseller-sim exec --audit -- pytest
      reseller-sim exec -- sh -c 'reseller-sim call GET /v2/balance'
      reseller-sim exec mine.yaml --junit result.xml --report result -- pytest
      reseller-sim exec --tape failed.tape -- npm test
    """
    to_run: list[str] = ctx.obj
    own = {name: flags.pop(name) for name in ("junit", "json_file", "format", "tap")}
    reports = Reports(title="reseller-sim exec", **own)
    try:
        tapes = None if tape is None else Tapes(tape, shows_secrets=tape_secrets)
        return _reported(to_run, reports, report, tapes, ServerFlags(**flags), coverage=coverage, audit=audit)
    except CannotStart as refused:
        reports.not_run(refused.message)
        if report is not None:
            earlier.not_run(report, refused.message)
        raise


def _reported(
    to_run: list[str],
    reports: Reports,
    report: Path | None,
    tapes: Tapes | None,
    flags: ServerFlags,
    *,
    coverage: bool,
    audit: bool,
) -> int:
    if shutil.which(to_run[0]) is None:
        raise CannotStart(f"reseller-sim exec: {to_run[0]!r} cannot be run: check its name and PATH")
    reports.begin()
    if report is not None:
        earlier.begin(report)
    if tapes is not None:
        tapes.begin()
    judge = Judge(reports, report, audits=audit, tapes=tapes)
    running, thread = _serve_in_thread(flags, judge, keeps_coverage=coverage)
    from simulator.environment import environment

    try:
        status = _run(to_run, environment(running.app, running.url))
    finally:
        running.server.should_exit = True
        thread.join(STOP_TIMEOUT_S)
    if coverage:
        from simulator.cli.coverage import page

        print_to_stderr(page(running))
    return judge.exit_code(status)


def _serve_in_thread(flags: ServerFlags, judge: Judge, *, keeps_coverage: bool) -> "tuple[Running, threading.Thread]":
    """Start a server. A thread ends with this process, however that ends, unlike a child process."""
    from simulator.cli.running import prepare

    answers_or_ended = threading.Event()
    running = prepare(flags, lambda _: answers_or_ended.set(), keeps_coverage=keeps_coverage)
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
        raise CannotStart("reseller-sim exec: the server did not start; `reseller-sim serve` shows why")
    return running, thread


def _run(to_run: list[str], variables: dict[str, str]) -> int:
    """Run the command to its end, forwarding its signals; returns our exit code."""
    with _Forwarding() as forwarding:
        try:
            process = subprocess.Popen(to_run, env=variables)  # noqa: S603  # the user's own command
        except OSError as error:
            raise CannotStart(f"reseller-sim exec: {to_run[0]!r} cannot be run: {error.strerror}") from None
        forwarding.to(process)
        status = _ended(process)
    return status if status >= 0 else 128 - status


def _ended(process: "subprocess.Popen[bytes]") -> int:
    """The exit status of a process. A signal that comes just before a wait for a process does not end that wait, so
    that its handler would run when the process has ended; what it writes into a socket does."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        try:
            waiter = threading.Thread(target=lambda: (process.wait(), theirs.send(b"\0")), daemon=True)
            waiter.start()
            while process.returncode is None:
                ours.recv(1)
            waiter.join()
        finally:
            signal.set_wakeup_fd(before)
    return process.returncode


class _Forwarding:
    """Forwards signals to a process instead of ending this one; early ones as soon as the process exists."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "_Forwarding":
        for number in FORWARDED:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def to(self, process: "subprocess.Popen[bytes]") -> None:
        """Forward to this process from now on."""
        self._process = process
        for number in self._early:
            process.send_signal(number)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        elif number != signal.SIGINT or not _shares_terminal():
            self._process.send_signal(number)


def _shares_terminal() -> bool:
    """True when the terminal sends Ctrl-C to the command itself: it is in the foreground group, as we are."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
