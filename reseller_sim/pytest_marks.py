"""What the sandbox of a test begins with: its marks, the ini file, and defaults."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pytest

SUFFIXES = (".yaml", ".yml")
EXAMPLE = '@pytest.mark.scenario("bad-day", clock="x60")'


@dataclass(frozen=True)
class Settings:
    """`scenario` is as `Simulator.sandbox` takes it, a file with its whole path; None is the server's own. With `audit`
    false, --reseller-sim-audit and `reseller-sim exec --audit` pass the test over."""

    scenario: str | Path | Mapping[str, Any] | None = None
    clock: str | None = "manual"
    start: Any = None
    seed: int | None = None
    credentials: str | None = None
    audit: bool = True
    problem: str = field(default="", compare=False)
    """Why the marks cannot be followed, for whoever wrote them."""


NAMES = tuple(one.name for one in fields(Settings) if one.name != "problem")


def settings_of(item: pytest.Item) -> Settings:
    """The settings of a test: each argument is that of the closest mark that has it, otherwise the ini file's."""
    found: dict[str, Any] = {}
    for mark in item.iter_markers("scenario"):
        if problem := _problem(mark):
            return Settings(problem=problem)
        arguments = dict(mark.kwargs)
        if mark.args:
            arguments["scenario"] = mark.args[0]
        found = arguments | found
    beside = item.path.parent
    if "scenario" not in found and (name := item.config.getini("reseller_sim_scenario")):
        found["scenario"], beside = name, item.config.rootpath
    found.setdefault("clock", item.config.getini("reseller_sim_clock"))
    return _with_file(found, [beside, item.config.rootpath])


def _problem(mark: pytest.Mark) -> str:
    if len(mark.args) > 1:
        return f"@pytest.mark.scenario takes one scenario, not {len(mark.args)}: {EXAMPLE}"
    if mark.args and "scenario" in mark.kwargs:
        return f"@pytest.mark.scenario names the scenario twice: {EXAMPLE}"
    for name in mark.kwargs:
        if name not in NAMES:
            near = get_close_matches(name, NAMES, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(NAMES)}"
            return f"@pytest.mark.scenario has no argument {name!r}: {meant}"
    scenario = mark.args[0] if mark.args else mark.kwargs.get("scenario")
    if scenario is not None and not isinstance(scenario, str | Path | Mapping):
        kind = type(scenario).__name__
        return f"@pytest.mark.scenario takes a name, a file, YAML text or a mapping, not {kind}: {EXAMPLE}"
    return ""


def _with_file(found: dict[str, Any], folders: list[Path]) -> Settings:
    """A scenario that is named as files are is looked for in these folders."""
    named = found.get("scenario")
    if not _is_file_name(named):
        return Settings(**found)
    places = list(dict.fromkeys((folder / str(named)).resolve() for folder in folders))
    there = next((place for place in places if place.is_file()), None)
    if there is None:
        looked = " and ".join(map(str, places))
        return Settings(problem=f"@pytest.mark.scenario: there is no file {named}; looked for {looked}")
    return Settings(**(found | {"scenario": there}))


def _is_file_name(named: object) -> bool:
    if isinstance(named, Path):
        return True
    return isinstance(named, str) and named.endswith(SUFFIXES) and re.search(r"[\n{]", named) is None
