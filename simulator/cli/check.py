"""`reseller-sim check`: what is wrong with scenario files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.cli import complete
from simulator.cli.flags import verb
from simulator.cli.output import echo, one_line
from simulator.cli.reports.cases import Case, Suite, all_ok
from simulator.cli.reports.flags import UNWRITABLE, Reports, report_flags

if TYPE_CHECKING:
    from simulator.scenario.reading.document import Problem


@verb("check")
@report_flags
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    shell_complete=complete.yaml_files,
)
def command(files: tuple[Path, ...], **flags: Any) -> int:
    """Report the problems of scenario files.

    Each problem is one line, `file:line:column: code message`, as editors read it. Problems are errors, and
    whatever has no effect, such as a rule that an earlier rule shadows. A file without problems is `ok`. Exit code 1
    means that there are problems, 3 that a report could not be written.

    \b
    Examples:
      reseller-sim check mine.yaml
      reseller-sim check scenarios/*.yaml
      reseller-sim check --format github scenarios/*.yaml
      reseller-sim check --junit check.xml scenarios/*.yaml
    """
    from simulator.scenario.library import problems

    reports = Reports(title="reseller-sim check", **flags)
    suites = []
    for file in files:
        found = problems(file)
        suites.append(_suite(file, found))
        if reports.is_text:
            for problem in found:
                echo(one_line(problem))
        if not found:
            echo(one_line(f"{file}: ok"))
    is_written = reports.write(suites)
    reports.show(suites)
    if not is_written:
        return UNWRITABLE
    return 0 if all_ok(suites) else 1


def _suite(file: Path, found: "list[Problem]") -> Suite:
    cases = [
        Case(
            name=f"{one.code} {one.path}".strip() + (f" (line {one.line})" if one.line else ""),
            ok=False,
            message=one.message,
            code=one.code,
            file=one.source,
            line=one.line,
            column=one.column,
        )
        for one in found
    ]
    return Suite(str(file), tuple(cases) or (Case("no problems", ok=True, file=str(file)),))
