"""`reseller-sim tail`: prints what happens in a running simulator, as it happens."""

import json as json_module
import sys

import click

from simulator.cli import values
from simulator.cli.flags import json_flag, own_option, verb, watching_flags
from simulator.cli.output import is_coloured, printable_json
from simulator.cli.stream import Stream

TITLE = "reseller-sim tail"


@verb("tail")
@watching_flags
@own_option("--refid", metavar="REFID", help="Only what is about this payment.")
@own_option(
    "--only",
    metavar="KINDS",
    callback=values.event_kinds,
    help="Only these kinds of events, with commas: request, status, entry, callback, webhook, notification, action.",
)
@own_option("--history", is_flag=True, help="Begin with what the simulator still has.")
@json_flag(help="Print each event as the control API has it, one on a line.")
def command(
    url: str | None,
    sandbox: str | None,
    control_token: str | None,
    refid: str | None,
    only: str,
    history: bool,
    json: bool,
) -> None:
    """Print what happens in a running simulator, as it happens.

    The lines are those that `serve` prints, and those of wallets, e-mails and what is done to sandboxes. It ends with
    Ctrl-C (exit code 130), with the sandbox (0), or when the simulator is gone (3).

    \b
    Examples:
      reseller-sim tail
      reseller-sim tail --sandbox mine --only callbacks,webhooks
      reseller-sim tail --refid order-17 --history
      reseller-sim tail --json | jq 'select(.kind == "request" and .status >= 400)'
    """
    from simulator.cli.lines import Lines

    query = {name: value for name, value in (("refid", refid), ("only", only), ("after", "0" * history)) if value}
    lines = Lines(coloured=is_coloured(sys.stdout))
    for event in Stream(TITLE, url, control_token, sandbox, query).events():
        click.echo(printable_json(json_module.dumps(event, ensure_ascii=False)) if json else lines.line(event))
