"""Loads scenarios by name, path or object: the interface of this package."""

from functools import lru_cache
from pathlib import Path as FilePath

from simulator.domain.model.scenario import Scenario
from simulator.scenario.build import build
from simulator.scenario.lint.findings import lint
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Problem, Report, ScenarioError
from simulator.scenario.reading.load import load_object
from simulator.scenario.reading.sources import (
    Fingerprint,
    bundled_path,
    fingerprint,
    is_file,
    is_path,
    lack,
    names,
    read_bundled,
    read_file,
    resolved,
)

__all__ = ["bundled_path", "descriptions", "load_scenario", "names", "problems", "scenario_from_object", "text"]


def load_scenario(wanted: str | FilePath, *, needs_resellers: bool = False) -> Scenario:
    """Load a bundled scenario by name, or one from a file. Raises `ScenarioError`, with `needs_resellers` also for a
    file that neither has nor inherits any.

    Bundled ones are cached and shared, catalog included, until a bundled file changes.
    """
    if isinstance(wanted, str) and not is_path(wanted):
        if wanted in names():
            return _bundled(wanted, fingerprint())
        if not is_file(FilePath(wanted)):
            message = f"there is no bundled scenario and no file {wanted!r}{suggestion(wanted, names())}"
            raise ScenarioError([Problem(wanted, 0, 0, "", "unknown_scenario", message)])
    path = FilePath(wanted)
    document = read_file(path)
    scenario = build(document, path.stem)
    if needs_resellers and (lacking := lack(document)) is not None:
        raise ScenarioError([lacking])
    return scenario


def scenario_from_object(value: object) -> Scenario:
    """A scenario from an object of the control API. Raises `ScenarioError`."""
    return build(resolved(load_object(value), None), "inline")


def problems(path: FilePath) -> list[Problem]:
    """All errors and lint findings of a scenario file; empty when there are none."""
    try:
        document = read_file(path)
    except ScenarioError as error:
        return list(error.problems)
    scenario = None
    found: list[Problem] = []
    try:
        scenario = build(document, path.stem)
    except ScenarioError as error:
        found += error.problems
    else:
        found += filter(None, [lack(document)])
    report = Report(found)
    lint(document, report, scenario)
    return report.problems()


def descriptions() -> dict[str, str]:
    """The bundled scenarios with a line each."""
    return {name: load_scenario(name).description for name in names()}


def text(name: str) -> str:
    """The YAML of a bundled scenario. Raises `ScenarioError` for an unknown name."""
    if name not in names():
        hint = suggestion(name, names()) or f"; choose one of {', '.join(names())}"
        message = f"there is no bundled scenario {name!r}{hint}"
        raise ScenarioError([Problem(name, 0, 0, "", "unknown_scenario", message)])
    return bundled_path(name).read_text("utf-8")


@lru_cache(maxsize=64)
def _bundled(name: str, current: Fingerprint) -> Scenario:
    return build(read_bundled(name), name)
