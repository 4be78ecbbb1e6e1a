"""`reseller-sim audit` and `expectations`: whether a client and a scenario did what is asked of them."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simulator.cli.control import NO_PATH, NO_SANDBOX, Control
from simulator.cli.flags import asking_flags, file_option, own_option
from simulator.cli.output import echo, echo_value, is_terminal, print_line
from simulator.cli.reports.report_cases import UNWRITABLE, WARNING, ReportCase, Suite, junit, write_all
from simulator.cli.usage import BadResult, verb
from simulator.short_text import whole_line

AUDIT, NOTHING = "audit", "audit_of_nothing"
NOT_EXERCISED = "not exercised"
WHERE_TO_SEND = "does your client send to RESELLER_BASE_URL, and to the paths of the service?"


@verb("audit", "--sandbox mine --junit audit.xml", "--json | jq '.obligations[] | select(.state == \"violated\")'")
@asking_flags
@own_option("--all", "-a", "all_of_them", is_flag=True, help="List obligations that were not exercised, too.")
@file_option("--junit", "junit_file", help="Write the result to this file as JUnit XML, too.")
def audit_command(control: Control, json: bool, all_of_them: bool, junit_file: Path | None) -> int:
    """The audit judges the requests that a sandbox of a running simulator has received, and the answers of your
    receivers. Each obligation is met (ok), violated with its evidence (VIOLATED, or warning), or not exercised (-): no
    request was about it. On a terminal, violations come first, and obligations that were not exercised are only
    counted. Exit code 1 means that an obligation is violated, or that no request reached an endpoint and nothing was
    judged; 3 that no simulator answered.
    """
    made = control.ask("GET", "/audit")
    unseen = _unseen(control, made)
    if junit_file is not None:
        suite = Suite(f"sandbox {control.sandbox}", (*audit_cases(made["obligations"]), *unseen))
        if not write_all([(junit_file, junit([suite]))]):
            return UNWRITABLE
    if json:
        echo_value(made)
    else:
        echo("\n".join(map(whole_line, _lines(made, is_short=is_terminal() and not all_of_them))))
    if unseen:
        raise BadResult(unseen[0].message)
    return 0 if made["ok"] else 1


def _unseen(control: Control, made: dict[str, Any]) -> list[ReportCase]:
    """Return a failed case when the audit had nothing to judge, which must not pass as a clean audit."""
    if not made["ok"]:
        return []
    judged = [one for one in made["obligations"] if one["state"] != "not_exercised"]
    try:
        endpoints = control.ask("GET", "/coverage")["endpoints"]
    except BadResult as refused:
        if refused.code != NO_PATH:
            raise
        endpoints = []  # of a proxy, which has no coverage
    else:
        judged = [one for one in judged if one["log"] == "notifications"]
    named = (row for row in endpoints if "*" not in (row["method"], row["path"]))
    if judged or any(one["error"] != NO_SANDBOX for row in named for one in row["answers"]):
        return []
    text = f"nothing was judged: no request to the sandbox {control.sandbox} reached an endpoint; {WHERE_TO_SEND}"
    return [ReportCase(name="a request reached an endpoint", ok=False, message=text, code=NOTHING)]


def _lines(made: dict[str, Any], *, is_short: bool) -> list[str]:
    """Return the obligations in the service's order. Short output has the violations first and only counts the rest."""
    rows: list[dict[str, Any]] = made["obligations"]
    if is_short:
        rows = [one for one in rows if one["state"] != "not_exercised"]
        rows.sort(key=lambda one: one["state"] != "violated")
    lines = [line for one in rows for line in _lines_of(one)]
    lines += [""] if lines else []
    states = [row["state"] for row in made["obligations"]]
    words = {"met": "met", "violated": "violated", "not_exercised": NOT_EXERCISED}
    lines.append(", ".join(f"{states.count(state)} {word}" for state, word in words.items()))
    if made["left_out"]:
        lines.append(f"{made['left_out']} older requests and notifications were evicted, and are not judged")
    return lines


def _lines_of(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield one obligation: its line, and below it what violates it and what to do."""
    violated = "VIOLATED" if row["severity"] == "error" else "warning"
    mark = {"violated": violated, "met": "ok"}.get(row["state"], "-")
    yield f"{mark:<8}  {row['section']:<5} {row['id']}: {row['title']}"
    if row["state"] == "violated":
        yield from (f"            {text}" for text in row["findings"])
        more = row["violations"] - len(row["findings"])
        if more > 0:
            yield f"            and {more} more"
        yield f"            do: {row['advice']}"


def audit_cases(rows: Iterable[Mapping[str, Any]]) -> Iterator[ReportCase]:
    """Obligations as cases: only an error that is violated is not ok."""
    for row in rows:
        is_violated, is_error = row["state"] == "violated", row["severity"] == "error"
        first, *others = row["findings"] or [""]
        message = f"SPEC {row['section']}: {first}" if is_violated else ""
        yield ReportCase(
            name=f"{row['id']}: {row['title']}",
            ok=not (is_violated and is_error),
            message=message,
            details=(*others, f"do: {row['advice']}") if is_violated else (),
            code=AUDIT if is_error else WARNING,
            skipped=NOT_EXERCISED if row["state"] == "not_exercised" else "",
        )


@verb("expectations", "", "--json | jq '.expectations[] | select(.ok | not) | .message'")
@asking_flags
def expectations_command(control: Control, json: bool) -> int:
    """Evaluate the scenario's `expect` now, since the start of the sandbox or its last reset. An expectation that is
    not met has the nearest result and what is still pending. Exit code 1 means that an expectation is not met.
    """
    answer = control.ask("GET", "/expectations")
    if json:
        echo_value(answer)
    else:
        _print(answer["expectations"])
    return 0 if answer["ok"] else 1


def _print(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        place = f"{row['place']['file']}:{row['place']['line']}: " if row["place"] else ""
        echo(whole_line(f"{'ok' if row['ok'] else 'NOT MET':<8}  {place}{row['message']}"))
        for name in ("nearest", "pending"):
            for text in row[name]:
                echo(whole_line(f"          {name}: {text}"))
    met = sum(row["ok"] for row in rows)
    print_line(f"{met} of {len(rows)} met" if rows else "the scenario expects nothing")
