"""Writes observed traffic as a scenario: every minute while it changes, and at the end."""

import asyncio
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Final, Protocol

from simulator.runtime.background import in_background
from simulator.runtime.operations import report
from simulator.staging.proxy.log import seen_size
from simulator.staging.proxy.messages import IN_FLIGHT_BYTES_MAX
from simulator.staging.proxy.secrets import SeenSecrets, without_secrets
from simulator.wire.traffic import Call, Notification

EVERY_S: Final = 60.0


class UnusableScenario(Exception):
    """The text is no scenario that `check` accepts; the error says why."""


class Records(Protocol):
    """Makes a scenario of traffic, in a single thread outside the event loop."""

    def note_call(self, call: Call) -> None: ...
    def note_notification(self, notification: Notification) -> None: ...
    def scenario_text(self) -> str: ...


class Recording:
    """Feeds `recorder` outside the event loop, and periodically replaces the file `path` with its scenario through
    `write`. `complain` gets a line after `OSError` or `UnusableScenario`; the file then stays unchanged."""

    def __init__(
        self,
        recorder: Records,
        path: Path,
        secrets: SeenSecrets,
        write: Callable[[Path, str], None],
        complain: Callable[[str], None],
        every_s: float = EVERY_S,
    ) -> None:
        self.left_out = 0
        self._recorder, self._path, self._secrets, self._complain = recorder, path, secrets, complain
        self._replace, self._every_s = write, every_s
        self._waiting: list[Call | Notification] = []
        self._waiting_bytes = 0
        self._task: asyncio.Task[None] | None = None

    def note(self, message: Call | Notification) -> None:
        """Queue a message; it is left out if the queue is full."""
        size = seen_size(message)
        if self._waiting_bytes + size > IN_FLIGHT_BYTES_MAX:
            self.left_out += 1
            return
        self._waiting.append(message)
        self._waiting_bytes += size

    def start(self) -> None:
        """Start writing periodically; needs a running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._write_for_ever())

    async def end(self) -> None:
        """Write for the last time."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._write()
        if self.left_out:
            self._complain(f"{self.left_out} messages came too fast and are not in {self._path}")

    async def _write_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            if self._waiting:
                await self._write()

    async def _write(self) -> None:
        batch, self._waiting, self._waiting_bytes = self._waiting, [], 0
        try:
            await asyncio.shield(in_background(self._make, batch))
        except OSError as error:
            self._complain(f"{self._path} cannot be written: {error.strerror or error}")
        except UnusableScenario as problem:
            self._complain(f"{self._path} was not written, it would be no usable scenario: {problem}")
        except Exception as mistake:
            self._complain(f"{self._path} was not written: {report(mistake, 'recording')}")

    def _make(self, batch: list[Call | Notification]) -> None:
        for raw in sorted(batch, key=attrgetter("at")):  # the messages arrived in the order of their ends
            message = without_secrets(raw, self._secrets.secrets)
            if isinstance(message, Call):
                self._recorder.note_call(message)
            else:
                self._recorder.note_notification(message)
        self._replace(self._path, self._recorder.scenario_text())
