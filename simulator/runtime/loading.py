"""Switches a running sandbox to another scenario."""

from simulator.domain.commands import LoadScenario
from simulator.domain.model.scenario import Scenario
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.compiler import COMPILER


async def load(live: LiveSandbox, scenario: Scenario) -> tuple[str, ...]:
    """Switch to another scenario, also for later resets. Answers one line for each part that requires a reset.

    It waits for what is overdue. Raises `Conflict` before any change, also when the sandbox is reset meanwhile. Not for
    a sandbox with credentials of its own.
    """
    assert not live.spec.unique_credentials
    COMPILER.remember(scenario)
    deferred: tuple[str, ...] = await live.submit(LoadScenario(scenario.name, scenario.document))
    live.follow(scenario)
    return deferred
