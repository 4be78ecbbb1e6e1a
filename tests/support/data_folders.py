"""Applications whose sandboxes are kept in a folder, and the state that they report before and after a kill."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from simulator.app import App
from simulator.cli.server import ignored_flags
from simulator.persistence.data_folder import DataFolder
from simulator.persistence.keeper import StoreKeeper
from simulator.persistence.snapshot_schedule import SnapshotSchedule
from simulator.runtime.sandboxes import DEFAULT as DEFAULT_ID
from tests.support.client import Client, Response, running
from tests.support.stores import as_killed
from tests.support.taped_plays import FIRST

DEFAULT = "/sandboxes/default"
TOLD: list[str] = []
LISTS = ["clock", "due", "rules", "resellers", "requests", "transactions", "ledger", "callbacks", "marks"]
UNTOLD = re.compile(rb'"duration_us":[^,}]*|"receivers":\[[^]]*|"place":(null|\{[^}]*\}+)')


def told(client: Client, sandbox: str = "default") -> dict[str, bytes]:
    """Return the answers of the control API about a sandbox, without measurements and the places of rules."""
    return {name: UNTOLD.sub(b"", client.sim("GET", f"/sandboxes/{sandbox}/{name}").body) for name in LISTS}


@contextmanager
def serving(
    folder: Path,
    scenario: Any = FIRST,
    wall: Callable[[], datetime] | None = None,
    *,
    names: bool = False,
    **options: Any,
) -> Iterator[Client]:
    """A client of an application whose sandboxes are kept in a folder; with `names` the user has named the scenario."""
    kept = DataFolder(folder, "process", lambda error: pytest.fail(str(error)), TOLD.append)
    TOLD.clear()

    def keep(app: App) -> None:
        kept.keep(app, follows=app.options.scenario if names else "")
        if DEFAULT_ID in kept.sandboxes and (line := ignored_flags(app, folder, follows_scenario=names)):
            TOLD.append(line)

    try:
        with running(scenario, wall, keep, **options) as client:
            yield client
    finally:
        kept.close()


def folder_of(client: Client) -> DataFolder:
    """The folder of an application."""
    assert isinstance(client.app.store, DataFolder)
    return client.app.store


def saving_of(client: Client) -> SnapshotSchedule:
    """Return the schedule of an application's snapshots."""
    assert isinstance(client.app.store, DataFolder)
    found = client.app.store._schedule
    assert found is not None
    return found


def killed(client: Client, tmp_path: Path) -> Path:
    """A copy of the folder as the end of the process would leave it now."""
    assert isinstance(client.app.store, DataFolder)
    client.run(client.app.store.gate.until_durable())
    return as_killed(client.app.store.path, tmp_path / "killed")


class Held:
    """Suspends the first call of a keeper's method until the test resumes it: before the method runs, or after it with
    `is_behind`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, *, is_behind: bool = False) -> None:
        self._is_there, self._may_go = asyncio.Event(), asyncio.Event()
        self._is_behind = is_behind
        method = getattr(StoreKeeper, name)

        async def held(*arguments: Any) -> Any:
            return await self._hold(method(*arguments))

        monkeypatch.setattr(StoreKeeper, name, held)

    async def _hold(self, work: Awaitable[Any]) -> Any:
        is_first = not self._is_there.is_set()
        result = await work if self._is_behind else None
        if is_first:
            self._is_there.set()
            await self._may_go.wait()
        return result if self._is_behind else await work

    async def meeting(self, slow: Awaitable[Response], meanwhile: Callable[[], Awaitable[object]]) -> Response:
        """Return the answer to a request, and run `meanwhile` while the request is suspended."""
        answer = asyncio.ensure_future(slow)
        await self._is_there.wait()
        await meanwhile()
        self._may_go.set()
        return await answer
