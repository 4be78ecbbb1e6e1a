"""`reseller-sim tail` and `listen`: the events of a running simulator as lines, as they happen."""

import json as json_module
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import click

from reseller_sim.exchange import TlsFailed, Trust, Unanswered, exchange
from reseller_sim.formats import is_url, shown_time
from simulator.cli.control import Event, Stream
from simulator.cli.flags import json_flag, own_option, watching_flags
from simulator.cli.output import is_coloured, printable_json
from simulator.cli.usage import verb, with_title, wrong_usage
from simulator.cli.values import Span
from simulator.short_text import shortened, whole_line

_PLURALS = {"status": "statuses", "entry": "entries"}
CHOICES = {"callbacks": "callback", "webhooks": "webhook"}
OF_CONNECTIONS = frozenset({"host", "content-length", "connection", "transfer-encoding"})
WHY_MISSING: Final = "of any kind and refid, they came faster than they were read, or were deleted"
FIELD_CHARS_MAX: Final = 300
_KIND_CHARS: Final = 7
_LABELS: Final = {"entry": "wallet", "notification": "e-mail", "action": "sandbox"}


def _http_url(text: str) -> str:
    """Return a URL with a host, of http or https."""
    if not is_url(text.partition("?")[0]):
        raise ValueError(f"{text!r} is not an http or https URL such as http://localhost:3000")
    return text


def _event_kinds(text: str) -> str:
    """Kinds of events with commas between them, each in the singular or the plural; empty for all."""
    kinds = [_KINDS.get(part.strip().lower()) for part in text.split(",")]
    if None in kinds:
        raise ValueError(f"{text!r} is not a list of {', '.join(dict.fromkeys(_KINDS.values()))}")
    return ",".join(filter(None, kinds))


_KINDS = {
    spelling: kind
    for kind in ("request", "status", "entry", "callback", "webhook", "notification", "action")
    for spelling in (kind, _PLURALS.get(kind, kind + "s"))
}


@verb(
    "tail", "--sandbox mine --only callbacks,webhooks", "--json | jq 'select(.kind == \"request\" and .status >= 400)'"
)
@watching_flags
@own_option("--refid", metavar="REFID", help="Only events of this payment.")
@own_option(
    "--only",
    metavar="KINDS",
    parse=_event_kinds,
    help="Only these kinds of events, with commas: request, status, entry, callback, webhook, notification, action.",
)
@own_option("--history", is_flag=True, help="Begin with the stored events.")
@json_flag(help="Print each event of the control API as a line of JSON.")
def tail_command(refid: str | None, only: str | None, history: bool, json: bool, **running: Any) -> None:
    """Print the lines of `serve`, and lines about wallets, e-mails and changes of sandboxes. Ends with Ctrl-C (exit
    code 130), when the sandbox is deleted (0), or when the simulator is gone (3).
    """

    query = {name: value for name, value in (("refid", refid), ("only", only), ("after", "0" * history)) if value}
    lines = EventLines(coloured=is_coloured(sys.stdout))
    for event in Stream(query, **running).events():
        click.echo(printable_json(json_module.dumps(event, ensure_ascii=False)) if json else lines.line(event))


@verb(
    "listen", "--forward-to http://localhost:3000/callbacks", "--forward-to https://localhost:3000 --ca localhost.pem"
)
@own_option("--forward-to", "target", metavar="URL", required=True, parse=_http_url, help="The receiver.")
@watching_flags
@own_option("--only", type=click.Choice(list(CHOICES)), help="Forward only these messages.")
@own_option("--timeout", type=Span(0.1, 300), default="15s", help="The timeout of each message.")
@own_option(
    "--ca",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The certificate of your https address, or its authority's, in PEM.",
)
@own_option("--insecure", is_flag=True, help="Accept any certificate of your https address.")
def listen_command(
    target: str, only: str | None, timeout: float, ca: Path | None, insecure: bool, **running: Any
) -> None:
    """Forward each attempt with the same method, query, headers and body to the path of --forward-to, or to its own
    path, and print your answer. The simulator is not changed: the scenario's receiver has already answered. Ends with
    Ctrl-C (exit code 130), when the sandbox is deleted (0), or when the simulator is gone (3).
    """
    advice = "; name its file, or its authority's, with --ca, or accept any certificate with --insecure"
    trust = Trust(str(ca or ""), advice, is_insecure=insecure)
    try:
        _ = trust.context  # reads the file
    except TlsFailed as error:
        raise wrong_usage(f"--ca: {error}") from None
    wanted = CHOICES[only] if only else ",".join(CHOICES.values())
    lines = EventLines(coloured=is_coloured(sys.stdout))
    stream = Stream({"only": wanted, "with": "bodies"}, **running)
    for event in stream.events(with_title(f"forwarding to {target}")):
        click.echo(lines.line(event))
        if sent := event.get("sent"):
            click.echo(f"  -> {_forwarded(target, sent, timeout, trust)}")
        elif "sent" in event:
            click.echo("  -> not forwarded: the simulator has evicted the message")


def target_of(target: str, sent_url: str) -> str:
    """Return the path and query of the forwarded message. They come from the URL that was called, unless the target has
    a path."""
    base, sent = urlsplit(target), urlsplit(sent_url)
    called = sent.path if sent.scheme in ("http", "https") else ""
    path = base.path if base.path.strip("/") else called
    query = "&".join(filter(None, (base.query, sent.query)))
    return (path or "/") + (f"?{query}" if query else "")


def _forwarded(target: str, sent: Event, timeout_s: float, trust: Trust | None = None) -> str:
    """Send a message to the target. Return a sentence about the response."""
    parts = urlsplit(target)
    try:
        path = target_of(target, sent["url"])
    except ValueError as error:
        return whole_line(f"not forwarded: the URL that was called cannot be read ({error})")
    began, body = monotonic(), sent["body"].encode() or None
    address = f"{parts.scheme}://{parts.netloc}"
    try:
        # without the headers of the connection, which do not apply to the new connection
        headers = {name: value for name, value in sent["headers"] if name.lower() not in OF_CONNECTIONS}
        headers["Connection"] = "close"
        said = str(exchange(sent["method"], address + path, body, headers, timeout_s, trust).status)
    except Unanswered as error:
        said = f"no answer ({error})"
    return whole_line(f"{sent['method']} {address}{path} {said} in {(monotonic() - began) * 1000:.0f} ms")


class EventLines:
    """Formats each event as a line, with or without colours."""

    def __init__(self, *, coloured: bool) -> None:
        self._coloured = coloured

    def line(self, event: Event) -> str:
        """Return the line of an event, without a line end. Events of unknown kinds have a line as well."""
        kind = event["kind"]
        if kind == "gap":
            count = "an unknown number of" if event.get("missing") is None else event["missing"]
            return self._styled(whole_line(f"... {count} events are missing here: {WHY_MISSING}"), "yellow")
        when = self._styled(whole_line(_time(event.get("at"))), "bright_black")
        parts = [] if kind == "request" else [(_LABELS.get(kind, str(kind)).ljust(_KIND_CHARS), "")]
        try:
            parts += _TEXTS[kind](event) if kind in _TEXTS else []
        except (AttributeError, KeyError, TypeError, ValueError):  # of another version
            parts = [(str(kind), "")]
        texts = [self._styled(whole_line(text), colour) for text, colour in parts if text]
        return " ".join([when, self._styled(whole_line(event.get("sandbox", "")), "cyan"), *texts])

    def _styled(self, text: str, colour: str) -> str:
        text = shortened(text, FIELD_CHARS_MAX, "…")
        return click.style(text, fg=colour) if self._coloured and colour else text


Texts = list[tuple[str, str]]
"""The parts of a line with their colours. Empty parts are left out."""


def _time(at: object) -> str:
    """Return the time of day with its offset; empty for none."""
    return shown_time(str(at))[11:] if at else ""


def _request(event: Event) -> Texts:
    status = event["status"]
    colour = "green" if status < 400 else "red" if status >= 500 else "yellow"
    target = event["path"] + (f"?{event['query']}" if event["query"] else "")
    return [
        (event["method"], ""),
        (target, ""),
        (str(status) if status else "no answer", colour if status else "red"),
        (f"#{event['n']}", "bright_black"),
        (event["refid"], ""),
        (_named("rule", event["rule"]), "magenta"),
        (_named("fault", event["fault"]), "magenta"),
        (f"{event['duration_us'] / 1000:.1f} ms", "bright_black"),
        (event["diagnosis"], "yellow"),
    ]


def _attempt(event: Event) -> Texts:
    answered, state = event["answered"], event["state"]
    said = str(answered) if answered is not None else event["error"] or str(event["ending"])
    is_more = event["attempt"] > 1 or event["next_due"]
    tries = f"attempt {event['attempt']} of {event['attempts_max']}" if is_more else ""
    due = f"next at {_time(event['next_due'])[:8]}" if event["next_due"] else ""
    took = event.get("duration_us")
    taken = (f"{took / 1000:.1f} ms" if took is not None else "", "bright_black")
    to = ((event["method"], ""), (event["url"], ""))
    return [*to, (said, _colour(state)), (state, ""), (tries, ""), (due, ""), taken]


_TEXTS: Final[dict[str, Callable[[Event], Texts]]] = {
    "request": _request,
    "status": lambda event: [
        (event["refid"], ""),
        (event["status"], _colour(event["status"])),
        (_named("rule", event["rule"]), "magenta"),
    ],
    "callback": lambda event: [
        (event["refid"], ""),
        (event["status"], _colour(event["status"])),
        *_attempt(event),
    ],
    "webhook": lambda event: [(event["type"], ""), *_attempt(event)],
    "entry": lambda event: [
        (event["refid"], ""),
        ("{type} {amount:.2f}, balance {balance:.2f}".format(**event["entry"]), ""),
    ],
    "notification": lambda event: [
        (event["refid"], ""),
        (f"to {', '.join(event['notification']['to'])}: {event['notification']['subject']}", ""),
    ],
    "action": lambda event: [(event["action"].replace("_", " "), "blue"), (event["about"], "")],
}
"""What a line has after its time, its sandbox and its kind. Lines of requests have no kind."""


def _named(name: str, value: str) -> str:
    return f"{name}={value}" if value else ""


def _colour(status: str) -> str:
    """Return the colour of a status of a payment or of a delivery."""
    if status.lower().startswith(("succes", "delivered")):
        return "green"
    return "red" if status in ("Failed", "Refund", "failed") else "yellow"
