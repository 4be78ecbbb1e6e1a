"""`reseller-sim requests` and `story`: the requests of a sandbox, and the history of a payment."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from reseller_sim.evidence import Story
from simulator.cli import completion, values
from simulator.cli.control import Control, path_part
from simulator.cli.flags import asking_flags, control_flags, json_flag, own_option
from simulator.cli.output import clock_time, echo, echo_value, print_line, print_table, times_of_day
from simulator.cli.usage import BadResult, verb, wrong_usage
from simulator.cli.values import Integer
from simulator.short_text import whole_line

COLUMNS = ("method", "path", "status", "refid", "rule", "diagnosis")
NO_ANSWER = "no answer"
REFUSED_FROM = 400
SHOWN = 20
SHOWN_MAX = 10_000


def _statuses(text: str) -> dict[str, int]:
    """Return the journal's filters that mean one HTTP status, 0 for none, or several."""
    if found := re.fullmatch("(!?)(0|[1-5][0-9]{2})", text):
        return {"status_not" if found[1] else "status": int(found[2])}
    if found := re.fullmatch("([1-5])[xX]{2}", text):
        return {"status_min": int(found[1] + "00"), "status_max": int(found[1] + "99")}
    if (found := re.fullmatch("([1-5][0-9]{2})-([1-5][0-9]{2})", text)) and found[1] <= found[2]:
        return {"status_min": int(found[1]), "status_max": int(found[2])}
    if found := re.fullmatch("([<>]=?)([1-5][0-9]{2})", text):
        bound = int(found[2]) + {">": 1, "<": -1}.get(found[1], 0)
        return {"status_min" if ">" in found[1] else "status_max": bound}
    what = "a status: write 401, or 0 for no answer, or a group such as 2xx, 500-599, >=400 or !404"
    raise ValueError(f"{values.shown(text)} is not {what}")


@verb("requests", "--last --refused", "--path /v2/topup --json | jq '.requests[].status'")
@click.argument("n", metavar="[N]", type=Integer(1, 10**18), required=False)
@own_option("--last", is_flag=True, help="Print the latest request with headers and bodies.")
@own_option(
    "--replay", is_flag=True, help="Send request N, or the latest, again with a new signature, to the same sandbox."
)
@own_option(
    "--refused",
    is_flag=True,
    help="Only refused or failed requests: statuses from 400, and requests without an answer.",
)
@own_option("--method", metavar="METHOD", help="Only requests with this method.")
@own_option("--path", metavar="PATH", help="Only requests to this path.")
@own_option(
    "--status",
    metavar="STATUS",
    parse=_statuses,
    help="Only requests with this HTTP status, such as 401, 2xx, 500-599, >=400 or !404; 0 means no answer.",
)
@own_option("--refid", metavar="REFID", shell_complete=completion.refids, help="Only requests of this payment.")
@own_option("--rule", metavar="NAME", shell_complete=completion.rule_names, help="Only requests that it decided.")
@own_option("--fault", metavar="NAME", shell_complete=completion.rule_names, help="Only requests that it damaged.")
@own_option("--limit", type=Integer(1, SHOWN_MAX), default=SHOWN, help="The number of latest requests.")
@control_flags
@json_flag(help="Print JSON, newest first; with N or --last one object.")
def requests_command(
    control: Control, n: int | None, last: bool, replay: bool, refused: bool, limit: int, json: bool, **wanted: Any
) -> None:
    """Print a line for each request, the latest last, with its rule and its diagnosis. With N, print request N with
    headers and bodies; N is in the first column, and in the header X-Sim-Request-Id. Exit code 1 means that there is no
    such request, or that it cannot be sent again.
    """
    if last and n is not None:
        raise wrong_usage(f"--last is one request, and takes no {n}: --limit {n} prints the latest {n}")
    such = "such " if refused or any(wanted.values()) else ""
    is_one = n is not None or last or replay
    found = [] if n is not None else _found(control, wanted, refused, 1 if is_one else limit)
    if is_one:
        if n is None and not found:
            raise BadResult(f"the sandbox {control.sandbox} has received no such request")
        number = n or found[0]["n"]
        if replay:
            number = control.ask("POST", f"/requests/{number}/replay", {})["n"]
        _print_whole(control.ask("GET", f"/requests/{number}"), json)
    elif json:
        echo_value({"requests": found})
    elif not found:
        print_line(f"the sandbox {control.sandbox} has received no {such}request")
    else:
        rows = found[::-1]
        heading, times = times_of_day([row["at"] for row in rows])
        cells = [(one["n"], at, *_row(one)) for one, at in zip(rows, times, strict=True)]
        print_table(("n", heading, *COLUMNS), cells, reds=[_is_refused(row) for row in rows])


def _found(control: Control, wanted: dict[str, Any], refused: bool, count: int) -> list[dict[str, Any]]:
    """Return the latest requests that are wanted, newest first."""
    statuses = wanted.pop("status") or {}
    query: dict[str, Any] = wanted | statuses
    if not refused:
        query["limit"] = min(count, 1000)
    rows: Iterator[dict[str, Any]] = control.rows("/requests", "requests", query)
    return list(islice(filter(_is_refused, rows) if refused else rows, count))


def _is_refused(row: dict[str, Any]) -> bool:
    """Return whether a request was refused, or got no answer."""
    return bool(row["status"] >= REFUSED_FROM or row["status"] == 0)


def _row(row: dict[str, Any]) -> tuple[object, ...]:
    decided = f"rule {row['rule']}, fault {row['fault']}" if row["rule"] and row.get("fault") else row["rule"]
    rule = decided or row.get("fault") or ""
    return row["method"], _target(row), row["status"] or NO_ANSWER, row.get("refid", ""), rule, row["diagnosis"]


def _target(row: dict[str, Any]) -> str:
    return f"{row['path']}?{row['query']}" if row["query"] else str(row["path"])


def _print_whole(row: dict[str, Any], json: bool) -> None:
    if json:
        echo_value(row)
        return
    print_line(f"{row['n']}  {clock_time(row['at'])}  from {row.get('client') or 'an unknown address'}", bold=True)
    if row.get("replay_of"):
        print_line(f"replay of {row['replay_of']}")
    for name in ("reseller", "rule", "fault", "error", "diagnosis"):
        if row.get(name):
            echo(whole_line(f"{name}: {row[name]}"))  # also if it is longer than the terminal
    print_line("")
    _print_message(f"{row['method']} {_target(row)}", row["request"])
    print_line("")
    _print_message(str(row["status"] or NO_ANSWER), row["response"])


def _print_message(first: str, message: dict[str, Any]) -> None:
    print_line(first, bold=True)
    for name, value in message["headers"]:
        echo(whole_line(f"{name}: {value}"))
    if message["body"]:
        print_line("")
        echo(message["body"])
        left_out = message["body_bytes"] - len(message["body"].encode())
        if left_out > 0:
            print_line(f"({left_out} more bytes)")


@verb("story", "order-1 --sandbox mine", "order-1 --json | jq '.statuses[].status'")
@click.argument("refid", shell_complete=completion.refids)
@own_option("--reseller", metavar="CODE", help="The reseller, when several have a payment with this refid.")
@asking_flags
def story_command(control: Control, refid: str, reseller: str | None, json: bool) -> None:
    """The story has requests, statuses, wallet entries, callbacks with the receivers' answers, disputes and voids, in
    the order of time. A trxid works like a refid. Exit code 1 means that there is no such payment; if its request was
    refused, the line has the reason.
    """
    found = control.ask("GET", f"/transactions/{path_part(trxid_of(control, refid, reseller))}")
    if json:
        echo_value(found)
    elif "events" not in found:
        raise BadResult(f"{control.base} is `reseller-sim proxy`, whose stories are only JSON: add --json")
    else:
        echo("\n".join(map(whole_line, Story(found).lines)))


def trxid_of(control: Control, refid: str, reseller: str | None = None) -> str:
    """Return the latest payment of this refid, or of this trxid. Raises `BadResult`."""
    found = control.ask("GET", "/transactions", query={"refid": refid, "reseller": reseller, "limit": 1})[
        "transactions"
    ]
    if found:
        return str(found[0]["trxid"] or refid)  # a proxy may not know the trxid yet
    for row in control.ask("GET", "/requests", query={"refid": refid, "status_min": REFUSED_FROM, "limit": 1})[
        "requests"
    ]:
        why = row["diagnosis"] or row.get("error") or f"status {row['status']}"
        raise BadResult(f"no payment was made; request {row['n']} with this refid was refused: {why}")
    if refid.isascii() and refid.isdigit():
        return refid
    advice = "see `reseller-sim requests` and `reseller-sim hold list`"
    raise BadResult(f"the sandbox {control.sandbox} has no payment {refid!r}: {advice}")
