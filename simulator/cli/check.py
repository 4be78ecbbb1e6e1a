"""`reseller-sim check`: what is wrong with scenario files."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.flags import option, verb
from simulator.cli.output import echo, one_line

if TYPE_CHECKING:
    from simulator.scenario.reading.document import Problem


@verb("check")
@option(
    "--format",
    type=click.Choice(["text", "github"]),
    default="text",
    show_default=True,
    help="The format of a problem: `file:line:column: code message`, or as an annotation of GitHub Actions.",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(files: tuple[Path, ...], format: str) -> int:
    """Report the problems of scenario files.

    Each problem is one line, `file:line:column: code message`, as editors read it. Problems are errors, and
    whatever has no effect, such as a rule that an earlier rule shadows. A file without problems is `ok`. Exit code 1
    means that there are problems.

    \b
    Examples:
      reseller-sim check mine.yaml
      reseller-sim check scenarios/*.yaml
      reseller-sim check --format github scenarios/*.yaml
    """
    from simulator.scenario.library import problems

    is_good = True
    for file in files:
        found = problems(file)
        for problem in found:
            echo(_annotation(problem) if format == "github" else one_line(problem))
        if not found:
            echo(one_line(f"{file}: ok"))
        is_good = is_good and not found
    return 0 if is_good else 1


def _annotation(problem: "Problem") -> str:
    """A workflow command of GitHub Actions, which escapes the ends of properties and of the line."""
    place = f"file={_property(problem.source)},line={problem.line},col={problem.column}"
    return f"::error {place},title={_property(problem.code)}::{_escaped(problem.message)}"


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    return one_line(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))
