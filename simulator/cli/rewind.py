"""`reseller-sim rewind`: returns a sandbox to a moment."""

from typing import Any

import click

from simulator.cli.control import Control
from simulator.cli.flags import json_flag, running_flags, verb
from simulator.cli.moments import moment_flags, moment_of
from simulator.cli.output import echo_value
from simulator.cli.tables import clock_time, print_line


@verb("rewind")
@moment_flags(required=True)
@running_flags
@json_flag(help="Print the answer of the control API.")
@click.pass_context
def command(ctx: click.Context, /, moment: str, is_mark: bool, json: bool, **running: Any) -> None:
    """Return a sandbox to a moment.

    To a mark, to a time of the sandbox, or behind the Nth entry of its tape. Everything is as it was then, and what
    came later is gone. A time in milliseconds means the end of that millisecond. Exit code 1 means that the sandbox has
    no such mark or moment.

    \b
    Examples:
      reseller-sim rewind ordered
      reseller-sim rewind 2026-11-21T12:00:05+08:00
      reseller-sim rewind 40
    """
    asked = moment_of(ctx, moment, is_mark=is_mark)
    answer = Control("reseller-sim rewind", **running).post("/rewind", asked, "sandbox-answer")
    if json:
        echo_value(answer)
    else:
        print_line(f"{answer['id']}: rewound, it is {clock_time(answer['clock']['now'])}")
