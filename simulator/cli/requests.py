"""`reseller-sim requests`: the journal of a running sandbox, as a table, and single requests whole."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from simulator.cli import values
from simulator.cli.control import Control
from simulator.cli.errors import Refused
from simulator.cli.flags import json_flag, own_option, running_flags, verb
from simulator.cli.numbers import Whole
from simulator.cli.output import echo, echo_value
from simulator.cli.tables import clock_time, cut, print_line, print_table, times_of_day

TITLE = "reseller-sim requests"
COLUMNS = ("method", "path", "status", "refid", "rule", "diagnosis")
NO_ANSWER = "no answer"
PATH_CHARS_MAX = 30
REFUSED_FROM = 400
SHOWN = 20
SHOWN_MAX = 10_000
FILTERS = ("method", "path", "status", "refid", "rule")


@verb("requests")
@click.argument("n", metavar="[N]", callback=values.request_number, required=False)
@own_option("--last", is_flag=True, help="Print the latest one whole.")
@own_option("--replay", is_flag=True, help="Send N, or the latest one, again: signed anew, to the same sandbox.")
@own_option("--refused", is_flag=True, help="Only those that were refused or failed: statuses from 400, and none.")
@own_option("--method", metavar="METHOD", help="Only those with this method.")
@own_option("--path", metavar="PATH", help="Only those to this path.")
@own_option(
    "--status",
    metavar="STATUS",
    callback=values.statuses,
    help="Only those with this HTTP status, 0 for none, or with such: 2xx, 500-599, >=400, !404.",
)
@own_option("--refid", metavar="REFID", help="Only those of this payment.")
@own_option("--rule", metavar="NAME", help="Only those that this rule decided.")
@own_option(
    "--limit",
    metavar="N",
    type=Whole(1, SHOWN_MAX),
    default=SHOWN,
    show_default=True,
    help="How many, the latest ones.",
)
@running_flags
@json_flag(help="Print JSON, newest first; with N or --last one object.")
def command(n: int | None, last: bool, replay: bool, refused: bool, limit: int, json: bool, **flags: Any) -> None:
    """Print the requests that a sandbox received.

    A line each, the latest one last, with the rule that decided it and the diagnosis of what is wrong. N, the number in
    the first column and in X-Sim-Request-Id, prints that one whole. With --replay it is sent once more first, signed
    anew, and what came of that is printed. Exit code 1 means that there is no such request, or that it cannot be sent
    again.

    \b
    Examples:
      reseller-sim requests
      reseller-sim requests --last --refused
      reseller-sim requests 17
      reseller-sim requests 17 --replay
      reseller-sim requests --path /v2/topup --json | jq '.requests[].status'
    """
    if last and n is not None:
        meant = f"write --limit {n} for the latest {n}, or {n} without --last for the request of this number"
        raise click.UsageError(f"--last is one request, and takes no {n}: {meant}", click.get_current_context())
    wanted = {name: flags.pop(name) for name in FILTERS}
    control = Control(TITLE, **flags)
    is_one = n is not None or last or replay
    found = [] if n is not None else _found(control, wanted, refused, 1 if is_one else limit)
    if is_one:
        if n is None and not found:
            raise Refused(f"{TITLE}: the sandbox {control.sandbox} has received no such request")
        number = n or found[0]["n"]
        if replay:
            number = control.post(f"/requests/{number}/replay", {}, "replayed-request-answer")["n"]
        _print_whole(control.get(f"/requests/{number}", "exchange-answer"), json)
    elif json:
        echo_value({"requests": found})
    else:
        rows = found[::-1]
        heading, times = times_of_day([one["at"] for one in rows])
        cells = [(one["n"], at, *_row(one)) for one, at in zip(rows, times, strict=True)]
        print_table(("n", heading, *COLUMNS), cells, reds=[_is_refused(one) for one in rows], wraps=True)


def _found(control: Control, wanted: dict[str, Any], refused: bool, count: int) -> list[dict[str, Any]]:
    """The latest requests that are wanted, newest first."""
    statuses = wanted.pop("status") or {}
    query: dict[str, object] = {name: value for name, value in wanted.items() if value is not None} | statuses
    if not refused:
        query["limit"] = min(count, 1000)
    rows: Iterator[dict[str, Any]] = control.rows("/requests", "requests", "journal-answer", query)
    return list(islice(filter(_is_refused, rows) if refused else rows, count))


def _is_refused(one: dict[str, Any]) -> bool:
    """True without an answer, too."""
    return bool(one["status"] >= REFUSED_FROM or one["status"] == 0)


def _row(one: dict[str, Any]) -> tuple[object, ...]:
    path = cut(_target(one), PATH_CHARS_MAX)
    decided = f"rule {one['rule']}, fault {one['fault']}" if one["rule"] and one.get("fault") else one["rule"]
    rule = decided or one.get("fault") or ""
    return one["method"], path, one["status"] or NO_ANSWER, one.get("refid", ""), rule, one["diagnosis"]


def _target(one: dict[str, Any]) -> str:
    return f"{one['path']}?{one['query']}" if one["query"] else str(one["path"])


def _print_whole(one: dict[str, Any], json: bool) -> None:
    if json:
        echo_value(one)
        return
    print_line(f"{one['n']}  {clock_time(one['at'])}  from {one.get('client') or 'an unknown address'}", bold=True)
    if one.get("replay_of"):
        print_line(f"replay of {one['replay_of']}")
    for name in ("reseller", "rule", "fault", "error", "diagnosis"):
        if one.get(name):
            _print_unshortened(f"{name}: {one[name]}")
    print_line("")
    _print_message(f"{one['method']} {_target(one)}", one["request"])
    print_line("")
    _print_message(str(one["status"] or NO_ANSWER), one["response"])


def _print_message(first: str, message: dict[str, Any]) -> None:
    print_line(first, bold=True)
    for name, value in message["headers"]:
        _print_unshortened(f"{name}: {value}")
    if message["body"]:
        print_line("")
        echo(message["body"])
        left_out = message["body_bytes"] - len(message["body"].encode())
        if left_out > 0:
            print_line(f"({left_out} more bytes)")


def _print_unshortened(line: str) -> None:
    """A line that may be longer than the terminal, since all of it matters."""
    from simulator.cli.output import one_line

    echo(one_line(line))
