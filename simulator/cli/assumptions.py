"""`reseller-sim assumptions`: the register of what the specification leaves open."""

import json as json_module
from dataclasses import asdict
from difflib import get_close_matches
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from simulator.cli.flags import json_flag, verb
from simulator.cli.output import echo, echo_json

if TYPE_CHECKING:
    from simulator.contract.register import Assumption

WIDTH = 100


@verb("assumptions")
@click.argument("id", required=False)
@json_flag(help="Print JSON: a list, or with ID one object.")
def command(id: str | None, json: bool) -> None:
    """Print what the specification leaves open, and what we chose.

    Every assumption has an id, its section, our choice and, where there is one, the scenario key that changes it.
    With ID, one of them in full: the question and the reason too.

    \b
    Examples:
      reseller-sim assumptions
      reseller-sim assumptions failed-wallet
      reseller-sim assumptions --json | jq -r '.assumptions[].id'
    """
    from simulator.contract.register import assumptions

    register = assumptions()
    if id is None:
        listed = {"assumptions": [asdict(one) for one in register]}
        _print(listed, "\n\n".join(map(_short, register)), json)
        return
    found = next((one for one in register if one.id == id), None)
    if found is None:
        near = get_close_matches(id, [one.id for one in register], 1)
        hint = f"did you mean {near[0]}?" if near else "`reseller-sim assumptions` lists them"
        raise click.ClickException(f"reseller-sim assumptions: there is no assumption {id!r}; {hint}")
    _print(asdict(found), _whole(found), json)


def _print(fields: dict[str, Any], text: str, json: bool) -> None:
    if json:
        echo_json(json_module.dumps(fields))
    else:
        echo(text)


def _short(one: "Assumption") -> str:
    knob = f"; knob {one.knob}{_accepted(one)}" if one.knob else ""
    return f"{one.id} (SPEC {one.spec}{knob})\n{_paragraph(one.choice)}"


def _whole(one: "Assumption") -> str:
    knob = f"{one.knob}{_accepted(one)}" if one.knob else "none"
    parts = [("Question", one.question), ("Choice", one.choice), ("Why", one.why), ("Knob", knob)]
    return "\n\n".join([f"{one.id} (SPEC {one.spec})", *(f"{name}\n{_paragraph(text)}" for name, text in parts)])


def _accepted(one: "Assumption") -> str:
    return f": {' | '.join(one.spellings)}" if one.values else ""


def _paragraph(text: str) -> str:
    return fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
