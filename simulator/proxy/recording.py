"""Writes what was seen as a scenario: every minute while something changed, and at the end."""

import asyncio
import os
import tempfile
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Final, Protocol

from simulator.proxy.log import seen_size
from simulator.proxy.secrets import SeenSecrets
from simulator.runtime.background import in_background
from simulator.runtime.unexpected import report
from simulator.traffic.seen import Call, Notification
from simulator.wire.secrets import hidden

EVERY_S: Final = 60.0
WAITING_BYTES_MAX: Final = 128 * 1024 * 1024


class Records(Protocol):
    """What makes a scenario of traffic. It is used in one thread, which is not the event loop's."""

    def note_call(self, call: Call) -> None: ...
    def note_notification(self, one: Notification) -> None: ...
    def scenario_text(self) -> str: ...


class Recording:
    """Feeds `recorder` beside the event loop, and writes what it makes to `path`. `complain` gets a line when that
    fails."""

    def __init__(
        self,
        recorder: Records,
        path: Path,
        secrets: SeenSecrets,
        complain: Callable[[str], None],
        every_s: float = EVERY_S,
    ) -> None:
        self.left_out = 0
        self._recorder, self._path, self._secrets, self._complain = recorder, path, secrets, complain
        self._every_s = every_s
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
        except Exception as mistake:
            self._complain(f"{self._path} was not written: {report(mistake, 'recording')}")

    def _make(self, batch: list[Call | Notification]) -> None:
        for one in sorted(batch, key=attrgetter("at")):  # they came in the order of their ends
            if isinstance(one, Call):
                self._recorder.note_call(one)
            else:
                self._recorder.note_notification(one)
        write_whole(self._path, hidden(self._recorder.scenario_text(), self._secrets.secrets))


def write_whole(path: Path, text: str) -> None:
    """Replace a file by one that is complete at once. Raises `OSError`."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, _mode_of(path))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        return 0o644
