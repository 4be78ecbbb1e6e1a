"""What is wrong with a scenario, in a file or in a text: errors, and what loads and has no effect."""

import re
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Final

import msgspec

from simulator.scenario.build import attempt
from simulator.scenario.client_files import ClientFiles
from simulator.scenario.lint.findings import lint
from simulator.scenario.reading.document import Document, Problem, Report, ScenarioError
from simulator.scenario.reading.sources import lack, read_file, read_text

BODY = "body"
"""How problems name a text that is in no file."""

_BELOW: Final = "text.yaml"
_QUOTED: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"\\]|\\.)*\"""")
_PLAIN: Final = re.compile(r"[^,:#\[\]{}\s](?:[^,:#\[\]{}\n]|:(?=\S)|(?<=\S)#)*")


class Checked(msgspec.Struct, frozen=True):
    """All problems of a scenario in their order. It loads when none of them is an error."""

    problems: tuple[Problem, ...]
    errors: frozenset[Problem]


def check_file(path: FilePath) -> Checked:
    """The problems of a scenario file."""
    return _checked(lambda: read_file(path), path.stem)


def check_text(text: bytes, files: ClientFiles | None, below: str = "") -> Checked:
    """The problems of a text that is in no file, named `BODY`. What it extends is among `files`, in the folder `below`
    that of `--scenarios`. Raises `Unreadable` for the name of a folder that leads elsewhere."""
    folder = None if files is None else files.reading()
    if folder is not None and below:
        folder = folder.of(f"{below}/{_BELOW}")
    return _checked(lambda: read_text(text, BODY, folder), "inline")


def _checked(read: Callable[[], Document], name: str) -> Checked:
    try:
        document = read()
    except ScenarioError as error:
        return Checked(error.problems, frozenset(error.problems))
    scenario, found = attempt(document, name)
    errors = frozenset(found)
    report = Report([*filter(None, [lack(document)]), *found])
    lint(document, report, scenario)
    return Checked(tuple(report.problems()), errors)


def end_column(line: str, column: int) -> int | None:
    """Where the key or value ends that begins at this column of a line, columns counted from 1 and the end not
    included; None when nothing ends on this line."""
    found = _QUOTED.match(line, column - 1) or _PLAIN.match(line, column - 1)
    return column + len(found[0].rstrip()) if found else None
