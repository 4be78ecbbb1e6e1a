"""`reseller-sim rule`, `hold`, `network` and `product`: how a running sandbox treats requests."""

import json as json_
from collections.abc import Mapping
from typing import Any

import click

from simulator.cli import completion, values
from simulator.cli.call import read_file, read_stdin
from simulator.cli.control import Control, path_part
from simulator.cli.flags import asking_flags, control_flags, own_option
from simulator.cli.output import Columns, clock_time, echo_value, print_line, print_rows, print_to_stderr, show
from simulator.cli.usage import BadResult, read_yaml, verb, verb_group, wrong_usage
from simulator.cli.values import Integer
from simulator.short_text import whole_line

SECTIONS = ("payments", "voids", "disputes", "bills", "faults")
BY_FLAGS = ("payments", "faults")
RULE_COLUMNS: Columns = {
    "section": "section",
    "id": "id",
    "fallback": lambda rule: "yes" if rule["fallback"] else "",
    "matched": "matched",
    "chosen": "chosen",
    "name": lambda rule: rule["name"] or "",
}
ONE_WAY = "write the rule as text, or give it with --file, or by flags such as --account and --status"
HOLD_COLUMNS: Columns = {
    "hold": "name",
    "kind": "kind",
    "what": "what",
    "refid": "refid",
    "since": lambda held: clock_time(held["since"]),
    "waited": lambda held: f"{held['waited']:.1f} s",
}


@verb_group("rule", "add payments --account 0123456789 --status Failed", "list")
def rule_command() -> None:
    """Rules decide the outcome of payments, voids, disputes and bills, and faults break answers. An added rule comes
    before all others of its section, until it is removed.
    """


@rule_command.word(
    "add",
    "payments '{when: {account: {suffix: \"48\"}}, then: [{status: Failed, statusCode: 48}]}'",
    "faults --path /v2/topup --times 1 --after-commit --disconnect",
)
@click.argument("section", type=click.Choice(SECTIONS))
@click.argument("text", metavar="[RULE]", required=False)
@own_option("--file", "-f", metavar="FILE|-", type=click.Path(), help="A file with the rule, or stdin.")
@own_option("--name", metavar="NAME", help="Its name, for the journal and X-Sim-Rule.")
@own_option("--product", metavar="CODE", help="Only for this product.")
@own_option("--account", metavar="NUMBER", help="Only for this account.")
@own_option("--path", metavar="PATH", help="For a fault: only requests to this path.")
@own_option("--times", type=Integer(1), help="Only for the first N matching requests.")
@own_option("--status", metavar="STATUS", help="The status of the payment, or the HTTP status of a fault.")
@own_option("--after", metavar="DURATION", help="The delay of the status, after Processing; or of a fault.")
@own_option("--disconnect", is_flag=True, help="A fault that closes the connection.")
@own_option("--after-commit", is_flag=True, help="A fault that strikes after the payment is made.")
@asking_flags
def add_rule(control: Control, section: str, text: str | None, file: str | None, json: bool, **flags: Any) -> None:
    """Add a rule, and print its id.

    RULE is YAML or JSON, as an item of this section in a scenario file. For payments and faults flags do, too.
    """
    given = {name: value for name, value in flags.items() if value not in (None, False)}
    answer = control.ask("POST", "/rules", {"section": section, "rule": _rule(section, text, file, given)})
    for text in answer.get("warnings", ()):
        print_to_stderr(whole_line(text))
    show(answer, f"{answer['id']} is now the first rule of {section}", json=json)


@rule_command.word("list", "", "--json | jq '.rules[] | select(.chosen == 0)'")
@asking_flags
def list_rules(control: Control, json: bool) -> None:
    """List the rules in evaluation order: how many requests each matched, and how many it decided (`chosen`)."""
    print_rows({"rules": list(control.rows("/rules", "rules"))}, "rules", RULE_COLUMNS, json=json)


@rule_command.word("rm", "added-1", "added-1 added-2")
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=completion.rules)
@control_flags
def remove_rules(control: Control, ids: tuple[str, ...]) -> None:
    """Remove rules. Payments that they decided continue."""
    for id_ in ids:
        control.ask("DELETE", f"/rules/{path_part(id_)}")


def _rule(section: str, text: str | None, file: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """Return the rule of the text, of the file or of the flags."""
    if sum((text is not None, file is not None, bool(given))) != 1:
        raise wrong_usage(ONE_WAY)
    if given:
        return _of_flags(section, given)
    content = text or "" if file is None else read_stdin() if file == "-" else read_file(file, "the rule")
    data = read_yaml(content, file or "rule")
    if not isinstance(data, dict):
        raise BadResult("a rule is a mapping such as {when: {}, then: [{status: Failed}]}")
    return data


def _of_flags(section: str, given: dict[str, Any]) -> dict[str, Any]:
    if section not in BY_FLAGS:
        raise wrong_usage(f"flags make rules of {' and '.join(BY_FLAGS)}; write one of {section} as text")
    when = {name: given[name] for name in ("product", "account", "path") if name in given}
    rule = {name: given[name] for name in ("name", "times") if name in given} | {"when": when}
    status, after = given.get("status"), given.get("after")
    then: dict[str, Any] = {name: True for name in ("disconnect", "after_commit") if name in given}
    if section == "faults":
        then |= {} if status is None else {"status": int(status) if status.isdecimal() else status}
        return rule | {"then": then | ({"delay": after} if after else {})}
    if then:
        raise wrong_usage(f"--{next(iter(then)).replace('_', '-')} is for faults")
    if status is None:
        raise wrong_usage("--status is missing: which status does the payment get?")
    last = {"status": status} | ({"after": after} if after else {})
    return rule | {"then": [{"status": "Processing"}, last] if after else [last]}


def _hold_name(name: str) -> str:
    from simulator.contract.validator import validator

    for text in validator("holds-query").problems({"name": name}).get("name", ()):
        raise ValueError(f"{values.shown(name)} {text}")
    return name


@verb_group("hold", "list", "release topup")
def hold_command() -> None:
    """A rule holds with `then: {hold: NAME}`, `callbacks: {hold: NAME}` or `webhooks: {hold: NAME}`."""


@hold_command.word("list", "", "--json | jq -r '.holds[].name'")
@asking_flags
def list_holds(control: Control, json: bool) -> None:
    """List held answers and deliveries, the oldest first."""
    print_rows(control.ask("GET", "/holds"), "holds", HOLD_COLUMNS, json=json)


@hold_command.word("release", "topup", "topup --count 1")
@click.argument("name", callback=values.parsed(_hold_name), shell_complete=completion.holds)
@own_option("--count", type=Integer(1, 100), help="Release the first N; all without it.")
@asking_flags
def release(control: Control, name: str, count: int | None, json: bool) -> None:
    """Release the answers and messages that are held under NAME."""
    body = {} if count is None else {"count": count}
    answer = control.ask("POST", f"/holds/{path_part(name)}/release", body)
    text = f"{name}: {answer['released']} released, {answer['held']} held"
    if not (answer["released"] or answer["held"]):
        text += "; `reseller-sim hold list` lists what is held"
    show(answer, text, json=json)


WORDS = {
    "on": {"is_active": True},
    "off": {"is_active": False},
    "default": {"is_active": None, "price_adjustment": None},
}
STATUSES = {"on": "Healthy", "off": "Interruption"}


@verb("product", "RELOAD off", "RELOAD '{price_adjustment: {type: percentage, value: 2}}' --reseller RS001")
@click.argument("code", shell_complete=completion.products)
@click.argument("changes", metavar="on|off|default|CHANGES", shell_complete=completion.product_changes)
@own_option("--reseller", metavar="CODE", help="Only for this reseller: on, off, default or its price_adjustment.")
@asking_flags
def product_command(control: Control, code: str, changes: str, reseller: str | None, json: bool) -> None:
    """CHANGES is YAML or JSON, as in a scenario's schedule: price_adjustment, discount, name, note and options. Changes
    are published to the catalog's webhook. A reseller keeps its own values; `default --reseller CODE` removes them.
    """
    if changes == "default" and reseller is None:
        raise wrong_usage("default removes the setting of a single reseller: add --reseller CODE")
    wanted = WORDS.get(changes) or read_yaml(changes, "changes")
    if not isinstance(wanted, dict) or not wanted:
        raise wrong_usage(f"{changes!r} is neither on nor off, nor changes such as {{note: new}}")
    answer = control.ask("PATCH", f"/catalog/products/{path_part(code)}", wanted, query={"reseller": reseller})
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
    changed += [f"option {code} changed" for code in answer["options"]]
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
    """Return a value in JSON: a text has its quotes, so that an empty text is seen."""
    return json_.dumps(value, ensure_ascii=False)


@verb("network", "", "RELOAD off")
@click.argument("product", metavar="[CODE]", required=False, shell_complete=completion.products)
@click.argument("state", required=False, type=click.Choice(tuple(STATUSES)))
@asking_flags
def network_command(control: Control, product: str | None, state: str | None, json: bool) -> None:
    """Without a state it only shows the network of CODE, or the interrupted networks. `off` is Interruption, `on` is
    Healthy; the scenario's plan for this product ends.
    """
    if state is not None:
        rows = [control.ask("PUT", f"/network/{path_part(product or '')}", {"status": STATUSES[state]})]
    else:
        rows = [{"product": one["code"], "status": one["network"]} for one in control.rows("/catalog", "products")]
    found = next((row for row in rows if row["product"] == product), None)
    if found is not None:
        show(found, f"{product}: {found['status']}", json=json)
    elif product is not None:
        raise BadResult(f"this sandbox has no product {product!r}")
    elif json:
        echo_value({"products": rows})
    else:
        broken = [one for one in rows if one["status"] != STATUSES["on"]]
        for one in broken:
            print_line(f"{one['product']}: {one['status']}")
        rest = len(rows) - len(broken)
        print_line(f"{rest} {'product' if rest == 1 else 'products'}: {STATUSES['on']}")
