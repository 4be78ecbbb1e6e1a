"""Watches a scenario's files: after a change, the scenario is read again and passed on if it is valid."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from simulator.domain.commands import LoadScenario
from simulator.domain.errors import DomainError
from simulator.domain.model.scenario import Scenario
from simulator.runtime.background import in_background
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.operations import report
from simulator.scenario.build import COMPILER
from simulator.scenario.library import load_scenario
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.sources import files_behind

POLL_INTERVAL_S = 0.1

Stamps = dict[Path, tuple[int, int] | None]


class ScenarioWatch:
    """Watches the files of `wanted`, a path or a bundled name, from its creation on.

    `load` receives each valid scenario; the lines that it returns, and any problems, are passed to `report`.
    """

    def __init__(
        self, wanted: str, load: Callable[[Scenario], Awaitable[tuple[str, ...]]], report: Callable[[list[str]], None]
    ) -> None:
        self._wanted = wanted
        self._load = load
        self._report = report
        self._acted_on = self._seen = self._stamps(files_behind(wanted))

    def start(self) -> None:
        """Start polling; needs a running event loop, and ends with it."""
        self._polling = asyncio.get_running_loop().create_task(self._poll_for_ever())

    async def _poll_for_ever(self) -> None:
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            try:
                await self.poll()
            except Exception as error:  # our mistake: the next change gets another chance
                what = report(error, "a reload")
                self._report([f"{self._wanted}: not loaded; a mistake of the simulator, please report it: {what}"])

    async def poll(self) -> None:
        """Compare the files with their previous state, and act when a change is stable."""
        now = self._stamps(list(self._seen))
        has_settled, self._seen = now == self._seen, now
        if has_settled and now != self._acted_on:
            self._acted_on = now  # even if the next step fails: each change is handled once
            # Stamps from before the read: a file saved meanwhile is detected by the next poll.
            self._acted_on = self._seen = self._stamps(await in_background(files_behind, self._wanted))
            self._report(await self._read())

    async def _read(self) -> list[str]:
        try:
            waiting = await self._load(await in_background(load_scenario, self._wanted, needs_resellers=True))
        except ScenarioError as error:
            return [*map(str, error.problems), f"{self._wanted}: not loaded; the previous scenario stays active"]
        except DomainError as error:
            return [f"{self._wanted}: not loaded; the previous scenario stays active: {error.message}"]
        return [f"{self._wanted}: loaded", *(f"{self._wanted}: {line}" for line in waiting)]

    @staticmethod
    def _stamps(files: list[Path]) -> Stamps:
        return {path: _stamp(path) for path in files}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


async def switch_scenario(live: LiveSandbox, scenario: Scenario) -> tuple[str, ...]:
    """Switch to another scenario, also for later resets. Return a line for each part that requires a reset.

    It waits for overdue items. Raises `Conflict` before any change, also when the sandbox is reset meanwhile. Not for a
    sandbox with credentials of its own.
    """
    assert not live.spec.unique_credentials
    COMPILER.remember(scenario)
    deferred: tuple[str, ...] = await live.settle_and_apply(LoadScenario(scenario.name, scenario.document))
    live.follow(scenario)
    return deferred
