"""`reseller-sim product` and `network`: the products of a running sandbox, and whether their networks answer."""

import json as json_
from collections.abc import Mapping
from typing import Any

import click

from simulator.cli import completion
from simulator.cli.control import Control, path_part
from simulator.cli.flags import asking_flags, own_option
from simulator.cli.output import echo_value, print_line, show
from simulator.cli.usage import Refused, read_yaml, verb, wrong_usage

WORDS = {
    "on": {"is_active": True},
    "off": {"is_active": False},
    "default": {"is_active": None, "price_adjustment": None},
}
STATUSES = {"on": "Healthy", "off": "Interruption"}


@verb("product")
@click.argument("code", shell_complete=completion.products)
@click.argument("changes", metavar="on|off|default|CHANGES", shell_complete=completion.product_changes)
@own_option("--reseller", metavar="CODE", help="Only for this reseller: on, off, default or its price_adjustment.")
@asking_flags
def product_command(control: Control, code: str, changes: str, reseller: str | None, json: bool) -> None:
    """Take a product on or off sale, or change it.

    CHANGES is YAML or JSON, as in a scenario's schedule: price_adjustment, discount, name, note and options.
    Changes are published to the catalog's webhook. A reseller's own values do not change with the others', and the
    output lists them; `default --reseller CODE` removes them. Exit code 1 means that there is no such product or
    reseller, or that the change is refused.

    \b
    Examples:
      reseller-sim product RELOAD off
      reseller-sim product RELOAD on --reseller RS001
      reseller-sim product RELOAD default --reseller RS001
      reseller-sim product RELOAD '{price_adjustment: {type: percentage, value: 2}}'
    """
    if changes == "default" and reseller is None:
        raise wrong_usage("default removes the setting of a single reseller: add --reseller CODE")
    wanted = WORDS.get(changes) or read_yaml(changes, "changes")
    if not isinstance(wanted, dict) or not wanted:
        raise wrong_usage(f"{changes!r} is neither on nor off, nor changes such as {{note: new}}")
    answer = control.patch(f"/catalog/products/{path_part(code)}", wanted, {"reseller": reseller})
    if json:
        echo_value(answer)
        return
    print_line(f"{code}: {_said(answer, reseller)}")


def _said(answer: Mapping[str, Any], reseller: str | None) -> str:
    """Describe the changes of a product, the reseller they apply to, and the values that stay as they were."""
    changed = []
    for name in answer["changed"]:
        before, after = (_shown(answer["values"][name][side]) for side in ("before", "after"))
        changed.append(f"{name} {before} -> {after}" if before != after else f"{name} changed")
    changed += [f"option {one} changed" for one in answer["options"]]
    whom = f" for {reseller}" if reseller is not None else ""
    parts = [(", ".join(changed) or "nothing is different") + whom]
    if own := {name: value for name, value in (answer["overlay"] or {}).items() if value is not None}:
        parts.append(f"its own: {', '.join(f'{name} {_shown(value)}' for name, value in own.items())}")
    elif reseller is not None:
        parts.append("it has what all resellers have")
    if answer["kept"]:
        parts.append(f"{', '.join(answer['kept'])} {'keeps its' if len(answer['kept']) == 1 else 'keep their'} own")
    return "; ".join(parts)


def _shown(value: Any) -> str:
    """Return a value in JSON: a text has its quotes, so that an empty one is seen."""
    return json_.dumps(value, ensure_ascii=False)


@verb("network")
@click.argument("product", metavar="[CODE]", required=False, shell_complete=completion.products)
@click.argument("state", required=False, type=click.Choice(tuple(STATUSES)))
@asking_flags
def network_command(control: Control, product: str | None, state: str | None, json: bool) -> None:
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
    if product is not None and state is not None:
        answer = control.put(f"/network/{path_part(product)}", {"status": STATUSES[state]})
        show(answer, f"{answer['product']}: {answer['status']}", json=json)
        return
    listed = [{"product": one["code"], "status": one["network"]} for one in control.rows("/catalog", "products")]
    if product is not None:
        found = next((one for one in listed if one["product"] == product), None)
        if found is None:
            raise Refused(f"this sandbox has no product {product!r}")
        show(found, f"{found['product']}: {found['status']}", json=json)
    elif json:
        echo_value({"products": listed})
    else:
        broken = [one for one in listed if one["status"] != STATUSES["on"]]
        for one in broken:
            print_line(f"{one['product']}: {one['status']}")
        rest = len(listed) - len(broken)
        print_line(f"{rest} {'product' if rest == 1 else 'products'}: {STATUSES['on']}")
