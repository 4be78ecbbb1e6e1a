"""`reseller-sim fork`: makes a second sandbox, which begins at a moment of another one."""

from typing import Any

import click

from simulator.cli.control import Control
from simulator.cli.flags import json_flag, own_option, running_flags, verb
from simulator.cli.made import export_flag, show_made
from simulator.cli.moments import moment_flags, moment_of


@verb("fork")
@moment_flags(required=False)
@own_option("--id", "fork_id", metavar="ID", help="The id of the fork; by default a new one.")
@export_flag
@running_flags
@json_flag(help="Print the answer of the control API, as in a pipe.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    moment: str | None,
    is_mark: bool,
    fork_id: str | None,
    export: bool,
    json: bool,
    **running: Any,
) -> None:
    """Make a second sandbox that begins at a moment of another one.

    Of --sandbox as it is now, or as it was at a mark, at a time, or behind the Nth entry of its tape. Both go on, each
    in its own way. Exit code 1 means that there is no such mark or moment, or that the id is taken.

    \b
    Examples:
      reseller-sim fork --id what-if
      reseller-sim fork ordered --id what-if
      eval "$(reseller-sim fork ordered --export)"
    """
    if is_mark and moment is None:
        raise click.UsageError("--mark belongs to the name of a mark", ctx)
    control = Control("reseller-sim fork", **running)
    at = moment_of(ctx, moment, is_mark=is_mark) if moment is not None else {}
    wanted = {"fork": {"of": control.sandbox, **at}} | ({"id": fork_id} if fork_id is not None else {})
    made = control.post("/sandboxes", wanted, "sandbox-answer", is_root=True)
    show_made(control, made, export=export, json=json)
