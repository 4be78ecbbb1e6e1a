"""`reseller-sim sandbox`: makes, lists and deletes sandboxes of a running simulator."""

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from simulator.cli import complete, values
from simulator.cli.control import Control
from simulator.cli.errors import Refused
from simulator.cli.flags import SEED_MAX, json_flag, own_option, running_flags, verb, verb_group
from simulator.cli.made import export_flag, show_made
from simulator.cli.numbers import Whole
from simulator.cli.output import echo_value, one_line, print_to_stderr
from simulator.cli.tables import clock_time, print_table

TITLE = "reseller-sim sandbox"
EITHER = "name SCENARIO, which is a bundled one or a file here, or --server-file, not both"
COLUMNS = ("id", "scenario", "clock", "time", "balance", "url")
DROPPABLE = ("time", "balance", "clock", "scenario")  # the URL is what people copy


@verb_group("sandbox")
def command() -> None:
    """Make, list and delete sandboxes.

    A sandbox is a whole service of its own in a running simulator: clock, accounts, payments, rules and journal. One
    for each test lets tests run beside each other. `default` always exists.

    \b
    Examples:
      reseller-sim sandbox new
      reseller-sim sandbox list
      reseller-sim sandbox rm mine
    """


@verb("new")
@click.argument("scenario", required=False, shell_complete=complete.scenarios)
@own_option("--id", "sandbox_id", metavar="ID", help="Its id; by default a new one.")
@own_option(
    "--clock",
    metavar="real|manual|xN",
    callback=values.clock_mode,
    shell_complete=complete.clock_modes,
    help="By default the scenario's.",
)
@own_option("--start", metavar="ISO", callback=values.time, help="Its time when it starts; by default the present.")
@own_option("--seed", metavar="N", type=Whole(0, SEED_MAX), help="The seed of all its randomness.")
@own_option(
    "--server-file",
    metavar="FILE",
    help="Instead of SCENARIO: a file of the folder that the server has by --scenarios.",
)
@own_option("--unique", is_flag=True, help="Give it keys that no other sandbox has, which reach it without its URL.")
@own_option("--no-audit", is_flag=True, help="Let `exec --audit` pass it over: it violates obligations on purpose.")
@export_flag
@running_flags
@json_flag(help="Print the answer of the control API.")
def new(
    scenario: str | None,
    sandbox_id: str | None,
    clock: values.ClockMode | None,
    start: datetime | None,
    seed: int | None,
    server_file: str | None,
    unique: bool,
    no_audit: bool,
    export: bool,
    json: bool,
    sandbox: str,
    **running: Any,
) -> None:
    """Make a sandbox, and print how to use it.

    SCENARIO is a bundled name or a file here, which the simulator needs not see; by default it is the server's own.
    With --export the lines set the variables that `exec` sets, and RESELLER_SIM_SANDBOX for these verbs. Exit code 1
    means that the scenario cannot be used.

    \b
    Examples:
      reseller-sim sandbox new
      reseller-sim sandbox new mine.yaml --clock manual --id mine
      reseller-sim sandbox new --server-file shop/night.yaml
      eval "$(reseller-sim sandbox new --clock manual --export)"
    """
    if scenario is not None and server_file is not None:
        raise click.UsageError(EITHER, click.get_current_context())
    control = Control(f"{TITLE} new", sandbox=sandbox, **running)
    wanted = {
        "scenario": {"file": server_file} if server_file is not None else _scenario(scenario),
        "id": sandbox_id,
        "clock": _clock(clock, start),
        "seed": seed,
        "credentials": "unique" if unique else None,
        "audit": False if no_audit else None,
    }
    asked = {name: value for name, value in wanted.items() if value is not None}
    made = control.post("/sandboxes", asked, "sandbox-answer", is_root=True)
    show_made(control, made, export=export, json=json)


@verb("list")
@running_flags
@json_flag(help="Print the answer of the control API.")
def list_all(json: bool, **running: Any) -> None:
    """List the sandboxes.

    Of each its scenario, clock, and the balance of its first reseller; `sandbox list --json` has all resellers with
    their credentials.

    \b
    Examples:
      reseller-sim sandbox list
      reseller-sim sandbox list --json | jq -r '.sandboxes[].id'
    """
    answer = Control(f"{TITLE} list", **running).get("/sandboxes", "sandboxes-answer", is_root=True)
    if json:
        echo_value(answer)
    else:
        print_table(COLUMNS, [_row(one) for one in answer["sandboxes"]], droppable=DROPPABLE)
    for server in answer.get("servers", []):
        for line in _lacking(server):
            print_to_stderr(one_line(f"{TITLE} list: {line}"))


@verb("rm")
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete.sandboxes)
@running_flags
def remove(ids: tuple[str, ...], sandbox: str, **running: Any) -> None:
    """Delete sandboxes.

    With all that happened in them. `default` cannot be deleted. Exit code 3 means that there is no such sandbox.

    \b
    Examples:
      reseller-sim sandbox rm mine
      reseller-sim sandbox list --json | jq -r '.sandboxes[].id' | grep ^test- | xargs reseller-sim sandbox rm
    """
    for one in ids:
        Control(f"{TITLE} rm", sandbox=one, **running).delete("")


for each in (new, list_all, remove):
    command.add_command(each)


def _scenario(wanted: str | None) -> Any:
    """What the simulator is sent: nothing, a bundled name, or a file merged with all that it extends."""
    from simulator.scenario.library import load_scenario
    from simulator.scenario.reading.document import ScenarioError
    from simulator.scenario.reading.files import is_path

    if wanted is None or (not is_path(wanted) and not Path(wanted).is_file()):
        return wanted
    try:
        return load_scenario(wanted).document
    except ScenarioError as error:
        raise Refused("\n".join(map(one_line, error.problems))) from None


def _clock(mode: values.ClockMode | None, start: datetime | None) -> dict[str, Any] | None:
    wanted: dict[str, Any] = {}
    if mode is not None:
        wanted["mode"] = mode.mode
        if mode.mode == "xN":
            wanted["rate"] = mode.rate
    if start is not None:
        wanted["start"] = start.isoformat()
    return wanted or None


def _lacking(server: dict[str, Any]) -> list[str]:
    """What the list lacks of one of several servers."""
    name = server["name"]
    missing = [] if server["answered"] else [f"the sandboxes of {name} are missing: {server['reason']}"]
    more = f" and {server['left_out']} more" if server["left_out"] else ""
    wrong = [f"{name} has {', '.join(server['misplaced'])}{more}, which belong to others: see docs/scale.md"]
    return missing + (wrong if server["misplaced"] else [])


def _row(one: dict[str, Any]) -> tuple[object, ...]:
    clock = one["clock"]
    mode = f"x{clock['rate']:g}" if clock["mode"] == "xN" else clock["mode"]
    balance = f"{one['resellers'][0]['balance']:.2f}" if one["resellers"] else ""
    return one["id"], one["scenario"], mode, clock_time(clock["now"]), balance, one["url"]
