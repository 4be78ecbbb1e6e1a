"""TAP 14: a line for each case, and below one that is not ok what is known of it, as YAML."""

import json
from collections.abc import Iterator, Sequence

from simulator.cli.output import one_line
from simulator.cli.reports.cases import Case, Suite


def tap(suites: Sequence[Suite]) -> str:
    """The whole text, without the last line end."""
    cases = [(suite, case) for suite in suites for case in suite.cases]
    lines = ["TAP version 14", f"1..{len(cases)}"]
    for number, (suite, case) in enumerate(cases, 1):
        skipped = f" # SKIP {_escaped(case.skipped)}" if case.skipped else ""
        lines.append(f"{'ok' if case.ok else 'not ok'} {number} - {_description(suite, case)}{skipped}")
        lines += [] if case.ok else _diagnosis(case)
    return "\n".join(lines)


def _description(suite: Suite, case: Case) -> str:
    return _escaped(f"{suite.name}: {case.name}" if case.name else suite.name)


def _escaped(text: str) -> str:
    """In a description a number sign would begin a directive."""
    return one_line(text).replace("\\", "\\\\").replace("#", "\\#")


def _diagnosis(case: Case) -> Iterator[str]:
    """A JSON text is YAML, too, whatever it holds."""
    yield "  ---"
    yield f"  message: {json.dumps(one_line(case.message))}"
    if case.code:
        yield f"  code: {json.dumps(one_line(case.code))}"
    if case.file:
        at = {"file": one_line(case.file), "line": case.line} | ({"column": case.column} if case.column else {})
        yield f"  at: {json.dumps(at)}"
    if case.details:
        yield f"  details: {json.dumps(list(map(one_line, case.details)))}"
    yield "  ..."
