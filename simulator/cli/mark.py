"""`reseller-sim mark`, `rewind` and `fork`: moments of a sandbox, for a return or a copy."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from simulator.cli import completion, values
from simulator.cli.control import Control, path_part
from simulator.cli.flags import asking_flags, control_flags, json_flag, own_option
from simulator.cli.output import Columns, clock_time, print_rows, show
from simulator.cli.sandbox import export_flag, show_sandbox
from simulator.cli.usage import verb, verb_group

COLUMNS: Columns = {"mark": "name", "entries": "n", "time": lambda mark: clock_time(mark["at"])}


Decorated = TypeVar("Decorated", bound=Callable[..., Any])
METAVAR = "MARK|ISO|N"


def moment_flags(*, required: bool) -> Callable[[Decorated], Decorated]:
    """MOMENT, and a flag for marks that look like something else: `moment`, `is_mark`."""
    metavar = METAVAR if required else f"[{METAVAR}]"
    argument = click.argument("moment", metavar=metavar, required=required, shell_complete=completion.marks)
    flag = own_option(
        "--mark", "is_mark", is_flag=True, help="Read the moment as a mark, even if it looks like a number or a time."
    )

    def decorate(function: Decorated) -> Decorated:
        return argument(flag(function))

    return decorate


def moment_of(ctx: click.Context, text: str, *, is_mark: bool) -> dict[str, Any]:
    """Return the moment as the control API expects it. By its form the text is a number, a time with its offset, or the
    name of a mark."""
    if is_mark:
        return {"mark": text}
    if (number := values.number_of(text)) is not None:
        return {"n": number}
    if ":" in text:  # which no name of a mark has
        values.time(ctx, ctx.command.params[0], text)
        return {"to": text}  # as it was written, since milliseconds mean more than themselves
    return {"mark": text}


@verb_group("mark")
def mark_command() -> None:
    """Create, list and delete marks of a sandbox.

    A mark is a place on the tape of a sandbox. `rewind` returns to it, and `fork` copies the sandbox as it was
    there.

    \b
    Examples:
      reseller-sim mark add ordered
      reseller-sim mark list
      reseller-sim mark rm ordered
    """


@verb("add")
@click.argument("name")
@asking_flags
def add(control: Control, name: str, json: bool) -> None:
    """Create a mark of the present.

    NAME has 1 to 64 letters, digits, blanks, '.', '_' and '-', the first a letter or digit. Exit code 1 means that
    the name is invalid or in use, or that the sandbox has 100 marks.

    \b
    Examples:
      reseller-sim mark add ordered
      reseller-sim mark add 'before the order' --sandbox mine
    """
    mark = control.post("/marks", {"name": name})
    show(mark, f"{mark['name']}: behind entry {mark['n']}, at {clock_time(mark['at'])}", json=json)


@verb("list")
@asking_flags
def list_all(control: Control, json: bool) -> None:
    """List the marks in the order of creation.

    \b
    Examples:
      reseller-sim mark list
      reseller-sim mark list --json | jq -r '.marks[].name'
    """
    print_rows(control.get("/marks"), "marks", COLUMNS, json=json)


@verb("rm")
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=completion.marks)
@control_flags
def remove(control: Control, names: tuple[str, ...]) -> None:
    """Delete marks; the tape stays.

    Exit code 1 means that there is no such mark.

    \b
    Examples:
      reseller-sim mark rm ordered
      reseller-sim mark rm ordered 'before the order' --sandbox mine
    """
    for one in names:
        control.delete(f"/marks/{path_part(one)}")


for each in (add, list_all, remove):
    mark_command.add_command(each)


@verb("rewind")
@moment_flags(required=True)
@asking_flags
@click.pass_context
def rewind_command(ctx: click.Context, /, control: Control, moment: str, is_mark: bool, json: bool) -> None:
    """Return a sandbox to a moment.

    Restore the sandbox as it was at a mark, at a time, or after the Nth entry of its tape, and discard everything
    later. A time in milliseconds means the end of that millisecond. Exit code 1 means that the sandbox has
    no such mark or moment.

    \b
    Examples:
      reseller-sim rewind ordered
      reseller-sim rewind 2026-11-21T12:00:05+08:00
      reseller-sim rewind 40
    """
    asked = moment_of(ctx, moment, is_mark=is_mark)
    answer = control.post("/rewind", asked)
    show(answer, f"{answer['id']}: rewound, it is {clock_time(answer['clock']['now'])}", json=json)


@verb("fork")
@moment_flags(required=False)
@own_option("--id", "fork_id", metavar="ID", help="The id of the fork; by default a new one.")
@export_flag
@control_flags
@json_flag(help="Print the answer of the control API, as in a pipe.")
@click.pass_context
def fork_command(
    ctx: click.Context,
    /,
    control: Control,
    moment: str | None,
    is_mark: bool,
    fork_id: str | None,
    export: bool,
    json: bool,
) -> None:
    """Copy a sandbox as it is now, or as it was at a moment.

    Copy --sandbox as it is now, or as it was at a mark, at a time, or after the Nth entry of its tape. The two run
    independently. Exit code 1 means that there is no such mark or moment, or that the id is taken.

    \b
    Examples:
      reseller-sim fork --id what-if
      reseller-sim fork ordered --id what-if
      eval "$(reseller-sim fork ordered --export)"
    """
    if is_mark and moment is None:
        raise click.UsageError("--mark belongs to the name of a mark", ctx)
    at = moment_of(ctx, moment, is_mark=is_mark) if moment is not None else {}
    wanted = {"fork": {"of": control.sandbox, **at}} | ({"id": fork_id} if fork_id is not None else {})
    made = control.post("/sandboxes", wanted, is_root=True)
    show_sandbox(control, made, export=export, json=json)
