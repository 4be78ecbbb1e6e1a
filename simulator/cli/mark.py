"""`reseller-sim mark`: names moments of a sandbox, to return to with `rewind`."""

from typing import Any

import click

from simulator.cli import complete
from simulator.cli.control import Control, path_part
from simulator.cli.flags import json_flag, running_flags, verb, verb_group
from simulator.cli.output import echo_value
from simulator.cli.tables import clock_time, print_line, print_table

TITLE = "reseller-sim mark"
COLUMNS = ("mark", "entries", "time")


@verb_group("mark")
def command() -> None:
    """Name, list and forget moments of a sandbox.

    A mark is a place on the tape of a sandbox, to which `rewind` returns, and at which `fork` begins another one.

    \b
    Examples:
      reseller-sim mark add ordered
      reseller-sim mark list
      reseller-sim mark rm ordered
    """


@verb("add")
@click.argument("name")
@running_flags
@json_flag(help="Print the answer of the control API.")
def add(name: str, json: bool, **running: Any) -> None:
    """Name the present.

    NAME has 1 to 64 letters, digits, blanks, '.', '_' and '-', the first a letter or digit. Exit code 1 means that it
    is another one, or in use, or that the sandbox has 100 marks.

    \b
    Examples:
      reseller-sim mark add ordered
      reseller-sim mark add 'before the order' --sandbox mine
    """
    mark = Control(f"{TITLE} add", **running).post("/marks", {"name": name}, "mark-answer")
    if json:
        echo_value(mark)
    else:
        print_line(f"{mark['name']}: behind entry {mark['n']}, at {clock_time(mark['at'])}")


@verb("list")
@running_flags
@json_flag(help="Print the answer of the control API.")
def list_all(json: bool, **running: Any) -> None:
    """List the marks, in the order in which they were made.

    \b
    Examples:
      reseller-sim mark list
      reseller-sim mark list --json | jq -r '.marks[].name'
    """
    answer = Control(f"{TITLE} list", **running).get("/marks", "marks-answer")
    if json:
        echo_value(answer)
    else:
        print_table(COLUMNS, [(one["name"], one["n"], clock_time(one["at"])) for one in answer["marks"]])


@verb("rm")
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete.marks)
@running_flags
def remove(names: tuple[str, ...], **running: Any) -> None:
    """Forget marks; the tape stays.

    Exit code 1 means that there is no such mark.

    \b
    Examples:
      reseller-sim mark rm ordered
    """
    control = Control(f"{TITLE} rm", **running)
    for one in names:
        control.delete(f"/marks/{path_part(one)}")


for each in (add, list_all, remove):
    command.add_command(each)
