"""`reseller-sim story`: all that happened to a payment, in the order of time."""

from typing import Any

import click

from reseller_sim.story import Story
from simulator.cli import complete
from simulator.cli.control import Control, path_part
from simulator.cli.errors import Refused
from simulator.cli.flags import json_flag, own_option, running_flags, verb
from simulator.cli.output import echo, echo_value, one_line

TITLE = "reseller-sim story"
REFUSED_FROM = 400


@verb("story")
@click.argument("refid", shell_complete=complete.refids)
@own_option("--reseller", metavar="CODE", help="Whose payment, when several have one of this refid.")
@running_flags
@json_flag(help="Print the answer of the control API.")
def command(refid: str, reseller: str | None, json: bool, **running: Any) -> None:
    """Print all that happened to a payment.

    Requests, statuses, the wallet, callbacks with what the receiver answered, disputes and voids, in the order of time.
    A trxid does as well as a refid. Exit code 1 means that there is no such payment; when its request
    was refused, the line says why.

    \b
    Examples:
      reseller-sim story order-1
      reseller-sim story order-1 --sandbox mine
      reseller-sim story order-1 --json | jq '.statuses[].status'
    """
    control = Control(TITLE, **running)
    found = control.get(f"/transactions/{path_part(trxid_of(control, refid, reseller))}", "transaction-answer")
    if json:
        echo_value(found)
    else:
        echo("\n".join(map(one_line, Story(found).lines)))


def trxid_of(control: Control, refid: str, reseller: str | None = None) -> str:
    """The latest payment of this refid, or of this trxid. Raises `Refused`."""
    query = {"refid": refid, "limit": 1} | ({"reseller": reseller} if reseller is not None else {})
    found = control.get("/transactions", "transactions-answer", query=query)["transactions"]
    if found:
        return str(found[0]["trxid"])
    why = _refusal(control, refid)
    if why is not None:
        raise Refused(one_line(f"{control.verb}: no payment was made; {why}"))
    if refid.isascii() and refid.isdigit():
        return refid
    raise Refused(one_line(f"{control.verb}: the sandbox {control.sandbox} has no payment {refid!r}"))


def _refusal(control: Control, refid: str) -> str | None:
    """Which request with this refid was refused last, and why; None when none was."""
    query = {"refid": refid, "status_min": REFUSED_FROM, "limit": 1}
    for one in control.get("/requests", "journal-answer", query=query)["requests"]:
        why = one["diagnosis"] or one.get("error") or f"status {one['status']}"
        return f"request {one['n']} with this refid was refused: {why}"
    return None
