"""The interface of this package: loads scenarios by name, path or object, and checks them.

`app` and the verbs call `load_scenario`; the control API calls `scenario_from_object`, `scenario_from_text` and
`scenario_in`; checks call `check_file` and `check_text`. Each of these reads a `Document` with the positions of its
values, merged with what it extends (`reading`), and builds the `Scenario` (`build`). A check also looks for rules
without effect (`lint`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from os.path import exists
from pathlib import Path as FilePath
from typing import Any, Final

import msgspec

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.rules import ScenarioOrigin
from simulator.domain.model.scenario import Scenario
from simulator.scenario.build import attempt, build, encoded
from simulator.scenario.client_files import ClientFiles
from simulator.scenario.lint.linter import lint
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import Document, Problem, ScenarioError
from simulator.scenario.reading.scenario_files import (
    Fingerprint,
    ScenarioFolder,
    bundled_of_file,
    fingerprint,
    hint,
    is_path,
)
from simulator.scenario.reading.scenario_files import bundled_path as bundled_path
from simulator.scenario.reading.scenario_files import names as names
from simulator.scenario.reading.sources import lack, read_bundled, read_file, read_in, read_text, resolved
from simulator.scenario.reading.yaml_parser import file_text, load_object

BODY = "body"
"""The source that problems show for a text without a file."""

_BELOW: Final = "text.yaml"
_QUOTED: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"\\]|\\.)*\"""")
_PLAIN: Final = re.compile(r"[^,:#\[\]{}\s](?:[^,:#\[\]{}\n]|:(?=\S)|(?<=\S)#)*")


class CheckResult(msgspec.Struct, frozen=True):
    """The problems of a scenario in their order. The scenario loads when none of them is an error."""

    problems: tuple[Problem, ...]
    errors: frozenset[Problem]


def check_file(path: FilePath) -> CheckResult:
    """Return the problems of a scenario file."""
    if not is_path(str(path)) and not exists(path):
        advice = "; bundled scenarios such as this one need no check" if path.name in names() else ""
        text = f"there is no such file{advice or suggestion(path.name, names())}"
        problem = Problem(str(path), 1, 1, "", "no_file", text)
        return CheckResult((problem,), frozenset({problem}))
    return _checked(lambda: read_file(path), path.stem)


def check_text(text: bytes, files: ClientFiles | None, below: str = "") -> CheckResult:
    """Return the problems of a text without a file, named `BODY`. `extends` refers to `files`, relative to the folder
    `below` in the folder of `--scenarios`. Raises `Unreadable` if `below` leads outside."""
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
    return CheckResult(tuple(lint(document, [*filter(None, [lack(document)]), *found], scenario)), errors)


def end_column(line: str, column: int) -> int | None:
    """Return the column after the key or value that begins at this column of a line, counted from 1; None when no key
    or value ends on this line."""
    found = _QUOTED.match(line, column - 1) or _PLAIN.match(line, column - 1)
    return column + len(found[0].rstrip()) if found else None


def load_scenario(wanted: str | FilePath, *, needs_resellers: bool = False) -> Scenario:
    """Load a bundled scenario by name, or a scenario from a file. Raises `ScenarioError`, with `needs_resellers` also
    for a file that neither has nor inherits resellers.

    Bundled scenarios are cached and shared, catalog included, until a bundled file changes.
    """
    if _is_bundled(wanted):
        return _bundled(str(wanted), fingerprint())
    path = _file(wanted, "there is no bundled scenario and no file")
    document = read_file(path)
    scenario = build(document, path.stem, ScenarioOrigin("file", path.name if is_path(path.name) else f"./{path.name}"))
    if needs_resellers and (lacking := lack(document)) is not None:
        raise ScenarioError([lacking])
    return scenario


def scenario_from_object(value: object, files: ClientFiles | None = None) -> Scenario:
    """Return the scenario of an object of the control API, which may extend `files`. Raises `ScenarioError`, and the
    errors of `ClientFiles.scenario`."""

    def load(folder: ScenarioFolder | None) -> Scenario:
        return build(resolved(load_object(value), folder), "inline")

    return load(None) if files is None else files.scenario(b"object " + encoded(value), load)


def scenario_from_text(text: bytes, files: ClientFiles | None = None) -> Scenario:
    """Return the scenario of YAML sent to the control API; errors as in `scenario_from_object`."""

    def load(folder: ScenarioFolder | None) -> Scenario:
        return build(read_text(text, BODY, folder), "inline")

    return load(None) if files is None else files.scenario(b"text " + text, load)


def scenario_in(files: ClientFiles, name: str) -> Scenario:
    """Return the scenario of a file of the folder. Raises `ScenarioError`, the errors of `ClientFiles.scenario`, and
    `Unreadable` for a file that cannot be read."""

    def load(folder: ScenarioFolder) -> Scenario:
        return build(read_in(folder, name), FilePath(name).stem, ScenarioOrigin("folder", name))

    return files.scenario(b"file " + name.encode("utf-8", "surrogatepass"), load)


def problems(path: FilePath) -> list[Problem]:
    """Return all errors and lint findings of a scenario file."""
    return list(check_file(path).problems)


def descriptions() -> dict[str, str]:
    """Return a one-line description for each bundled scenario."""
    return {name: load_scenario(name).description for name in names()}


def text(wanted: str) -> str:
    """Return the unchanged YAML of a bundled scenario or of a file. Raises `ScenarioError`."""
    if _is_bundled(wanted):
        return bundled_path(wanted).read_text("utf-8")
    return file_text(_file(wanted, "there is no bundled scenario"))


def _is_bundled(wanted: str | FilePath) -> bool:
    return isinstance(wanted, str) and not is_path(wanted) and wanted in names()


def _file(wanted: str | FilePath, absent: str) -> FilePath:
    """Return the file of this path. Raises `ScenarioError` for a text that looks like a name, without such a file."""
    path = FilePath(wanted)
    if isinstance(wanted, str) and not exists(path):
        if not is_path(wanted):
            raise ScenarioError([Problem(wanted, 0, 0, "", "unknown_scenario", f"{absent} {wanted!r}{hint(wanted)}")])
        if meant := bundled_of_file(wanted):
            raise ScenarioError([Problem(wanted, 0, 0, "", "no_file", f"there is no such file{meant}")])
    return path


@lru_cache(maxsize=64)
def _bundled(name: str, current: Fingerprint) -> Scenario:
    return build(read_bundled(name), name, ScenarioOrigin("bundled", name))


METHOD = "POST"


def with_callback(scenario: Scenario, url: str) -> Scenario:
    """Return the scenario and its document with the callbacks of all resellers sent to `url` by POST."""
    callback = CallbackConfig(url, METHOD)
    resellers = tuple(msgspec.structs.replace(reseller, callback=callback) for reseller in scenario.resellers)
    return replace(scenario, resellers=resellers, written=partial(_written, scenario.written, url))


def _written(written: Callable[[], Mapping[str, Any]], url: str) -> Mapping[str, Any]:
    document = written()
    callback = {"url": url, "method": METHOD}
    return {**document, "resellers": [{**reseller, "callback": callback} for reseller in document.get("resellers", ())]}
