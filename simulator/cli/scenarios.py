"""`reseller-sim scenarios`: the scenarios that are bundled."""

import json as json_module

import click

from simulator.cli.flags import json_flag, verb


@verb("scenarios")
@click.argument("action", metavar="[show NAME]", nargs=-1)
@json_flag(help="Print JSON: the list, or with show the scenario as POST /_sim/sandboxes takes it.")
@click.pass_context
def command(ctx: click.Context, /, action: tuple[str, ...], json: bool) -> None:
    """List the bundled scenarios, or print one.

    What `show` prints is a file to begin your own from; `extends: NAME` in a file of yours takes over all of one.

    \b
    Examples:
      reseller-sim scenarios
      reseller-sim scenarios show default > mine.yaml
    """
    if not action:
        _list(json)
    elif action[0] == "show" and len(action) == 2:
        _show(action[1], json)
    else:
        raise click.UsageError("write `scenarios` for the list, `scenarios show NAME` for one", ctx)


def _list(json: bool) -> None:
    from simulator.scenario.library import descriptions

    found = descriptions()
    if json:
        listed = [{"name": name, "description": description} for name, description in found.items()]
        click.echo(json_module.dumps({"scenarios": listed}))
        return
    width = max(map(len, found), default=0)
    for name, description in found.items():
        click.echo(f"{name:<{width}}  {description}")


def _show(name: str, json: bool) -> None:
    from simulator.scenario.library import text
    from simulator.scenario.load import ScenarioError, load_text

    try:
        written = text(name)
    except ScenarioError as error:
        raise click.ClickException(f"reseller-sim scenarios: {error.problems[0].message}") from None
    if json:
        from simulator.wire.json import encode

        written = encode(load_text(written, name).data).decode() + "\n"
    click.echo(written, nl=False)
