"""The lines of `serve`: they wait for what keeps them, and for a disk that is full."""

import asyncio
import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TextIO, cast

import pytest

from simulator.cli import event_writer
from simulator.cli.event_writer import EventWriter
from simulator.persistence.errors import WriteFailed
from simulator.persistence.gate import Gate
from simulator.persistence.store import Store
from tests.support.client import Client, running
from tests.support.late_stores import LateStore

TURNS = 20  # of the event loop; all pending work happens in them


class Written:
    """A writer that writes at once and remembers it."""

    def __init__(self, stream: TextIO, tell: Callable[[str], None]) -> None:
        self.has_room, self.is_idle, self.is_broken = asyncio.Event(), threading.Event(), False
        self.has_room.set()
        self.is_idle.set()
        self.text = b""

    def write(self, data: bytes) -> None:
        self.text += data


class Shown:
    """An application whose lines are shown when the gate opens."""

    def __init__(self, client: Client) -> None:
        self.store = LateStore()
        self._client = client
        self._gate = Gate(cast(Store, self.store), lambda error: None)
        self.turns(self._begin)

    def _begin(self) -> None:
        self._gate.start()
        self.showing = EventWriter(self._client.app.sandboxes, StringIO(), as_json=False, gate=self._gate)

    def turns(self, act: Callable[[], object] = lambda: None) -> None:
        """Do something in the event loop, and let it do what follows from that."""

        async def done() -> None:
            act()
            for _ in range(TURNS):
                await asyncio.sleep(0)

        self._client.run(done())

    def ask(self) -> None:
        """A request that is not in the folder yet."""
        self._gate.note()
        self._client.call("GET", "/v2/balance")
        self.turns()

    @property
    def lines(self) -> int:
        """Return how many requests were written."""
        return cast(Written, self.showing._writer).text.count(b"/v2/balance")


@contextmanager
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    monkeypatch.setattr(event_writer, "Writer", Written)
    with running() as client:
        yield Shown(client)


def test_a_line_waits_until_its_event_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    with shown(monkeypatch) as made:
        made.ask()
        made.ask()
        assert made.lines == 0
        made.turns(lambda: made.store.requested[0](None))
        assert made.lines == 1
        made.turns(lambda: made.store.requested[1](None))
        assert made.lines == 2
        made.turns(made.showing.end)


def test_the_last_lines_are_written_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with shown(monkeypatch) as made:
        made.ask()
        made.ask()
        made.turns(made.showing.end)
        assert made.lines == 2


def test_events_that_cannot_be_stored_are_not_written_at_the_end_either(monkeypatch: pytest.MonkeyPatch) -> None:
    with shown(monkeypatch) as made:
        made.ask()
        made.turns(lambda: made.store.requested[0](WriteFailed("the disk is full")))
        made.ask()
        made.turns(made.showing.end)
        assert made.lines == 0


class Disk:
    """A disk that has no room so many times, and then takes two bytes at a time."""

    def __init__(self, error: int, times: int) -> None:
        self.error, self.times = error, times
        self.taken = b""

    def write(self, file: int, data: memoryview) -> int:
        if self.times:
            self.times -= 1
            raise OSError(self.error, os.strerror(self.error))
        self.taken += data[:2]
        return len(data[:2])


@pytest.mark.parametrize(
    ("error", "taken", "told"),
    [
        (
            errno.ENOSPC,
            b"one\ntwo\n",
            ["No space left on device: lines are written again when there is room", "lines are written again"],
        ),
        (errno.EPIPE, b"", ["Broken pipe: no more lines are written; the server continues without them"]),
    ],
)
def test_lines_resume_after_a_full_disk_and_end_with_their_reader_and_both_are_reported(
    error: int, taken: bytes, told: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    disk = Disk(error, 3)
    said: list[str] = []
    monkeypatch.setattr(os, "write", disk.write)
    monkeypatch.setattr(event_writer, "RETRY_S", 0)

    async def write() -> None:
        with (tmp_path / "lines").open("w") as stream:
            writer = event_writer.Writer(stream, said.append)
            writer.write(b"one\n")
            assert await asyncio.to_thread(writer.is_idle.wait, 10)
            if not writer.is_broken:
                writer.write(b"two\n")
                assert await asyncio.to_thread(writer.is_idle.wait, 10)

    asyncio.run(write())
    assert (disk.taken, said) == (taken, told)
