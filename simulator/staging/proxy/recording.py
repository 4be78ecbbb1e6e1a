"""Writes what was seen as a scenario: every minute while something changed, and at the end."""

import asyncio
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Final, Protocol

from simulator.runtime.background import in_background
from simulator.runtime.operations import report
from simulator.staging.proxy.log import seen_size
from simulator.staging.proxy.secrets import SeenSecrets, without_secrets
from simulator.wire.traffic import Call, Notification

EVERY_S: Final = 60.0
WAITING_BYTES_MAX: Final = 128 * 1024 * 1024


Write = Callable[[Path, str], None]
"""Replaces a file as a whole, or raises."""


class Unusable(Exception):
    """The text is no scenario that `check` accepts; it says why."""


class Records(Protocol):
    """Makes a scenario of traffic. A single thread uses it, not the event loop's."""

    def note_call(self, call: Call) -> None: ...
    def note_notification(self, one: Notification) -> None: ...
    def scenario_text(self) -> str: ...


class Recording:
    """Feeds `recorder` beside the event loop, and lets `write` replace the file `path` by what it makes. `complain`
    gets a line when that fails: by `OSError`, or by `Unusable`; the file stays as it was."""

    def __init__(
        self,
        recorder: Records,
        path: Path,
        secrets: SeenSecrets,
        write: Write,
        complain: Callable[[str], None],
        every_s: float = EVERY_S,
    ) -> None:
        self.left_out = 0
        self._recorder, self._path, self._secrets, self._complain = recorder, path, secrets, complain
        self._replace, self._every_s = write, every_s
        self._waiting: list[Call | Notification] = []
        self._waiting_bytes = 0
        self._task: asyncio.Task[None] | None = None

    def note(self, one: Call | Notification) -> None:
        """Take one more message; one that finds too much waiting is left out."""
        size = seen_size(one)
        if self._waiting_bytes + size > WAITING_BYTES_MAX:
            self.left_out += 1
            return
        self._waiting.append(one)
        self._waiting_bytes += size

    def start(self) -> None:
        """Begin to write now and then; needs a running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._write_for_ever())

    async def end(self) -> None:
        """Write the last time."""
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
        except Unusable as problem:
            self._complain(f"{self._path} was not written, it would be no usable scenario: {problem}")
        except Exception as mistake:
            self._complain(f"{self._path} was not written: {report(mistake, 'recording')}")

    def _make(self, batch: list[Call | Notification]) -> None:
        for came in sorted(batch, key=attrgetter("at")):  # they came in the order of their ends
            one = without_secrets(came, self._secrets.secrets)
            if isinstance(one, Call):
                self._recorder.note_call(one)
            else:
                self._recorder.note_notification(one)
        self._replace(self._path, self._recorder.scenario_text())
