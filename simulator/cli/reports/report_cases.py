"""Cases in suites, with the files and annotations that CI servers read."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import click

from simulator import __version__
from simulator.cli.flags import Decorated, all_of, file_option, option
from simulator.cli.output import echo, printable, printable_json
from simulator.cli.usage import CannotStart, notify, title
from simulator.short_text import whole_line

NOT_RUN = "not_run"
"""The code of a case whose message says why nothing was examined."""

WARNING = "audit_warning"

UNWRITABLE = 3
UNFINISHED = "the run has not ended"


@dataclass(frozen=True, slots=True)
class ReportCase:
    """An expectation of a sandbox, a problem of a file, or a check of a service. `message` describes the failure in a
    line, and `details` has further lines. `code` is for programs. `line` and `column` count from 1; 0 if unknown.
    `skipped` says why a case that is ok was not examined. `duration_s` is the duration, if it was measured."""

    name: str
    ok: bool
    message: str = ""
    details: tuple[str, ...] = ()
    code: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    skipped: str = ""
    duration_s: float = 0.0

    @property
    def is_warning(self) -> bool:
        """Return whether it violates an obligation that does not fail a run."""
        return self.ok and self.code == WARNING and bool(self.message)


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of a sandbox or a file."""

    name: str
    cases: tuple[ReportCase, ...]

    @property
    def ok(self) -> bool:
        """Return whether every case is ok."""
        return all(case.ok for case in self.cases)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run of `exec`: COMMAND's exit code, the scenario, the seed of the default sandbox, the wall time in ISO 8601 at
    which COMMAND began, and the version of the simulator."""

    command_exit: int
    scenario: str
    seed: int
    began: str
    version: str = __version__


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports that the flags of `report_flags` request."""

    junit: Path | None
    json_file: Path | None
    format: str

    def begin(self) -> None:
        """Mark the files as unfinished, so that they cannot show the result of an earlier run. Raises `CannotStart` for
        a file that cannot be written."""
        for path, content in self._contents([_not_run(UNFINISHED)]):
            try:
                path.write_bytes(content)
            except OSError as error:
                raise CannotStart(unwritable(path, error)) from None

    def not_run(self, message: str) -> None:
        """Write and print that nothing was examined, and why. A file that cannot be written is left out."""
        suites = [_not_run(message)]
        for path, content in self._contents(suites):
            with suppress(OSError):
                path.write_bytes(content)
        self.show(suites)

    def show(self, suites: Sequence[Suite], *, is_after_others: bool = False) -> None:
        """Print the annotations. Write the files first, since stdout may be closed.

        The command's own output may lack a final line end, so an empty line comes first; GitHub ignores it.
        """
        lines = list(annotations(suites)) if self.format == "github" else []
        for line in ["", *lines] if lines and is_after_others else lines:
            echo(line)

    def write(self, suites: Sequence[Suite], run: RunFacts | None = None) -> bool:
        """Write the files; False when one could not be written, which is reported."""
        return write_all(self._contents(suites, run))

    def _contents(self, suites: Sequence[Suite], run: RunFacts | None = None) -> list[tuple[Path, bytes]]:
        both = ((self.junit, junit), (self.json_file, as_json))
        return [(path, make(suites, run)) for path, make in both if path is not None]


def unwritable(path: Path, error: OSError) -> str:
    """Return the message about a file that cannot be written."""
    return f"{path} cannot be written: {error.strerror}"


def write_all(contents: Iterable[tuple[Path, bytes]]) -> bool:
    """Write files; False when one could not be written, which is reported."""
    is_written = True
    for path, content in contents:
        try:
            path.write_bytes(content)
        except OSError as error:
            notify(unwritable(path, error))
            is_written = False
    return is_written


def _not_run(message: str) -> Suite:
    """`message` may have several lines."""
    first, *others = message.split("\n")
    return Suite(title(), (ReportCase("start", ok=False, message=first, details=tuple(others), code=NOT_RUN),))


def report_flags(function: Decorated) -> Decorated:
    """Return the three flags; keywords `junit`, `json_file`, `format`."""
    form = option(
        "--format",
        type=click.Choice(["text", "github"]),
        default="text",
        help="Print problems as text, or on stdout as annotations of GitHub Actions.",
    )
    junit_file = file_option("--junit", help="Write the result to this file as JUnit XML.")
    json_file = file_option("--json-report", "json_file", help="Write the result to this file as JSON.")
    return all_of([form, junit_file, json_file])(function)


def as_json(suites: Sequence[Suite], run: RunFacts | None = None) -> bytes:
    """`{title, ok, version, suites: [{name, ok, cases: [{name, ok, message, details, code, file, line, column,
    skipped}]}]}`, with all members of `RunFacts` after `ok` when there was one."""
    rows: list[dict[str, Any]] = [{"name": suite.name, "ok": suite.ok} | asdict(suite) for suite in suites]
    for case in (case for row in rows for case in row["cases"]):
        del case["duration_s"]  # measured for JUnit alone
    facts = asdict(run) if run else {"version": __version__}
    whole = {"title": title(), "ok": all(suite.ok for suite in suites), **facts, "suites": rows}
    return (printable_json(json.dumps(whole, indent=2)) + "\n").encode()


def annotations(suites: Sequence[Suite]) -> Iterator[str]:
    """Yield the lines to print. With several suites, each message names its sandbox; a file is always named."""
    for suite in suites:
        for case in suite.cases:
            if not case.ok or case.is_warning:
                yield _annotation(case, f"{suite.name}: " if len(suites) > 1 and suite.name != case.file else "")


def _annotation(case: ReportCase, where: str) -> str:
    """Return a workflow command, which escapes the ends of properties and of the line."""
    named = {"file": case.file, "line": case.line, "col": case.column, "title": case.code}
    properties = [f"{name}={_escaped_command(str(value))}" for name, value in named.items() if value]
    written = ",".join(part.replace(":", "%3A").replace(",", "%2C") for part in properties)
    text = "\n".join((where + case.message, *case.details))
    return f"::{'warning' if case.ok else 'error'} {written}::{_escaped_command(text)}"


def _escaped_command(text: str) -> str:
    return whole_line(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def junit(suites: Sequence[Suite], run: RunFacts | None = None) -> bytes:
    """Return the document; `run`, or the version alone, is in the properties of each suite. Control characters, which
    XML cannot hold, are written as their escapes."""
    root = ET.Element("testsuites", _counts(title(), suites))
    for suite in suites:
        part = ET.SubElement(root, "testsuite", _counts(suite.name, [suite]))
        properties = ET.SubElement(part, "properties")
        for name, value in (asdict(run) if run is not None else {"version": __version__}).items():
            ET.SubElement(properties, "property", {"name": name, "value": whole_line(value)})
        for case in suite.cases:
            _add(part, suite, case)
    ET.indent(root)
    document: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return document + b"\n"


def _counts(name: str, suites: Sequence[Suite]) -> dict[str, str]:
    cases = [case for suite in suites for case in suite.cases]
    errors = sum(case.code == NOT_RUN for case in cases)
    return {
        "name": whole_line(name),
        "tests": str(len(cases)),
        "failures": str(sum(not case.ok for case in cases) - errors),
        "errors": str(errors),
        "skipped": str(sum(bool(case.skipped) for case in cases)),
        "time": f"{sum(case.duration_s for case in cases):.3f}",
    }


def _add(part: ET.Element, suite: Suite, case: ReportCase) -> None:
    about = {"name": case.name, "classname": suite.name, "time": f"{case.duration_s:.3f}"}
    about |= {"file": case.file} if case.file else {}
    about |= {"line": str(case.line)} if case.line else {}
    element = ET.SubElement(part, "testcase", {name: whole_line(value) for name, value in about.items()})
    if case.skipped:
        ET.SubElement(element, "skipped", {"message": whole_line(case.skipped)})
    if not case.ok:
        kind = "error" if case.code == NOT_RUN else "failure"
        failure = ET.SubElement(element, kind, {"message": whole_line(case.message), "type": whole_line(case.code)})
        failure.text = printable("\n".join((case.message, *case.details)))
