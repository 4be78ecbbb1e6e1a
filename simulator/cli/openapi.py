"""`reseller-sim openapi`: the contract as one self-contained document, or as a Postman collection."""

import json as json_module
from pathlib import Path
from typing import Any

import click

from simulator.cli.flags import CannotStart, json_flag, option, verb
from simulator.cli.output import echo, echo_json
from simulator.whole_files import write_whole


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
def command(control: bool, proxy: bool, json: bool, to: Path | None, **forms: str | None) -> None:
    """Print the contract as one OpenAPI 3.1 document.

    The simulator validates requests against this contract. All schemas are included, so generators, mock servers and
    contract tests can use the document as it is. With --as it is written as requests that can be sent at once: every
    operation, the test credentials as variables, and a script that signs.

    \b
    Examples:
      reseller-sim openapi > openapi.yaml
      reseller-sim openapi --json | jq '.paths | keys'
      reseller-sim openapi --control
      reseller-sim openapi --proxy
      reseller-sim openapi --as postman > reseller.postman_collection.json
    """
    from simulator.contract.openapi import CONTROL, OPENAPI, PROXY

    form = forms["as"]  # a keyword, so no parameter can be called so
    if form is not None and json:
        text = f"--json is a form of the document; --as {form} has a form of its own"
        raise click.UsageError(text, click.get_current_context())
    if proxy and (control or form):
        raise click.UsageError(
            "--proxy prints a document of its own, without --control and --as", click.get_current_context()
        )
    name = PROXY if proxy else CONTROL if control else OPENAPI
    if to is not None:
        _write_file(to, _text(name, form, json))
    elif json:
        echo_json(_text(name, form, json).rstrip("\n"))
    else:
        echo(_text(name, form, json), nl=False)


def _text(name: str, form: str | None, json: bool) -> str:
    """What has one file, with a line feed at its end."""
    from simulator.contract.openapi import bundled

    if form == "postman":
        from simulator.cli.known import known
        from simulator.contract.postman import collection, plan

        return collection.render(plan.plan(name, known()))
    if json:
        return json_module.dumps(bundled(name), ensure_ascii=False) + "\n"
    return _yaml(bundled(name))


def _write_file(file: Path, text: str) -> None:
    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise _unwritable(error, file) from None


def _unwritable(error: OSError, path: Path) -> CannotStart:
    return CannotStart(f"reseller-sim openapi: {str(path)!r} cannot be written: {error.strerror}")


def _yaml(document: dict[str, Any]) -> str:
    import yaml

    class Plain(yaml.SafeDumper):
        """Writes out whatever is shared: an alias saves a line and costs every reader."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    return yaml.dump(document, Dumper=Plain, sort_keys=False, allow_unicode=True, width=120)
