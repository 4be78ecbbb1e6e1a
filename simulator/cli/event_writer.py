"""The lines of the events of `serve` to a stream that may be slow or closed.

The event loop renders the events at the end of each turn, and a daemon thread writes them. Rendering pauses while the
thread writes: events stay in their logs, and a line reports how many were evicted meanwhile. With a data folder a line
is written after its events are committed, as an answer is.
"""

import asyncio
import os
import select
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING, TextIO

from msgspec.json import decode

from simulator.cli.output import is_coloured
from simulator.cli.process import print_server_note
from simulator.cli.watch import EventLines
from simulator.control.event_endpoints import EventQuery, EventSource, data_of
from simulator.redaction import redact_urls
from simulator.runtime.background import Worker
from simulator.runtime.operations import report
from simulator.runtime.sandboxes import Sandboxes

if TYPE_CHECKING:
    from simulator.persistence.gate import Gate


SHOWN = frozenset({"request", "status", "callback", "webhook"})
LAST_LINES_S = 0.2
"""The time that a stopping server waits until its last lines are written."""


class LineWriter:
    """Writes to a file descriptor in a daemon thread; `written` is the latest of its calls. A call fails when the
    stream is closed or its disk is full, which `tell` reports."""

    def __init__(self, stream: TextIO, tell: Callable[[str], None]) -> None:
        self._file, self._tell, self._worker = stream.fileno(), tell, Worker("lines")
        self.written: Future[None] = self._worker.submit(lambda: None)

    def write(self, data: bytes) -> None:
        """Write the data when what came before is written."""
        self.written = self._worker.submit(partial(self._write, data))

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                try:
                    left = left[os.write(self._file, left) :]
                except BlockingIOError:  # the other end made the descriptor non-blocking
                    select.select([], [self._file], [])
        except OSError as error:
            self._tell(f"{error.strerror}: no more lines are written; the server continues without them")
            raise


class EventWriter:
    """Shows the events of all sandboxes, as text or as JSON. Events that wait for a `gate` are shown when it opens.
    Requires a running event loop."""

    def __init__(self, sandboxes: Sandboxes, stream: TextIO, *, as_json: bool, gate: "Gate | None" = None) -> None:
        self._sandboxes = sandboxes
        self._as_json = as_json
        self._gate = gate
        self._rendered = b""  # waits for the gate
        self._lines = EventLines(coloured=is_coloured(stream))
        self._writer = LineWriter(stream, lambda text: print_server_note(f"the lines of serve: {text}"))
        self._reader = EventSource(sandboxes, EventQuery(SHOWN)).reader()
        self._reader.is_own = True
        self._task = asyncio.get_running_loop().create_task(self._show())

    def end(self) -> None:
        """Show the remaining events, since the server is about to stop. Events are dropped if the reader is slow, or if
        the data folder failed to store them."""
        is_kept = self._gate is None or self._gate.failure is None
        if is_kept and not self._task.done() and wait([self._writer.written], LAST_LINES_S).done:
            self._sandboxes.events.wake()  # events of the last milliseconds may still wait for their readers
            self._rendered += self._lines_of(self._reader.take())
            self._write()
            wait([self._writer.written], LAST_LINES_S)
        self._task.cancel()

    async def _show(self) -> None:
        reader, writer = self._reader, self._writer
        with reader:
            while not reader.is_over:
                await reader.wait(timeout_s=60.0)
                await asyncio.wait([asyncio.wrap_future(writer.written)])
                if writer.written.exception() is not None:
                    return
                try:
                    self._rendered = self._lines_of(reader.take())
                except Exception as error:  # our mistake: the next events get another chance
                    report(error, "a line of serve")
                    reader.skip()
                if self._gate is not None and not await self._gate.until_durable():
                    self._rendered = b""  # what happened with a lost lease was not stored
                self._write()
                await asyncio.sleep(0)

    def _lines_of(self, pieces: list[bytes]) -> bytes:
        """Return the lines of events."""
        return b"".join(self._line(data_of(piece)) + b"\n" for piece in pieces)

    def _line(self, event: bytes) -> bytes:
        return event if self._as_json else redact_urls(self._lines.line(decode(event))).encode("utf-8", "replace")

    def _write(self) -> None:
        if self._rendered:
            self._writer.write(self._rendered)
            self._rendered = b""
