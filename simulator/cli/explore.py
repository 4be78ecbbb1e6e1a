"""`reseller-sim explore` and `prove`: the flags of explorations, and of proofs of what they found."""

from pathlib import Path
from typing import Any

import click

from simulator.cli import values
from simulator.cli.exec import WithCommand
from simulator.cli.flags import file_option, own_option
from simulator.cli.server_flags import server_flags
from simulator.cli.usage import verb
from simulator.cli.values import Number, Span, Whole

TIMES = 3
Words = tuple[str, ...]
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
@server_flags(port=0, port_variable=False)
@own_option(
    "--minutes",
    type=Number(0, 7 * 24 * 60),
    default=10.0,
    help="The time limit in minutes; with 0, try every single fault, and no storms.",
)
@own_option("--workers", type=Whole(1, 64), help="Parallel runs.  [default: one per core]")
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
    from simulator.cli import exploration

    if prove is not None or before is not None or after is not None:
        if prove is None or not before or not after or ctx.obj:
            raise click.UsageError("--prove FINDING needs --before CMD and --after CMD, and no other command", ctx)
        return exploration.compare(prove, {"before": before, "after": after}, restart or (), TIMES, timeout)
    if flags["port"] and flags["workers"] not in (None, 1):
        raise click.UsageError("several workers cannot listen on one port; leave --port out, or say --workers 1", ctx)
    return exploration.explore(tuple(ctx.obj), restart or (), timeout, flags)


@verb(
    "prove",
    "explored/01-callback.yaml -- npm test",
    "explored/01-callback.yaml --times 10 -- python shop.py",
    cls=WithCommand,
)
@click.argument("finding", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@own_option("--times", type=Whole(1, 100), default=TIMES, help="The number of runs.")
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
    from simulator.cli import exploration

    return exploration.show_proof(finding, tuple(ctx.obj), restart or (), times, timeout)
