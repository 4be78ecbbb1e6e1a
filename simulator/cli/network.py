"""`reseller-sim network`: interrupts the network of a product, and restores it."""

from typing import Any

import click

from simulator.cli import complete
from simulator.cli.control import Control, path_part
from simulator.cli.flags import json_flag, running_flags, verb
from simulator.cli.output import echo_value
from simulator.cli.tables import print_line, wants_json

STATUSES = {"on": "Healthy", "off": "Interruption"}


@verb("network")
@click.argument("product", metavar="CODE", shell_complete=complete.products)
@click.argument("state", type=click.Choice(tuple(STATUSES)))
@running_flags
@json_flag(help="Print the answer of the control API, as in a pipe.")
def command(product: str, state: str, json: bool, **running: Any) -> None:
    """Interrupt or restore a product's network.

    `off` is Interruption, `on` is Healthy, from now on: the scenario's plan for this product ends. Exit code 1 means
    that there is no such product.

    \b
    Examples:
      reseller-sim network RELOAD off
      reseller-sim network RELOAD on
    """
    control = Control("reseller-sim network", **running)
    answer = control.put(f"/network/{path_part(product)}", {"status": STATUSES[state]}, "network-answer")
    if wants_json(json):
        echo_value(answer)
    else:
        print_line(f"{answer['product']}: {answer['status']}")
