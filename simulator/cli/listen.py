"""`reseller-sim listen`: passes the callbacks and webhooks of a running simulator on to an address of yours."""

import sys
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import click

from reseller_sim.exchange import Unanswered, exchange
from simulator.cli import values
from simulator.cli.flags import own_option, verb, watching_flags
from simulator.cli.output import is_coloured, one_line
from simulator.cli.spans import Span
from simulator.cli.stream import Event, Stream

TITLE = "reseller-sim listen"
CHOICES = {"callbacks": "callback", "webhooks": "webhook"}
OF_CONNECTIONS = frozenset({"host", "content-length", "connection", "transfer-encoding"})


@verb("listen")
@own_option(
    "--forward-to", "target", metavar="URL", required=True, callback=values.http_url, help="Where each message goes."
)
@watching_flags
@own_option("--only", type=click.Choice(list(CHOICES)), help="Only these.")
@own_option(
    "--timeout",
    metavar="DURATION",
    type=Span(0.1, 300),
    default="15s",
    show_default=True,
    help="How long one message may take until it is answered.",
)
def command(
    target: str, url: str | None, sandbox: str | None, control_token: str | None, only: str | None, timeout: float
) -> None:
    """Pass callbacks and webhooks on to an address of yours.

    They are those of a running simulator, and what your address answers is printed. Each attempt is sent again, in
    order, with the same method, query, headers and body, to the path of --forward-to, or to its own path when that has
    none. What it answers changes nothing in the simulator, where the receiver of the
    scenario, such as the built-in inbox, has answered already. It ends with Ctrl-C (exit code 130), with the sandbox
    (0), or when the simulator is gone (3).

    \b
    Examples:
      reseller-sim listen --forward-to http://localhost:3000/callbacks
      reseller-sim listen --forward-to http://localhost:3000/hooks --only webhooks
    """
    from simulator.cli.lines import Lines

    wanted = CHOICES[only] if only else ",".join(CHOICES.values())
    lines = Lines(coloured=is_coloured(sys.stdout))
    stream = Stream(TITLE, url, control_token, sandbox, {"only": wanted, "with": "bodies"})
    for event in stream.events(f"{TITLE}: passing on to {one_line(target)}"):
        click.echo(lines.line(event))
        if sent := event.get("sent"):
            click.echo(f"  -> {_forwarded(target, sent, timeout)}")
        elif "sent" in event:
            click.echo("  -> not passed on: the simulator has evicted what was sent")


def target_of(target: str, sent_url: str) -> str:
    """The path and query to send to: those of the URL that was called, unless the target has a path of its own."""
    base, sent = urlsplit(target), urlsplit(sent_url)
    called = sent.path if sent.scheme in ("http", "https") else ""
    path = base.path if base.path.strip("/") else called
    query = "&".join(filter(None, (base.query, sent.query)))
    return (path or "/") + (f"?{query}" if query else "")


def _forwarded(target: str, sent: Event, timeout_s: float) -> str:
    """Send a message to the target; answers a sentence on what came back."""
    parts = urlsplit(target)
    try:
        path = target_of(target, sent["url"])
    except ValueError as error:
        return one_line(f"not passed on: the URL that was called cannot be read ({error})")
    began, body = monotonic(), sent["body"].encode() or None
    address = f"{parts.scheme}://{parts.netloc}"
    try:
        said = str(exchange(sent["method"], address + path, body, _headers(sent), timeout_s).status)
    except Unanswered as error:
        said = f"no answer ({error})"
    return one_line(f"{sent['method']} {address}{path} {said} in {_ms(began)} ms")


def _headers(sent: Event) -> dict[str, Any]:
    """The headers of a message, but for those of its connection, which is for this message alone."""
    headers = {name: value for name, value in sent["headers"] if name.lower() not in OF_CONNECTIONS}
    return headers | {"Connection": "close"}


def _ms(began: float) -> int:
    return round((monotonic() - began) * 1000)
