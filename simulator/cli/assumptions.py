"""`reseller-sim assumptions`: the register of what the specification leaves open."""

import json as json_module
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from simulator.cli import complete
from simulator.cli.flags import json_flag, option, verb
from simulator.cli.observed import Observed, read_observed
from simulator.cli.output import echo, echo_json, one_line
from simulator.domain.model.likeness import nearest

if TYPE_CHECKING:
    from simulator.contract.register import Assumption

WIDTH = 100


@verb("assumptions")
@click.argument("id", required=False, shell_complete=complete.assumptions)
@option(
    "--observed",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A report of `conform --json-report`: say which of them a deployment showed, and what it does.",
)
@json_flag(help="Print JSON: a list, or with ID one object.")
def command(id: str | None, observed: Path | None, json: bool) -> None:
    """Print what the specification leaves open, and what we chose.

    Every assumption has an id, its section, our choice and, where there is one, the scenario key that changes it.
    With ID, one of them in full: the question and the reason too. With --observed each is marked: what `conform` saw a
    deployment do is observed, the others stay assumed.

    \b
    Examples:
      reseller-sim assumptions
      reseller-sim assumptions failed-wallet
      reseller-sim assumptions --observed staging.json
      reseller-sim assumptions --json | jq -r '.assumptions[].id'
    """
    from simulator.contract.register import assumptions

    register = assumptions()
    seen = None if observed is None else read_observed(observed)
    if id is None:
        listed = {"assumptions": [_fields(one, seen) for one in register]}
        _print(listed, "\n\n".join(_short(one) + _mark(one, seen) for one in register), json)
        return
    found = next((one for one in register if one.id == id), None)
    if found is None:
        near = nearest(id, [one.id for one in register])
        hint = f"did you mean {near}?" if near else "`reseller-sim assumptions` lists them"
        raise click.ClickException(f"reseller-sim assumptions: there is no assumption {id!r}; {hint}")
    _print(_fields(found, seen), _whole(found) + _mark(found, seen), json)


Seen = dict[str, Observed] | None


def _fields(one: "Assumption", seen: Seen) -> dict[str, Any]:
    """An entry as JSON; `observed` is there when a report was given, null for what it did not show."""
    return asdict(one) | ({} if seen is None else {"observed": asdict(seen[one.id]) if one.id in seen else None})


def _mark(one: "Assumption", seen: Seen) -> str:
    """What a report says about an entry, below it."""
    if seen is None:
        return ""
    if (found := seen.get(one.id)) is None:
        return "\n  assumed"
    same = bool(one.values) and found.value == one.values[0]
    what = "as assumed" if same else f"set {one.knob}: {_value(found.value)}"
    return "\n" + one_line(f"  observed at {found.target}: {what} ({found.evidence})")


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json_module.dumps(value)


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
