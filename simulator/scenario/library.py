"""Loads scenarios by name, path or object, and checks them: the interface of this package."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path as FilePath
from typing import Any, Final

import msgspec

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.rules import Origin
from simulator.domain.model.scenario import Scenario
from simulator.scenario.build import attempt, build, encoded
from simulator.scenario.client_files import ClientFiles
from simulator.scenario.lint.findings import lint
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Document, Problem, Report, ScenarioError
from simulator.scenario.reading.files import (
    Fingerprint,
    Folder,
    bundled_of_file,
    bundled_path,
    fingerprint,
    hint,
    is_file,
    is_path,
    names,
)
from simulator.scenario.reading.load import file_text, load_object
from simulator.scenario.reading.sources import lack, read_bundled, read_file, read_in, read_text, resolved

BODY = "body"
"""How problems name a text that is in no file."""

_BELOW: Final = "text.yaml"
_QUOTED: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"\\]|\\.)*\"""")
_PLAIN: Final = re.compile(r"[^,:#\[\]{}\s](?:[^,:#\[\]{}\n]|:(?=\S)|(?<=\S)#)*")


class CheckResult(msgspec.Struct, frozen=True):
    """All problems of a scenario in their order. It loads when none of them is an error."""

    problems: tuple[Problem, ...]
    errors: frozenset[Problem]


def check_file(path: FilePath) -> CheckResult:
    """The problems of a scenario file."""
    if not is_path(str(path)) and not is_file(path):
        advice = "; bundled scenarios such as this one need no check" if path.name in names() else ""
        text = f"there is no such file{advice or suggestion(path.name, names())}"
        problem = Problem(str(path), 1, 1, "", "no_file", text)
        return CheckResult((problem,), frozenset({problem}))
    return _checked(lambda: read_file(path), path.stem)


def check_text(text: bytes, files: ClientFiles | None, below: str = "") -> CheckResult:
    """The problems of a text that is in no file, named `BODY`. What it extends is among `files`, in the folder `below`
    that of `--scenarios`. Raises `Unreadable` for the name of a folder that leads elsewhere."""
    folder = None if files is None else files.reading()
    if folder is not None and below:
        folder = folder.of(f"{below}/{_BELOW}")
    return _checked(lambda: read_text(text, BODY, folder), "inline")


def _checked(read: Callable[[], Document], name: str) -> CheckResult:
    try:
        document = read()
    except ScenarioError as error:
        return CheckResult(error.problems, frozenset(error.problems))
    scenario, found = attempt(document, name)
    errors = frozenset(found)
    report = Report([*filter(None, [lack(document)]), *found])
    lint(document, report, scenario)
    return CheckResult(tuple(report.problems()), errors)


def end_column(line: str, column: int) -> int | None:
    """Where the key or value ends that begins at this column of a line, columns counted from 1 and the end not
    included; None when nothing ends on this line."""
    found = _QUOTED.match(line, column - 1) or _PLAIN.match(line, column - 1)
    return column + len(found[0].rstrip()) if found else None


__all__ = [
    "BODY",
    "bundled_path",
    "descriptions",
    "load_scenario",
    "merged",
    "names",
    "problems",
    "scenario_from_object",
    "scenario_from_text",
    "scenario_in",
    "text",
]


def load_scenario(wanted: str | FilePath, *, needs_resellers: bool = False) -> Scenario:
    """Load a bundled scenario by name, or one from a file. Raises `ScenarioError`, with `needs_resellers` also for a
    file that neither has nor inherits any.

    Bundled ones are cached and shared, catalog included, until a bundled file changes.
    """
    if _is_bundled(wanted):
        return _bundled(str(wanted), fingerprint())
    path = _file(wanted, "there is no bundled scenario and no file")
    document = read_file(path)
    scenario = build(document, path.stem, Origin("file", path.name if is_path(path.name) else f"./{path.name}"))
    if needs_resellers and (lacking := lack(document)) is not None:
        raise ScenarioError([lacking])
    return scenario


def merged(wanted: str | FilePath) -> object:
    """What such a scenario says with all that it extends, as plain values. Raises `ScenarioError`."""
    if _is_bundled(wanted):
        return read_bundled(str(wanted)).data
    return read_file(_file(wanted, "there is no bundled scenario and no file")).data


def scenario_from_object(value: object, files: ClientFiles | None = None) -> Scenario:
    """A scenario from an object of the control API; it may name `files`. Raises `ScenarioError`, and what
    `ClientFiles.scenario` raises."""

    def load(folder: Folder | None) -> Scenario:
        return build(resolved(load_object(value), folder), "inline")

    return load(None) if files is None else files.scenario(b"object " + encoded(value), load)


def scenario_from_text(text: bytes, files: ClientFiles | None = None) -> Scenario:
    """The same from YAML sent to the control API."""

    def load(folder: Folder | None) -> Scenario:
        return build(read_text(text, BODY, folder), "inline")

    return load(None) if files is None else files.scenario(b"text " + text, load)


def scenario_in(files: ClientFiles, name: str) -> Scenario:
    """The scenario in one of these files. Raises `ScenarioError`, what `ClientFiles.scenario` raises, and `Unreadable`
    for a file that cannot be read at all."""

    def load(folder: Folder) -> Scenario:
        return build(read_in(folder, name), FilePath(name).stem, Origin("folder", name))

    return files.scenario(b"file " + name.encode("utf-8", "surrogatepass"), load)


def problems(path: FilePath) -> list[Problem]:
    """All errors and lint findings of a scenario file; empty when there are none."""
    return list(check_file(path).problems)


def descriptions() -> dict[str, str]:
    """The bundled scenarios with a line each."""
    return {name: load_scenario(name).description for name in names()}


def text(wanted: str) -> str:
    """The YAML of a bundled scenario or of a file, as it is. Raises `ScenarioError`."""
    if _is_bundled(wanted):
        return bundled_path(wanted).read_text("utf-8")
    return file_text(_file(wanted, "there is no bundled scenario"))


def _is_bundled(wanted: str | FilePath) -> bool:
    return isinstance(wanted, str) and not is_path(wanted) and wanted in names()


def _file(wanted: str | FilePath, absent: str) -> FilePath:
    """The file of this path. Raises `ScenarioError` for what looks like a name and is no file."""
    path = FilePath(wanted)
    if isinstance(wanted, str) and not is_file(path):
        if not is_path(wanted):
            raise ScenarioError([Problem(wanted, 0, 0, "", "unknown_scenario", f"{absent} {wanted!r}{hint(wanted)}")])
        if meant := bundled_of_file(wanted):
            raise ScenarioError([Problem(wanted, 0, 0, "", "no_file", f"there is no such file{meant}")])
    return path


@lru_cache(maxsize=64)
def _bundled(name: str, current: Fingerprint) -> Scenario:
    return build(read_bundled(name), name, Origin("bundled", name))


METHOD = "POST"


def with_callback(scenario: Scenario, url: str) -> Scenario:
    """The scenario with the callbacks of all its resellers sent to `url` by POST; its document says so, too."""
    callback = CallbackConfig(url, METHOD)
    resellers = tuple(msgspec.structs.replace(one, callback=callback) for one in scenario.resellers)
    return replace(scenario, resellers=resellers, written=partial(_written, scenario.written, url))


def _written(written: Callable[[], Mapping[str, Any]], url: str) -> Mapping[str, Any]:
    document = written()
    callback = {"url": url, "method": METHOD}
    return {**document, "resellers": [{**one, "callback": callback} for one in document.get("resellers", ())]}
