"""`reseller-sim hold`: list and release answers and deliveries that rules hold."""

from typing import Any

import click

from simulator.cli import complete
from simulator.cli.control import Control, path_part
from simulator.cli.flags import json_flag, own_option, running_flags, verb, verb_group
from simulator.cli.numbers import Whole
from simulator.cli.output import echo_value
from simulator.cli.tables import clock_time, print_line, print_table

TITLE = "reseller-sim hold"
COLUMNS = ("hold", "kind", "what", "refid", "since", "waited")
HELD_MAX = 100


@verb_group("hold")
def command() -> None:
    """List and release what rules hold.

    A rule holds with `then: {hold: NAME}`, `callbacks: {hold: NAME}` or `webhooks: {hold: NAME}`.

    \b
    Examples:
      reseller-sim hold list
      reseller-sim hold release topup
    """


@verb("list")
@running_flags
@json_flag(help="Print the answer of the control API.")
def list_all(json: bool, **running: Any) -> None:
    """List what is held, in the order in which it came.

    \b
    Examples:
      reseller-sim hold list
      reseller-sim hold list --json | jq -r '.holds[].name'
    """
    answer = Control(f"{TITLE} list", **running).get("/holds", "holds-answer")
    if json:
        echo_value(answer)
    else:
        print_table(COLUMNS, [_row(held) for held in answer["holds"]])


@verb("release")
@click.argument("name", shell_complete=complete.holds)
@own_option("--count", metavar="N", type=Whole(1, HELD_MAX), help="Release the first N; all without it.")
@running_flags
@json_flag(help="Print the answer of the control API.")
def release(name: str, count: int | None, json: bool, **running: Any) -> None:
    """Let what is held under NAME go on.

    \b
    Examples:
      reseller-sim hold release topup
      reseller-sim hold release topup --count 1
    """
    control = Control(f"{TITLE} release", **running)
    body = {} if count is None else {"count": count}
    answer = control.post(f"/holds/{path_part(name)}/release", body, "release-answer")
    if json:
        echo_value(answer)
    else:
        print_line(f"{name}: {answer['released']} released, {answer['held']} held")


def _row(held: dict[str, Any]) -> tuple[str, ...]:
    waited = f"{held['waited']:.1f} s"
    return held["name"], held["kind"], held["what"], held["refid"], clock_time(held["since"]), waited


for each in (list_all, release):
    command.add_command(each)
