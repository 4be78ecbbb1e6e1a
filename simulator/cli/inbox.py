"""`reseller-sim inbox` and `trigger`: messages that receivers got, and messages to send now."""

import re
import secrets
from itertools import islice
from typing import Any

import click

from reseller_sim.evidence import inbox_hint
from reseller_sim.formats import outcome
from simulator.cli import completion, values
from simulator.cli.control import TIMEOUT_S, Control, path_part
from simulator.cli.flags import control_flags, json_flag, own_option
from simulator.cli.output import echo_value, print_line, print_table, show, times_of_day
from simulator.cli.requests import SHOWN_MAX, trxid_of
from simulator.cli.sandbox import deposit, reseller
from simulator.cli.usage import BadResult, notify, verb, wrong_usage
from simulator.cli.values import Integer, Span

COLUMNS = ("method", "answered", "refid", "status", "body")
SPAN = Span()
BALANCE, PRODUCT, CALLBACK, PROBES = "balance.added", "product.updated", "callback", "probes"
WHAT = {PRODUCT: "the code of a product", CALLBACK: "the refid of a payment"}
NOBODY = "the product was changed, but nothing is sent: the webhook was changed meanwhile"
NO_CATALOG_WEBHOOK = "nothing is changed: the scenario has no enabled `webhooks: {catalog: {url: …}}` to report it"
NO_WEBHOOK = "nothing is done, since {} has no balance webhook that is enabled: PUT /v2/balance-webhook sets one"
WAIT_S = 5
PROBES_TIMEOUT_S = 600.0


def _replies(text: str) -> list[dict[str, Any]]:
    """Return the answers of an inbox in order, parsed from "500,200:1.5": statuses with an optional delay, or
    `disconnect`."""
    replies: list[dict[str, Any]] = []
    for reply in map(str.strip, text.split(",")):
        status, colon, delay = reply.partition(":")
        if reply == "disconnect":
            replies.append({"disconnect": True})
        elif re.fullmatch("[2-5][0-9]{2}", status):
            replies.append({"status": int(status)} | ({"delay": SPAN.convert(delay, None, None)} if colon else {}))
        else:
            example = "such as 500,500,200, 200:1.5s for a 200 after 1.5 seconds, or disconnect"
            raise ValueError(f"{reply!r} is not a reply {example}")
    return replies


@verb("inbox", "callbacks --wait-for 2", "callbacks --json | jq '.items[].json.data.status'")
@click.argument("name", default="callbacks", shell_complete=completion.inboxes)
@own_option("--wait-for", type=Integer(1, SHOWN_MAX), help="Wait until the inbox has N messages.")
@own_option("--timeout", type=Span(0, 300), default="10s", help="How long to wait for the messages.")
@own_option(
    "--reply",
    "replies",
    metavar="STATUS,...",
    parse=_replies,
    help="Answer the next messages with these statuses, in order; the last reply repeats. Such as 500,200:1.5 (after "
    "1.5 s), or disconnect.",
)
@own_option("--clear", is_flag=True, help="First delete the inbox's messages and replies.")
@control_flags
@json_flag(help="Print JSON.")
def inbox_command(
    control: Control,
    name: str,
    wait_for: int | None,
    timeout: float,
    replies: list[dict[str, Any]] | None,
    clear: bool,
    json: bool,
) -> int:
    """An inbox is a receiver inside the sandbox: the callback URL `inbox:NAME` leads to it. The default NAME is
    `callbacks`, the receiver of the default scenario. Exit code 1 means that fewer than --wait-for messages came.
    """
    path = f"/inbox/{path_part(name)}"
    if clear:
        control.ask("DELETE", path)
    if replies is not None:
        control.ask("PUT", path, {"replies": replies})
    complete_ = True
    if wait_for is not None:
        query = {"wait_for": wait_for, "timeout": timeout}
        complete_ = control.ask("GET", path, query=query, timeout_s=timeout + TIMEOUT_S)["complete"]
    if (clear or replies is not None) and wait_for is None and not json:
        words = ["its messages are deleted"] if clear else []
        words += [f"it answers {', '.join(map(_answer, replies))}; the last reply repeats"] if replies else []
        print_line(f"{name}: {'; '.join(words)}")
        return 0
    items = list(islice(control.rows(path, "items"), SHOWN_MAX))
    if json:
        echo_value({"name": name, "complete": complete_, "items": items})
    elif items:
        heading, times = times_of_day([item["at"] for item in items])
        cells = [(item["n"], at, *_row(item)) for item, at in zip(items, times, strict=True)]
        print_table(("n", heading, *COLUMNS), cells, cuts=True)
    else:
        hint = inbox_hint(control.ask("GET", "/resellers")["resellers"], name)
        print_line(f"{name}: nothing yet{hint.replace(', which no callback uses', '; no callback uses it')}")
    if not complete_:
        notify(f"{name}: {len(items)} of {wait_for} came in time")
    return 0 if complete_ else 1


def _answer(message: dict[str, Any]) -> str:
    if "disconnect" in message:
        return "nothing and disconnects"
    return f"{message['status']} after {message['delay']:g} s" if "delay" in message else str(message["status"])


def _row(message: dict[str, Any]) -> tuple[object, ...]:
    """Return a row about a message. A callback in a body or a query shows its payment and status, a webhook its
    type."""
    body = message.get("json")
    fields = body.get("data", body) if isinstance(body, dict) else {}
    told = fields if isinstance(fields, dict) and fields else message.get("query") or {}
    status = told.get("status") or (body.get("type") if isinstance(body, dict) else "") or ""
    sent = message["body"] or " ".join(f"{key}={value}" for key, value in (message.get("query") or {}).items())
    return message["method"], message["status"], told.get("refid", ""), status, sent


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Return a product or a payment, whichever the event is about."""
    offered = {PRODUCT: completion.products, CALLBACK: completion.refids}.get(str(ctx.params.get("event")))
    return offered(ctx, param, incomplete) if offered else []


@verb("trigger", "balance.added --amount 250", "callback order-1")
@click.argument("event", type=click.Choice((BALANCE, PRODUCT, CALLBACK, PROBES)))
@click.argument("about", metavar="[CODE|REFID]", required=False, shell_complete=_complete)
@own_option("--amount", parse=values.amount, metavar="MYR", help="The deposit for balance.added.  [default: 10]")
@own_option("--reseller", "whose", metavar="CODE", help="The reseller; by default the sandbox's first.")
@control_flags
@json_flag(help="Print the delivery or the callback with its attempts.")
def trigger_command(
    control: Control,
    event: str,
    about: str | None,
    amount: str | None,
    whose: str | None,
    json: bool,
) -> int:
    """`balance.added` makes a deposit, `product.updated CODE` changes the note of the product, and `callback REFID`
    sends the current status of that payment again. `probes` sends forged, stale and repeated messages, which a receiver
    must refuse. Exit code 1 means that nothing was sent, with the reason, or that the receiver accepted a probe.
    """
    if not about and event in WHAT:
        raise wrong_usage(f"{event} needs {WHAT[event]}")
    if about is not None and event not in WHAT:
        raise wrong_usage(f"{event} takes no {about!r}; --reseller says whose")
    if amount is not None and event != BALANCE:
        raise wrong_usage(f"--amount is for {BALANCE}")
    if event == PROBES:
        return _send_probes(control, whose, json)
    if event == CALLBACK:
        sent = _callback(control, trxid_of(control, str(about), whose))
    else:
        since = control.ask("GET", "/clock")["now"]
        if event == BALANCE:
            found = reseller(control, whose)
            if found["balance_webhook"] is None:
                raise BadResult(NO_WEBHOOK.format(found["code"]))
            deposit(control, amount or "10", found["code"])
        else:
            webhook = control.ask("GET", "/resellers", query={"limit": 1})["catalog_webhook"]
            if webhook is None or not webhook["enabled"]:
                raise BadResult(NO_CATALOG_WEBHOOK)
            note = f"changed by reseller-sim trigger {secrets.token_hex(4)}"  # so that it differs from what it was
            control.ask("PATCH", f"/catalog/products/{path_part(str(about))}", {"note": note})
        sent = _delivery(control, event, since)
    show(
        sent,
        f"{event} to {sent['url']}: {outcome(sent['attempts'][-1]) if sent['attempts'] else 'it is due'}",
        json=json,
    )
    return 0


def _send_probes(control: Control, whose: str | None, json: bool) -> int:
    """Send all of them; the exit code."""
    wanted = {} if whose is None else {"reseller": whose}
    answer = control.ask("POST", "/probes", wanted, timeout_s=PROBES_TIMEOUT_S)
    if json:
        echo_value(answer)
    else:
        rows = [(probe["probe"], probe["verdict"], _about(probe)) for probe in answer["probes"]]
        reds = [probe["verdict"] == "finding" for probe in answer["probes"]]
        print_table(("probe", "verdict", "about"), rows, reds=reds)
    return 1 if answer["findings"] else 0


def _about(probe: dict[str, Any]) -> str:
    """Return what a probe is about, or the reason why it has no verdict."""
    if probe["verdict"] == "inconclusive":
        return f"{outcome(probe['requests'][-1])}: {probe['about']}"
    return str(probe["reason"] or probe["about"])


def _delivery(control: Control, event: str, since: str) -> dict[str, Any]:
    """Return the delivery that began since then, once it has ended or the time to wait is over. Raises `BadResult`."""
    begun = [
        row for row in control.rows("/deliveries", "deliveries") if row["type"] == event and row["created"] >= since
    ]
    if not begun:
        raise BadResult(NOBODY)
    latest: dict[str, Any] = begun[-1]
    _run_what_is_due(control)
    query = {"event": latest["event_id"], "wait_for": 1, "timeout": WAIT_S}
    found: list[dict[str, Any]] = control.ask("GET", "/deliveries", query=query)["deliveries"]
    return found[-1] if found else latest


def _callback(control: Control, trxid: str) -> dict[str, Any]:
    """Return the callback that is sent, once it is answered or the time to wait is over."""
    ended = sum(1 for row in control.rows("/callbacks", "callbacks", {"trxid": trxid}) if row["ending"])
    made: dict[str, Any] = control.ask("POST", f"/transactions/{path_part(trxid)}/callbacks", {})
    _run_what_is_due(control)
    control.ask("GET", "/callbacks", query={"trxid": trxid, "wait_for": ended + 1, "timeout": WAIT_S, "limit": 1})
    story = control.ask("GET", f"/transactions/{path_part(trxid)}")
    return next((callback for callback in story["callbacks"] if callback["id"] == made["id"]), made)


def _run_what_is_due(control: Control) -> None:
    """Process what is due on a clock that stands; a running clock does this by itself."""
    if control.ask("GET", "/clock")["mode"] == "manual":
        control.ask("POST", "/clock/advance", {"seconds": 0})
