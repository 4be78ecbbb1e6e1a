"""Prints a sandbox that was made: how to use it, as lines for a shell, or as the control API answers."""

from shlex import quote
from typing import Any

from simulator.cli.control import Control
from simulator.cli.flags import own_option
from simulator.cli.output import echo, echo_value, one_line
from simulator.cli.tables import clock_time, print_line
from simulator.options import CONTROL_PATH

export_flag = own_option(
    "--export", is_flag=True, help="Print lines for a shell to eval; then all verbs use this sandbox."
)


def show_made(control: Control, made: dict[str, Any], *, export: bool, json: bool) -> None:
    """Print the sandbox of an answer."""
    if export:
        echo("\n".join(f"export {name}={quote(one_line(value))}" for name, value in _variables(control, made).items()))
    elif json:
        echo_value(made)
    else:
        _print_made(made)


def _variables(control: Control, made: dict[str, Any]) -> dict[str, str]:
    """What programs and these verbs read, as `exec` sets it, for this sandbox."""
    first = made["resellers"][0] if made["resellers"] else {}
    named = {
        "RESELLER_BASE_URL": made["url"],
        "RESELLER_API_KEY": first.get("api_key"),
        "RESELLER_API_SECRET": first.get("api_secret"),
        "RESELLER_USERNAME": first.get("username"),
        "RESELLER_PASSWORD": first.get("password"),
        "RESELLER_SANDBOX": made["id"],
        "RESELLER_SIM_URL": control.base + CONTROL_PATH,
        "RESELLER_SIM_SANDBOX": made["id"],
        "RESELLER_SIM_KEY": first.get("api_key"),
        "RESELLER_SIM_SECRET": first.get("api_secret"),
    }
    return {name: value for name, value in named.items() if value is not None}


def _print_made(made: dict[str, Any]) -> None:
    clock = made["clock"]
    print_line(f"sandbox    {made['id']}, scenario {made['scenario']}, seed {made['seed']}")
    print_line(f"url        {made['url']}")
    print_line(f"clock      {clock['mode']}, {clock_time(clock['now'])}")
    for one in made["resellers"][:1]:
        print_line(f"reseller   {one['code']}, balance {one['balance']:.2f} MYR")
        print_line(f"API key    {one['api_key']}")
        print_line(f"secret     {one['api_secret']}")
    print_line("")
    print_line(f"reseller-sim call --sandbox {made['id']} GET /v2/balance")
    print_line(f"reseller-sim sandbox rm {made['id']}")
