"""`reseller-sim openapi` and `assumptions`: the contract, and what the specification leaves open."""

import json as json_module
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Any

import click
import yaml

from simulator.cli import completion
from simulator.cli.call import read_file
from simulator.cli.flags import json_flag, option
from simulator.cli.output import echo, echo_json, printable, printable_json
from simulator.cli.usage import CannotStart, Refused, verb, wrong_usage
from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled, postman_collection
from simulator.contract.register import Assumption, assumptions
from simulator.shortened import whole_line
from simulator.whole_files import write_whole

WIDTH = 100


@verb("openapi")
@option("--control", is_flag=True, help="The control API's contract instead of the reseller API's.")
@option("--proxy", is_flag=True, help="The contract of the proxy's control API instead.")
@json_flag(help="JSON instead of YAML.")
@option(
    "--as",
    type=click.Choice(["postman"]),
    help="Write signed and checked requests instead of the document: a Postman collection.",
)
@option("--to", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file.")
def openapi_command(control: bool, proxy: bool, json: bool, to: Path | None, **forms: str | None) -> None:
    """Print the contract as an OpenAPI 3.1 document.

    The simulator validates requests against this contract. All schemas are included, so generators, mock servers and
    contract tests can use the document unchanged. With --as, the output is a collection of requests that can be sent at
    once: every operation, the test credentials as variables, and a script that signs.

    \b
    Examples:
      reseller-sim openapi > openapi.yaml
      reseller-sim openapi --json | jq '.paths | keys'
      reseller-sim openapi --control
      reseller-sim openapi --proxy
      reseller-sim openapi --as postman > reseller.postman_collection.json
    """
    form = forms["as"]  # a keyword, so no parameter can be called so
    if form is not None and json:
        raise wrong_usage(f"--json is a form of the document; --as {form} has a form of its own")
    if proxy and (control or form):
        raise wrong_usage("--proxy prints a document of its own, without --control and --as")
    name = PROXY if proxy else CONTROL if control else OPENAPI
    text = _text(name, form, json)
    if to is None:
        click.echo(printable_json(text) if json else printable(text), nl=False)
        return
    try:
        write_whole(to, text.encode())
    except OSError as error:
        raise CannotStart(f"{str(to)!r} cannot be written: {error.strerror}") from None


def _text(name: str, form: str | None, json: bool) -> str:
    """Return the text of a file, with a line feed at its end."""
    if form == "postman":
        return postman_collection(name)
    if json:
        return json_module.dumps(bundled(name), ensure_ascii=False) + "\n"
    return _yaml(bundled(name))


def _yaml(document: dict[str, Any]) -> str:
    class Plain(yaml.SafeDumper):
        """Writes shared values out instead of as aliases, which are hard to read."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    return yaml.dump(document, Dumper=Plain, sort_keys=False, allow_unicode=True, width=120)


@verb("assumptions")
@click.argument("id", required=False, shell_complete=completion.assumptions)
@option(
    "--observed",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Mark the assumptions with the results of this report of `conform --json-report`.",
)
@json_flag(help="Print JSON: a list, or with ID one object.")
def assumptions_command(id: str | None, observed: Path | None, json: bool) -> None:
    """Print the open questions of the specification, and our choices.

    Every assumption has an id, its section, our choice and, where there is one, the scenario key that changes it.
    With ID, it prints a single assumption with its question and reason. With --observed, each assumption is marked:
    observed if `conform` saw a deployment do so, else assumed.

    \b
    Examples:
      reseller-sim assumptions
      reseller-sim assumptions failed-wallet
      reseller-sim assumptions --observed staging.json
      reseller-sim assumptions --json | jq -r '.assumptions[].id'
    """
    register = assumptions()
    seen = None if observed is None else _observed(observed)
    if id is None:
        fields: Any = {"assumptions": [_fields(one, seen) for one in register]}
        text = "\n\n".join(_short(one) + _mark(one, seen) for one in register)
    elif found := next((one for one in register if one.id == id), None):
        fields, text = _fields(found, seen), _whole(found) + _mark(found, seen)
    else:
        raise Refused(f"there is no assumption {id!r}; `reseller-sim assumptions` lists them")
    if json:
        echo_json(json_module.dumps(fields))
    else:
        echo(text)


Seen = dict[str, dict[str, Any]] | None
"""By assumptions: the `value` of a knob that reproduces the behaviour of the deployment `target`, with `evidence`."""


def _fields(one: Assumption, seen: Seen) -> dict[str, Any]:
    """Return an entry as JSON. With a report it has `observed`, which is null if the report says nothing about the
    entry."""
    return asdict(one) | ({} if seen is None else {"observed": seen.get(one.id)})


def _mark(one: Assumption, seen: Seen) -> str:
    """Return the line below an entry about the report's observation."""
    if seen is None:
        return ""
    if (found := seen.get(one.id)) is None:
        return "\n  assumed"
    value, is_same = found["value"], bool(one.values) and found["value"] == one.values[0]
    written = value if isinstance(value, str) else json_module.dumps(value)
    what = "as assumed" if is_same else f"set {one.knob}: {written}"
    return "\n" + whole_line(f"  observed at {found['target']}: {what} ({found['evidence']})")


def _short(one: Assumption) -> str:
    knob = f"; knob {one.knob}{_accepted(one)}" if one.knob else ""
    return f"{one.id} (SPEC {one.spec}{knob})\n{_paragraph(one.choice)}"


def _whole(one: Assumption) -> str:
    knob = f"{one.knob}{_accepted(one)}" if one.knob else "none"
    parts = [("Question", one.question), ("Choice", one.choice), ("Why", one.why), ("Knob", knob)]
    return "\n\n".join([f"{one.id} (SPEC {one.spec})", *(f"{name}\n{_paragraph(text)}" for name, text in parts)])


def _accepted(one: Assumption) -> str:
    return f": {' | '.join(one.spellings)}" if one.values else ""


def _paragraph(text: str) -> str:
    return fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _observed(path: Path) -> dict[str, dict[str, Any]]:
    """Return the observations of a report by the assumption's id. Raises `Refused` for any other file."""
    try:
        report = json_module.loads(read_file(str(path), "the report"))
        target, learned = report["target"], report["assume"]
        return {
            name: {"target": target, "value": one["value"], "evidence": one["evidence"]}
            for name, one in learned.items()
        }
    except click.UsageError as unreadable:
        raise Refused(unreadable.message) from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise Refused(f"{path} is not a report of `reseller-sim conform --json-report FILE`") from None
