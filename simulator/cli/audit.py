"""`reseller-sim audit` and `expectations`: whether a client and a scenario did what is asked of them."""

import json as json_module
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.cli.control import NO_SANDBOX, Control
from simulator.cli.flags import asking_flags, file_option, own_option
from simulator.cli.output import echo, echo_json, echo_value, is_terminal, print_line
from simulator.cli.reports.cases import ReportCase, Suite, junit, unwritable
from simulator.cli.reports.verdicts import NOTHING, audit_cases, ending, lines_of
from simulator.cli.usage import CannotStart, Refused, title, verb
from simulator.shortened import whole_line


@verb("audit")
@asking_flags
@own_option("--all", "-a", "all_of_them", is_flag=True, help="List obligations that were not exercised, too.")
@file_option(
    "--junit",
    "junit_file",
    help="Write the result to this file as JUnit XML, too.",
)
def audit_command(control: Control, json: bool, all_of_them: bool, junit_file: Path | None) -> int:
    """Check a client's behaviour against the obligations of the service.

    The audit judges the requests that a sandbox of a running simulator has received, and the answers of your receivers.
    Each obligation is met (ok), violated with its evidence (VIOLATED, or warning), or not exercised (-): no request was
    about it. On a terminal, violations come first, and obligations that were not exercised are only counted. In a pipe,
    the text is the whole list in the service's order. Exit code 1 means that an obligation is violated, or that no
    request reached an endpoint and nothing was judged; 3 that no simulator answered.

    \b
    Examples:
      reseller-sim audit
      reseller-sim audit --sandbox mine --junit audit.xml
      reseller-sim audit --json | jq '.obligations[] | select(.state == "violated")'
    """
    made = control.get("/audit")
    unseen = _unseen(control, made)
    if junit_file is not None:
        suite = Suite(f"sandbox {control.sandbox}", (*audit_cases(made["obligations"]), *unseen))
        try:
            junit_file.write_bytes(junit(title(), [suite]))
        except OSError as error:
            raise CannotStart(unwritable(title(), junit_file, error)) from None
    if json:
        echo_json(json_module.dumps(made, indent=2))
    else:
        echo("\n".join(map(whole_line, _lines(made, is_short=is_terminal() and not all_of_them))))
    for one in unseen:
        raise Refused(whole_line(f"{title()}: {one.message}"))
    return 0 if made["ok"] else 1


def _unseen(control: Control, made: dict[str, Any]) -> list[ReportCase]:
    """Return a failed case when the audit had nothing to judge, which must not pass as a clean audit."""
    if not made["ok"]:
        return []
    rows = control.get("/coverage")["endpoints"]
    of_receivers = [one for one in made["obligations"] if one["log"] == "notifications"]
    if any(map(_is_of_contract, rows)) or any(one["state"] != "not_exercised" for one in of_receivers):
        return []
    what, name = "got no request", "the sandbox got a request"
    if any(one["calls"] for one in rows):
        what, name = "got requests for unknown paths or sandboxes only", "a request reached an endpoint"
    text = f"nothing was judged: the sandbox {control.sandbox} {what}; does your client send to its address?"
    return [ReportCase(name=name, ok=False, message=text, code=NOTHING)]


def _is_of_contract(row: dict[str, Any]) -> bool:
    """Return whether a request reached this endpoint of the contract. Requests to an unknown sandbox reach none."""
    reached = [one for one in row["answers"] if one["error"] != NO_SANDBOX]
    return bool(reached) and "*" not in (row["method"], row["path"])


def _lines(made: dict[str, Any], *, is_short: bool) -> list[str]:
    """Yield the obligations in the service's order. Short output has the violations first and only counts the rest."""
    rows: list[dict[str, Any]] = made["obligations"]
    if is_short:
        rows = [one for one in rows if one["state"] != "not_exercised"]
        rows.sort(key=lambda one: one["state"] != "violated")
    listed = [line for one in rows for line in lines_of(one)]
    return [*listed, *([""] if listed else []), *ending(made)]


@verb("expectations")
@asking_flags
def expectations_command(control: Control, json: bool) -> int:
    """Check whether a scenario's expectations are met.

    Evaluate the scenario's `expect` now, since the start of the sandbox or its last reset. An expectation that is
    not met has the nearest result and what is still pending. Exit code 1 means that an expectation is not met.

    \b
    Examples:
      reseller-sim expectations
      reseller-sim expectations --sandbox mine
      reseller-sim expectations --json | jq '.expectations[] | select(.ok | not) | .message'
    """
    answer = control.get("/expectations")
    if json:
        echo_value(answer)
    else:
        _print(answer["expectations"])
    return 0 if answer["ok"] else 1


def _print(rows: list[dict[str, Any]]) -> None:
    for one in rows:
        echo(whole_line(f"{'ok' if one['ok'] else 'NOT MET':<8}  {_where(one)}{one['message']}"))
        for line in _helpful(one):
            echo(whole_line(f"          {line}"))
    met = sum(one["ok"] for one in rows)
    print_line(f"{met} of {len(rows)} met" if rows else "the scenario expects nothing")


def _where(one: dict[str, Any]) -> str:
    place = one["place"]
    return f"{place['file']}:{place['line']}: " if place else ""


def _helpful(one: dict[str, Any]) -> Iterator[str]:
    yield from (f"nearest: {text}" for text in one["nearest"])
    yield from (f"pending: {text}" for text in one["pending"])
