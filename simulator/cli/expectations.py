"""`reseller-sim expectations`: whether what a scenario expects has happened in a running sandbox."""

from collections.abc import Iterator
from typing import Any

from simulator.cli.control import Control
from simulator.cli.flags import json_flag, running_flags, verb
from simulator.cli.output import echo, echo_value, one_line
from simulator.cli.tables import print_line


@verb("expectations")
@running_flags
@json_flag(help="Print the answer of the control API.")
def command(json: bool, **running: Any) -> int:
    """Say whether a scenario's expectations are met.

    They are what the scenario has under `expect`. They are judged as things stand now, since the start of the sandbox
    or its last reset. Below one that is not met stands what came nearest, and what is still to come. Exit code 1 means
    that one is not met.

    \b
    Examples:
      reseller-sim expectations
      reseller-sim expectations --sandbox mine
      reseller-sim expectations --json | jq '.expectations[] | select(.ok | not) | .message'
    """
    answer = Control("reseller-sim expectations", **running).get("/expectations", "expectations-answer")
    if json:
        echo_value(answer)
    else:
        _print(answer["expectations"])
    return 0 if answer["ok"] else 1


def _print(rows: list[dict[str, Any]]) -> None:
    for one in rows:
        echo(one_line(f"{'ok' if one['ok'] else 'NOT MET':<8}  {_where(one)}{one['message']}"))
        for line in _helpful(one):
            echo(one_line(f"          {line}"))
    met = sum(one["ok"] for one in rows)
    print_line(f"{met} of {len(rows)} met" if rows else "the scenario expects nothing")


def _where(one: dict[str, Any]) -> str:
    place = one["place"]
    return f"{place['file']}:{place['line']}: " if place else ""


def _helpful(one: dict[str, Any]) -> Iterator[str]:
    yield from (f"nearest: {text}" for text in one["nearest"])
    yield from (f"pending: {text}" for text in one["pending"])
