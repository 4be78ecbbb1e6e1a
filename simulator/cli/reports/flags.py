"""`--junit`, `--json-report` and `--format` of `exec` and `check`, and what they write."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from simulator.cli.flags import CannotStart, option
from simulator.cli.output import echo, one_line, print_to_stderr
from simulator.cli.reports.as_json import as_json
from simulator.cli.reports.cases import NOT_RUN, Case, Run, Suite
from simulator.cli.reports.github import annotations
from simulator.cli.reports.junit import junit

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
UNWRITABLE = 3
UNFINISHED = "the run has not ended"


@dataclass(frozen=True, slots=True)
class Reports:
    """What is to be written, as the flags of `report_flags` say. `title` is the command's name."""

    title: str
    junit: Path | None
    json_file: Path | None
    format: str

    @property
    def is_text(self) -> bool:
        """True when people read the result."""
        return self.format == "text"

    def begin(self) -> None:
        """Write into the files that the run has not ended, so that none has the result of an earlier one whatever
        happens. Raises `CannotStart` for one that cannot be written, before anything is done."""
        suites = [_not_run(self.title, UNFINISHED)]
        for path, make in self._contents:
            try:
                path.write_bytes(make(self.title, suites, None))
            except OSError as error:
                raise CannotStart(self._unwritable(path, error)) from None

    def not_run(self, message: str) -> None:
        """Write and print that nothing was examined, and why. A file that cannot be written is left out."""
        suites = [_not_run(self.title, message)]
        for path, make in self._contents:
            with suppress(OSError):
                path.write_bytes(make(self.title, suites, None))
        self.show(suites)

    def show(self, suites: Sequence[Suite], *, is_after_others: bool = False) -> None:
        """Print what goes to stdout. Files are written before, since nobody may be reading this.

        What others have printed there may have no line end, so an empty line comes first; GitHub ignores it.
        """
        lines = list(annotations(suites)) if self.format == "github" else []
        if lines and is_after_others:
            echo("")
        for line in lines:
            echo(line)

    def write(self, suites: Sequence[Suite], run: Run | None = None) -> bool:
        """Write the files; False when one could not be written, which is reported."""
        written = [self._written(path, make(self.title, suites, run)) for path, make in self._contents]
        return all(written)

    @property
    def _contents(self) -> "list[tuple[Path, Callable[[str, Sequence[Suite], Run | None], bytes]]]":
        both = ((self.junit, junit), (self.json_file, as_json))
        return [(path, make) for path, make in both if path is not None]

    def _unwritable(self, path: Path, error: OSError) -> str:
        return one_line(f"{self.title}: {path} cannot be written: {error.strerror}")

    def _written(self, path: Path, content: bytes) -> bool:
        try:
            path.write_bytes(content)
        except OSError as error:
            print_to_stderr(self._unwritable(path, error))
            return False
        return True


def _not_run(title: str, message: str) -> Suite:
    """`message` may have several lines."""
    first, *others = message.split("\n")
    return Suite(title, (Case("start", ok=False, message=first, details=tuple(others), code=NOT_RUN),))


def report_flags(function: Decorated) -> Decorated:
    """The three flags; keywords `junit`, `json_file`, `format`. The files have no variable: each is about one run."""
    path = click.Path(path_type=Path, dir_okay=False)
    for decorate in reversed(
        (
            _option("--junit", metavar="FILE", type=path, help="Write the result to this file as JUnit XML."),
            _option("--json-report", "json_file", metavar="FILE", type=path, help="Write it to this file as JSON."),
        )
    ):
        function = decorate(function)
    return option(
        "--format",
        type=click.Choice(["text", "github"]),
        default="text",
        show_default=True,
        help="Print what is wrong as text, or on stdout as annotations of GitHub Actions.",
    )(function)


def _option(*names: str, **more: Any) -> Callable[[Decorated], Decorated]:
    made: Callable[[Decorated], Decorated] = click.option(*names, allow_from_autoenv=False, **more)
    return made
