"""Watchers see each submission of the control API as an action."""

import re
from typing import Any

import pytest

from simulator.domain import commands
from simulator.runtime.command_log import ACTIONS
from tests.support.processes import ROOT

SUBMITTED = sorted(
    name
    for path in (ROOT / "simulator" / "control").glob("*.py")
    for name in re.findall(r"\b([A-Z][A-Za-z]+)\(", path.read_text("utf-8"))
    if isinstance(each := getattr(commands, name, None), type) and issubclass(each, commands.Command)
)


@pytest.mark.parametrize("name", SUBMITTED)
def test_each_command_of_the_control_api_has_the_name_of_an_action(name: str) -> None:
    command: Any = getattr(commands, name)
    assert command in ACTIONS


def test_the_commands_are_found() -> None:
    assert {"AddRule", "Credit", "SendCallback"} <= set(SUBMITTED)
