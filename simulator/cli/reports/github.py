"""Annotations of GitHub Actions: a workflow command for each case that is not ok."""

from collections.abc import Iterator, Sequence

from simulator.cli.output import one_line
from simulator.cli.reports.cases import Case, Suite


def annotations(suites: Sequence[Suite]) -> Iterator[str]:
    """The lines to print. Of several sandboxes the message says which; a file is named anyway."""
    for suite in suites:
        for case in suite.cases:
            if not case.ok:
                yield _annotation(case, f"{suite.name}: " if len(suites) > 1 and suite.name != case.file else "")


def _annotation(case: Case, where: str) -> str:
    """A workflow command, which escapes the ends of properties and of the line."""
    properties = {"file": case.file, "line": case.line, "col": case.column, "title": case.code}
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    return f"::error {written}::{_escaped(chr(10).join((where + case.message, *case.details)))}"


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    return one_line(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))
