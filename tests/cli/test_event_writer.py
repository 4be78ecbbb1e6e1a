"""The lines of `serve`, which wait for what keeps them."""

import asyncio
import errno
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TextIO, cast

import pytest

from simulator.cli import event_writer
from simulator.cli.event_writer import EventWriter
from simulator.persistence.errors import LeaseLost, WriteFailed
from simulator.persistence.gate import Gate
from simulator.persistence.store import Store
from simulator.runtime import events
from tests.support.client import Client, running
from tests.support.late_stores import LateStore

TURNS = 20  # of the event loop; all pending work happens in them


class Written:
    """A writer that writes at once and remembers it."""

    def __init__(self, stream: TextIO, tell: Callable[[str], None]) -> None:
        self.written: Future[None] = Future()
        self.written.set_result(None)
        self.text = b""

    def write(self, data: bytes) -> None:
        self.text += data


class Shown:
    """An application whose lines are shown when the gate opens."""

    def __init__(self, client: Client) -> None:
        self.store = LateStore()
        self._client = client
        self.gate = Gate(cast(Store, self.store), lambda error: None)
        self.turns(self._begin)

    def _begin(self) -> None:
        self.gate.start()
        self.showing = EventWriter(self._client.app.sandboxes, StringIO(), as_json=False, gate=self.gate)

    def turns(self, act: Callable[[], object] = lambda: None) -> None:
        """Do something in the event loop, and let it do what follows from that."""

        async def done() -> None:
            act()
            self._client.app.sandboxes.events.wake()  # without the pause between two wakings of the readers
            for _ in range(TURNS):
                await asyncio.sleep(0)

        self._client.run(done())

    def ask(self) -> None:
        """Send a request that is not in the folder yet, and let the writer take its event."""
        self.request()
        self.turns()

    def request(self) -> None:
        """Send a request that is not in the folder yet."""
        self.gate.note()
        self._client.call("GET", "/v2/balance")

    @property
    def lines(self) -> int:
        """Return how many requests were written."""
        return cast(Written, self.showing._writer).text.count(b"/v2/balance")


@contextmanager
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    monkeypatch.setattr(event_writer, "LineWriter", Written)
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
    """Also the lines of events about which readers were not woken yet."""
    monkeypatch.setattr(events, "WAKE_EVERY_S", 60.0)
    with shown(monkeypatch) as made:
        made.ask()
        made.request()
        made.turns(made.showing.end)
        assert made.lines == 2


def test_events_that_cannot_be_stored_are_not_written_at_the_end_either(monkeypatch: pytest.MonkeyPatch) -> None:
    with shown(monkeypatch) as made:
        made.ask()
        made.turns(lambda: made.store.requested[0](WriteFailed("the disk is full")))
        made.ask()
        made.turns(made.showing.end)
        assert made.lines == 0


def test_lines_of_a_lost_lease_are_not_written_and_later_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with shown(monkeypatch) as made:
        made.ask()
        made.turns(lambda: made.store.requested[0](LeaseLost("the lease has ended")))
        assert made.lines == 0
        made.turns(made.gate.begin_again)
        made.ask()
        made.turns(lambda: made.store.requested[1](None))
        assert made.lines == 1
        made.turns(made.showing.end)


def test_lines_end_with_their_reader_and_stderr_reports_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said: list[str] = []

    def refuse(file: int, data: memoryview) -> int:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    monkeypatch.setattr(os, "write", refuse)

    async def write() -> None:
        with (tmp_path / "lines").open("w") as stream:
            writer = event_writer.LineWriter(stream, said.append)
            writer.write(b"one\n")
            assert (await asyncio.to_thread(wait, [writer.written], 10)).done

    asyncio.run(write())
    assert said == ["Broken pipe: no more lines are written; the server continues without them"]
