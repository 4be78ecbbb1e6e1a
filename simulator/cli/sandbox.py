"""`reseller-sim sandbox` and `deposit`: the sandboxes of a running simulator, and the money of their resellers."""

from pathlib import Path
from shlex import quote
from typing import Any

import click

from reseller_sim.identity import Identity
from simulator.cli import completion, values
from simulator.cli.control import Control, path_part
from simulator.cli.flags import all_of, asking_flags, control_flags, json_flag, own_option, running_flags
from simulator.cli.output import Columns, clock_mode_of, clock_time, echo, echo_value, print_line, print_rows, show
from simulator.cli.server_flags import sandbox_start
from simulator.cli.usage import BadResult, ending_with_problems, notify, verb, verb_group, wrong_usage
from simulator.short_text import whole_line

COLUMNS: Columns = {
    "id": "id",
    "scenario": "scenario",
    "clock": lambda sandbox: clock_mode_of(sandbox["clock"]),
    "time": lambda sandbox: clock_time(sandbox["clock"]["now"]),
    "balance": lambda sandbox: f"{sandbox['resellers'][0]['balance']:.2f}" if sandbox["resellers"] else "",
    "url": "url",
}


export_flag = own_option("--export", is_flag=True, help="Print lines to eval; then all verbs use this sandbox.")


@verb_group("sandbox", "new", "list")
def sandbox_command() -> None:
    """A sandbox is a whole service of its own in a running simulator. Give each test its own sandbox, and the tests can
    run at the same time. `default` always exists.
    """


@sandbox_command.word(
    "new", "mine.yaml --clock manual --id mine", 'eval "$(reseller-sim sandbox new --clock manual --export)"'
)
@click.argument("scenario", required=False, shell_complete=completion.scenarios)
@own_option("--id", metavar="ID", help="The id of the sandbox; by default a generated id.")
@all_of(sandbox_start(own_option))
@own_option("--server-file", metavar="FILE", help="Instead of SCENARIO: a file below the server's --scenarios.")
@own_option("--unique", is_flag=True, help="Give it API keys of its own, which reach it without /s/ID in the URL.")
@own_option("--no-audit", is_flag=True, help="Exclude it from `exec --audit`, when a test violates obligations.")
@export_flag
@asking_flags
def new(
    control: Control, scenario: str | None, server_file: str | None, export: bool, json: bool, **given: Any
) -> None:
    """Create a sandbox, and print how to use it.

    SCENARIO is the name of a bundled scenario, or a file of yours, which is sent to the simulator; by default the
    server's scenario. With --export, the output sets the variables that `exec` sets, and RESELLER_SIM_SANDBOX.
    """
    if scenario is not None and server_file is not None:
        raise wrong_usage("give SCENARIO, a bundled scenario or a file here, or --server-file, not both")
    clock, start = values.clock_members(given["clock"]), given["start"]
    wanted = {
        "scenario": {"file": server_file} if server_file is not None else _scenario(scenario),
        "id": given["id"],
        "clock": (clock | ({"start": start.isoformat()} if start else {})) or None,
        "seed": given["seed"],
        "credentials": "unique" if given["unique"] else None,
        "audit": False if given["no_audit"] else None,
    }
    asked = {name: value for name, value in wanted.items() if value is not None}
    made = control.ask("POST", "/sandboxes", asked, is_root=True)
    show_sandbox(control, made, export=export, json=json)


@sandbox_command.word("list", "", "--json | jq -r '.sandboxes[].id'")
@asking_flags
def list_all(control: Control, json: bool) -> None:
    """List the sandboxes with the balance of the first reseller; --json has all resellers with their credentials."""
    answer = control.ask("GET", "/sandboxes", is_root=True)
    print_rows(answer, "sandboxes", COLUMNS, json=json)
    for server in answer.get("servers", []):
        if not server["answered"]:
            notify(f"the sandboxes of {server['url']} are missing: it {server['reason']}")


@sandbox_command.word("rm", "mine", "mine other")
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=completion.sandboxes)
@running_flags
def remove(ids: tuple[str, ...], sandbox: str, **running: Any) -> None:
    """Delete sandboxes. Exit code 3 means that there is no such sandbox."""
    for id_ in ids:
        Control(sandbox=id_, **running).ask("DELETE", "")


def _scenario(wanted: str | None) -> Any:
    """Return the scenario for the simulator: None, a bundled name, or a file merged with all that it extends."""
    from simulator.scenario.library import load_scenario
    from simulator.scenario.reading.scenario_files import is_path

    if wanted is None or (not is_path(wanted) and not Path(wanted).is_file()):
        return wanted
    with ending_with_problems():
        return load_scenario(wanted).document


def show_sandbox(control: Control, made: dict[str, Any], *, export: bool, json: bool) -> None:
    """Print the sandbox of an answer."""
    if export:
        variables = Identity(control.client, made).environment | {"RESELLER_SIM_SANDBOX": made["id"]}
        for name, value in variables.items():
            echo(f"export {name}={quote(whole_line(value))}")
    elif json:
        echo_value(made)
    else:
        _print_sandbox(made)


def _print_sandbox(made: dict[str, Any]) -> None:
    print_line(f"sandbox    {made['id']}, scenario {made['scenario']}, seed {made['seed']}")
    print_line(f"url        {made['url']}")
    print_line(f"clock      {clock_mode_of(made['clock'])}, {clock_time(made['clock']['now'])}")
    for row in made["resellers"][:1]:
        print_line(f"reseller   {row['code']}, balance {row['balance']:.2f} MYR")
        print_line(f"API key    {row['api_key']}")
        print_line(f"secret     {row['api_secret']}")
    print_line("")
    print_line(f"reseller-sim call --sandbox {made['id']} GET /v2/balance")
    print_line(f"reseller-sim sandbox rm {made['id']}")


@verb("deposit", "500", "19.90 --reseller RS001 --description 'bank transfer'")
@click.argument("amount", callback=values.parsed(values.amount))
@own_option("--reseller", metavar="CODE", help="The reseller; by default the sandbox's first.")
@own_option("--description", metavar="TEXT", help="The description in the statement.")
@control_flags
@json_flag(help="Print the ledger entry.")
def deposit_command(control: Control, amount: str, reseller: str | None, description: str | None, json: bool) -> None:
    """AMOUNT is in MYR with at most two decimals. A reseller with a balance webhook gets `balance.added`."""
    code, entry = deposit(control, amount, reseller, description)
    show(entry, f"{code}: {entry['amount']:.2f} MYR added, balance {entry['balance']:.2f} MYR", json=json)


def deposit(
    control: Control, amount: str, code: str | None = None, description: str | None = None
) -> tuple[str, dict[str, Any]]:
    """Add money to the wallet of a reseller, by default the first reseller; returns its code and the ledger entry."""
    code = code or reseller(control)["code"]
    body = {"amount": amount} | ({"description": description} if description is not None else {})
    return code, control.ask("POST", f"/resellers/{path_part(code)}/deposits", body)


def reseller(control: Control, code: str | None = None) -> dict[str, Any]:
    """Return a reseller of the sandbox, by default the first, as the control API shows it. Raises `BadResult`."""
    found: list[dict[str, Any]] = [row for row in control.ask("GET", "")["resellers"] if code in (None, row["code"])]
    if not found:
        raise BadResult(f"the sandbox {control.sandbox} has no reseller{'' if code is None else f' {code!r}'}")
    return found[0]
