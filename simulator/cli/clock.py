"""`reseller-sim clock`: shows a sandbox's clock, sets its mode, and stops an advance that runs."""

from typing import Any

import click

from simulator.cli import complete, values
from simulator.cli.control import Control
from simulator.cli.flags import json_flag, running_flags, verb
from simulator.cli.output import echo_value
from simulator.cli.tables import clock_time, print_line

TITLE = "reseller-sim clock"
STOP = "stop"


@verb("clock")
@click.argument("what", metavar="[real|manual|xN|stop]", required=False, shell_complete=complete.clock_actions)
@running_flags
@json_flag(help="Print the answer of the control API.")
@click.pass_context
def command(ctx: click.Context, /, what: str | None, json: bool, **running: Any) -> None:
    """Print the clock, set its mode, or stop an advance.

    The clock follows the wall clock (`real`), moves only when it is advanced (`manual`), or runs N times as fast
    (`x60`). `stop` ends the advance that runs, whoever began it, after what it is at. Exit code 1 means that none runs.

    \b
    Examples:
      reseller-sim clock
      reseller-sim clock manual
      reseller-sim clock x60
      reseller-sim clock stop
    """
    control = Control(TITLE, **running)
    if what is None:
        clock = control.get("/clock", "clock-answer")
    elif what == STOP:
        clock = control.delete("/clock/advance", "clock-answer")
    else:
        wanted = _mode(ctx, what)
        rate = {"rate": wanted.rate} if wanted.mode == "xN" else {}
        clock = control.put("/clock", {"mode": wanted.mode, **rate}, "clock-answer")
    if json:
        echo_value(clock)
    else:
        print_line(_line(clock))


def _mode(ctx: click.Context, text: str) -> values.ClockMode:
    try:
        wanted = values.clock_mode(ctx, ctx.command.params[0], text)
    except click.BadParameter as wrong:
        raise click.UsageError(f"{wrong.message}; `{STOP}` ends an advance", ctx) from None
    assert wanted is not None
    return wanted


def _line(clock: dict[str, Any]) -> str:
    mode = f"x{clock['rate']:g}" if clock["mode"] == "xN" else clock["mode"]
    due = f"the next of {clock['pending']} is due at {clock_time(clock['next_due'])}" if clock["next_due"] else ""
    moves = "it is being advanced" if clock["advancing"] else ""
    return ", ".join(filter(None, (f"{mode}: it is {clock_time(clock['now'])}", due, moves)))
