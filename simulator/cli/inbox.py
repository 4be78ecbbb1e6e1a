"""`reseller-sim inbox`: what a receiver inside a sandbox got, and how it answers."""

from itertools import islice
from typing import Any

import click

from simulator.cli import complete, values
from simulator.cli.control import TIMEOUT_S, Control, path_part
from simulator.cli.flags import json_flag, own_option, running_flags, verb
from simulator.cli.numbers import Whole
from simulator.cli.output import echo_value, one_line, print_to_stderr
from simulator.cli.spans import Span
from simulator.cli.tables import print_line, print_table, times_of_day

TITLE = "reseller-sim inbox"
COLUMNS = ("method", "answered", "refid", "status", "body")
WAIT_MAX_S = 300.0
MESSAGES_MAX = 10_000


@verb("inbox")
@click.argument("name", default="callbacks", shell_complete=complete.inboxes)
@own_option("--wait-for", metavar="N", type=Whole(1, MESSAGES_MAX), help="Wait until it has this many.")
@own_option(
    "--timeout",
    metavar="DURATION",
    type=Span(0, WAIT_MAX_S),
    default="10s",
    show_default=True,
    help="How long to wait for them.",
)
@own_option(
    "--reply",
    "replies",
    metavar="STATUS,...",
    callback=values.replies,
    help="Answer the next messages so, the last one again and again: 500,500,200; 200:1.5 waits; or disconnect.",
)
@own_option("--clear", is_flag=True, help="Delete its messages and replies first.")
@running_flags
@json_flag(help="Print JSON.")
def command(
    name: str,
    wait_for: int | None,
    timeout: float,
    replies: list[dict[str, Any]] | None,
    clear: bool,
    json: bool,
    **running: Any,
) -> int:
    """Print what an inbox received, or program its replies.

    An inbox is a receiver inside the sandbox: a callback URL `inbox:NAME` leads there. NAME is by default `callbacks`,
    where the default scenario sends them. Exit code 1 means that fewer messages came than were waited for.

    \b
    Examples:
      reseller-sim inbox
      reseller-sim inbox callbacks --wait-for 2
      reseller-sim inbox callbacks --reply 500,500,200
      reseller-sim inbox callbacks --json | jq '.items[].json.data.status'
    """
    control = Control(TITLE, **running)
    path = f"/inbox/{path_part(name)}"
    if clear:
        control.delete(path)
    if replies is not None:
        control.put(path, {"replies": replies}, "inbox-replies-request")
    complete_ = True
    if wait_for is not None:
        query = {"wait_for": wait_for, "timeout": timeout}
        complete_ = control.get(path, "inbox-answer", query=query, timeout_s=timeout + TIMEOUT_S)["complete"]
    if (clear or replies is not None) and wait_for is None and not json:
        print_line(f"{name}: {_said(replies, clear)}")
        return 0
    items = list(islice(control.rows(path, "items", "inbox-answer"), MESSAGES_MAX))
    if json:
        echo_value({"name": name, "complete": complete_, "items": items})
    else:
        _print(name, items, "" if items else _hint(control, name))
    if not complete_:
        print_to_stderr(one_line(f"{TITLE}: {name}: {len(items)} of {wait_for} came in time"))
    return 0 if complete_ else 1


def _said(replies: list[dict[str, Any]] | None, clear: bool) -> str:
    words = ["its messages are deleted"] if clear else []
    if replies is not None:
        answers = [_answer(one) for one in replies]
        again = f", then always {answers[-1]}" if len(answers) > 1 else " always"
        words.append(f"it answers {', '.join(answers[:-1]) or answers[0]}{again}")
    return "; ".join(words)


def _answer(one: dict[str, Any]) -> str:
    if "disconnect" in one:
        return "nothing and disconnects"
    return f"{one['status']} after {one['delay']:g} s" if "delay" in one else str(one["status"])


def _hint(control: Control, name: str) -> str:
    """The end of a sentence about an inbox that no callback and no webhook uses."""
    from reseller_sim.evidence import inbox_hint_of

    hint = inbox_hint_of(control.get("/resellers", "resellers-answer")["resellers"], name, only_likely=True)
    return hint.replace(", which no callback uses", "; no callback uses it")


def _print(name: str, items: list[dict[str, Any]], hint: str) -> None:
    if items:
        heading, times = times_of_day([one["at"] for one in items])
        cells = [(one["n"], at, *_row(one)) for one, at in zip(items, times, strict=True)]
        print_table(("n", heading, *COLUMNS), cells)
    else:
        print_line(f"{name}: nothing yet{hint}")


def _row(one: dict[str, Any]) -> tuple[object, ...]:
    """A callback in a body tells its payment and status, one in a query likewise, a webhook its type."""
    body = one.get("json")
    fields = body.get("data", body) if isinstance(body, dict) else {}
    told = fields if isinstance(fields, dict) and fields else one.get("query") or {}
    status = told.get("status") or (body.get("type") if isinstance(body, dict) else "") or ""
    sent = one["body"] or " ".join(f"{key}={value}" for key, value in (one.get("query") or {}).items())
    return one["method"], one["status"], told.get("refid", ""), status, sent
