"""`reseller-sim network`: shows the networks of products, interrupts that of one, and restores it."""

from collections.abc import Iterable, Iterator
from typing import Any

import click

from simulator.cli import complete
from simulator.cli.control import Control, path_part
from simulator.cli.errors import Refused
from simulator.cli.flags import json_flag, running_flags, verb
from simulator.cli.output import echo_value, one_line
from simulator.cli.tables import print_line
from simulator.domain.model.likeness import nearest

TITLE = "reseller-sim network"
STATUSES = {"on": "Healthy", "off": "Interruption"}


@verb("network")
@click.argument("product", metavar="[CODE]", required=False, shell_complete=complete.products)
@click.argument("state", required=False, type=click.Choice(tuple(STATUSES)))
@running_flags
@json_flag(help="Print the answer of the control API.")
def command(product: str | None, state: str | None, json: bool, **running: Any) -> None:
    """Show, interrupt or restore a product's network.

    Without a state it only shows: the network of CODE, or which ones are interrupted.
    `off` is Interruption, `on` is Healthy, from now on: the scenario's plan for this product ends. Exit code 1 means
    that there is no such product.

    \b
    Examples:
      reseller-sim network
      reseller-sim network RELOAD
      reseller-sim network RELOAD off
      reseller-sim network RELOAD on
    """
    control = Control(TITLE, **running)
    if product is None:
        _show_all(_statuses(control), json)
        return
    if state is None:
        answer = _status_of(control, product)
    else:
        answer = control.put(f"/network/{path_part(product)}", {"status": STATUSES[state]}, "network-answer")
    if json:
        echo_value(answer)
    else:
        print_line(f"{answer['product']}: {answer['status']}")


def _statuses(control: Control) -> Iterator[dict[str, str]]:
    for one in control.rows("/catalog", "products", "sandbox-catalog-answer"):
        yield {"product": one["code"], "status": one["network"]}


def _status_of(control: Control, product: str) -> dict[str, str]:
    codes: list[str] = []
    for one in _statuses(control):
        if one["product"] == product:
            return one
        codes.append(one["product"])
    near = nearest(product, codes)
    hint = f"; did you mean {near!r}?" if near else ""
    raise Refused(one_line(f"{TITLE}: this sandbox has no product {product!r}{hint}"))


def _show_all(found: Iterable[dict[str, str]], json: bool) -> None:
    listed = list(found)
    if json:
        echo_value({"products": listed})
        return
    broken = [one for one in listed if one["status"] != STATUSES["on"]]
    for one in broken:
        print_line(f"{one['product']}: {one['status']}")
    rest = len(listed) - len(broken)
    print_line(f"{rest} {'product' if rest == 1 else 'products'}: {STATUSES['on']}")
