"""What the sandbox of a test begins with: its marks, the ini file, and defaults."""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from reseller_sim.arguments import checked
from reseller_sim.likeness import likeness
from reseller_sim.parameters import Clock, Credentials, Name, Scenario

SUFFIXES = (".yaml", ".yml")
MARK = "scenario"
EXAMPLE = '@pytest.mark.scenario("bad-day", clock="x60")'
MISSPELT_MIN = 0.8


@checked
@dataclass(frozen=True)
class Settings:
    """`scenario` is as `Simulator.sandbox` takes it, a file with its whole path; None is the server's own. With `audit`
    false, --reseller-sim-audit and `reseller-sim exec --audit` pass the test over."""

    scenario: Scenario | None = None
    clock: Clock | None = "manual"
    start: Name | datetime | None = None
    seed: int | None = None
    credentials: Credentials | None = None
    audit: bool = True


class BadMark(Exception):
    """The marks of a test cannot be followed; the text is for their author."""


def settings_of(item: pytest.Item) -> Settings:
    """The settings of a test: each argument is that of the closest mark that has it, otherwise the ini file's. Raises
    `BadMark`."""
    found: dict[str, Any] = {}
    _refuse_misspelt(item)
    for mark in item.iter_markers(MARK):
        found = _arguments(mark) | found
    beside = item.path.parent
    if "scenario" not in found and (name := item.config.getini("reseller_sim_scenario")):
        found["scenario"], beside = name, item.config.rootpath
    if "clock" not in found:
        found["clock"] = _checked(
            "reseller_sim_clock of the ini file", clock=item.config.getini("reseller_sim_clock")
        ).clock
    return _with_file(found, [beside, item.config.rootpath])


def refuse_unused(item: pytest.Item) -> None:
    """Fail a test whose own mark says what a sandbox begins with, and which has none. A mark of its class may be meant
    for others."""
    if any(mark.name == MARK for mark in item.own_markers):
        how = 'use the fixture sandbox, or reseller_sim.sandbox("bad-day") without the mark'
        pytest.fail(f"reseller-sim: @pytest.mark.{MARK} changes nothing in this test: {how}", pytrace=False)


def _refuse_misspelt(item: pytest.Item) -> None:
    known = {line.partition(":")[0].partition("(")[0].strip() for line in item.config.getini("markers")}
    for mark in item.iter_markers():
        if mark.name not in known and likeness(mark.name.lower(), MARK) >= MISSPELT_MIN:
            raise BadMark(f"there is no mark {mark.name!r}: did you mean {EXAMPLE}?")


def _arguments(mark: pytest.Mark) -> dict[str, Any]:
    """What a mark says. Raises `BadMark`."""
    if len(mark.args) > 1:
        raise BadMark(f"@pytest.mark.scenario takes one scenario, not {len(mark.args)}: {EXAMPLE}")
    _checked("@pytest.mark.scenario", *mark.args, **mark.kwargs)
    return dict(zip([MARK], mark.args, strict=False)) | dict(mark.kwargs)


def _checked(who: str, /, *args: Any, **kwargs: Any) -> Settings:
    try:
        return Settings(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise BadMark(f"{who}{str(error).removeprefix('Settings()')}") from None


def _with_file(found: dict[str, Any], folders: list[Path]) -> Settings:
    """A scenario that is named as files are is looked for in these folders. Raises `BadMark`."""
    named = found.get("scenario")
    if not _is_file_name(named):
        return Settings(**found)
    places = list(dict.fromkeys((folder / str(named)).resolve() for folder in folders))
    there = next((place for place in places if place.is_file()), None)
    if there is None:
        looked = " and ".join(map(str, places))
        raise BadMark(f"@pytest.mark.scenario: there is no file {named}; looked for {looked}")
    return Settings(**(found | {"scenario": there}))


def _is_file_name(named: object) -> bool:
    if isinstance(named, Path):
        return True
    return isinstance(named, str) and named.endswith(SUFFIXES) and re.search(r"[\n{]", named) is None
