"""The commands that enter a sandbox, with their times, are all that its state depends on."""

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from simulator.domain.errors import DomainError
from simulator.domain.sandbox import Sandbox
from simulator.runtime.driver import ITEMS_PER_TURN_MAX
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.build import ScenarioCompiler
from tests.support.client import Client, running
from tests.support.command_lines import read, write
from tests.support.taped_plays import FIRST, PLAYS, parts, set_callback

Tape = list[tuple[bytes, datetime]]


@pytest.mark.slow
@pytest.mark.parametrize("share", [ITEMS_PER_TURN_MAX, 2])
@pytest.mark.parametrize("play", PLAYS)
def test_commands_that_are_read_back_lead_to_the_same_state(
    monkeypatch: pytest.MonkeyPatch, play: Callable[[Client], None], share: int
) -> None:
    tape: Tape = []
    apply = Sandbox.apply

    def recorded(box: Sandbox, command: Any, now: datetime) -> Any:
        assert sys._getframe(1).f_code is LiveSandbox.apply.__code__, "the one door"
        tape.append((write(command), now))
        return apply(box, command, now)

    with monkeypatch.context() as patched:
        patched.setattr(Sandbox, "apply", recorded)
        patched.setattr("simulator.runtime.driver.ITEMS_PER_TURN_MAX", share)
        with running(FIRST) as client:
            set_callback(client)
            started, seed, scenario = client.live.core.state.started, client.live.seed, client.live.scenario
            play(client)
            lived = parts(client.live.core)
    box = Sandbox(scenario, seed, started, "", ScenarioCompiler())
    for line, now in tape:
        try:
            box.apply(read(line), now)
        except DomainError:
            continue  # as it was refused before, after which only the time had passed
    assert parts(box) == lived
