"""The connection of a client: uvicorn constructs an `HttpProtocol` for each socket, and asyncio calls it.

The way of a request:

1. `data_received` gives a packet to the `RequestReader`, which appends requests to its queue.
2. `answer_next` answers the oldest: at once by `answer_now` of the application, or by a `Responder` in a task. The
   `ResponseBatcher` calls it at the end of the event loop's turn, once a turn while requests wait.
3. The `AnswerWriter` sends what was answered in a turn together.
4. The connection awaits the next request, or it ends. `ConnectionState` says how, and what its deadline means.

Only this module changes the state, sets the deadline, pauses reading, and removes requests from the queue. Only the
writer writes and closes (`linger` ends our sending side); it has a timer of its own for a client that does not read.

Read `HttpRequest` in `message`, the docstrings of `RequestReader` and its states, this module from top to bottom,
`timing`, and `Responder`. The rest can be read alone: the parser, and `transports` with TLS and the gate.
"""

import asyncio
from enum import IntEnum, auto
from functools import partial
from typing import Any, cast

from uvicorn import Config
from uvicorn.server import ServerState

from simulator.server.foreign_clients import ForeignClients
from simulator.server.message import BODYLESS, STATUS_LINE, HttpRefusal, HttpRequest, RequestMemoryBudget
from simulator.server.request_reader import BODY, ENDED, HEAD, IDLE, LATE_HEAD, RequestReader
from simulator.server.responder import BEGUN, AnswerNow, Application, Responder, first_result
from simulator.server.timing import AnswerWriter, ClientDeadline, ResponseBatcher
from simulator.server.transports import GatedTransport, OutputGate


class ConnectionState(IntEnum):
    """The state of a connection, which moves down this list, and may skip states.

    OPEN: it reads and answers requests. At its deadline it refuses what is late, or closes if nothing arrives.
    FINISHING, after a refusal, a request that asks to close, `eof_received` or `shutdown`: it answers what was read,
      then closes. At its deadline, which only `eof_received` sets, it hangs up, unless an answer is on its way.
    LINGERING, after a refusal, a cut or an early answer: the client may read what was sent. At its deadline it closes.
    CLOSED: the writer sends what was written, within its own deadline, unless `hang_up` aborts.
    LOST: the client has gone; complete requests are executed, until one needs a task.
    """

    OPEN = auto()
    FINISHING = auto()
    LINGERING = auto()
    CLOSED = auto()
    LOST = auto()


OPEN, FINISHING, LINGERING, CLOSED, LOST = ConnectionState


class HttpProtocol(asyncio.Protocol):
    """A connection of a client. uvicorn passes the keyword arguments."""

    def __init__(
        self,
        app: Application,
        budget: RequestMemoryBudget,
        batcher: ResponseBatcher,
        gate: OutputGate | None = None,
        foreign: ForeignClients | None = None,
        *,
        config: Config,
        server_state: ServerState,
        **_: Any,
    ) -> None:
        self._app = app
        self._answer_now: AnswerNow = getattr(app, "answer_now", lambda *_: None)
        self._limits = budget.limits
        self._batcher, self._gate = batcher, gate
        self._foreign = foreign or ForeignClients()
        self._keep_alive_s = config.timeout_keep_alive
        self._connections: set[Any] = server_state.connections  # uvicorn stops these,
        self._tasks = server_state.tasks  # and waits for these
        self.default_lines = partial(batcher.default_lines, server_state)
        self.must_close = asyncio.Event()  # the client has left, or the server stops
        self.may_have_left = asyncio.Event()  # the same, or the client has closed its sending side
        self._state: ConnectionState = OPEN
        self.reader = RequestReader(budget)
        self._queue = self.reader.queue  # the first request stays there until its answer, or its task, is over
        self._responder: Responder | None = None  # of the first, if it is answered in a task
        self._refusal = b""  # follows the last answer; encoded, since an exception's traceback would keep the packet
        self.writer = AnswerWriter(budget, self.hang_up)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; the deadline of its first head starts now."""
        gated = transport if self._gate is None else GatedTransport(cast(asyncio.Transport, transport), self._gate)
        self._transport = self.writer.transport = cast(asyncio.Transport, gated)
        self._connections.add(self)
        self.client: tuple[Any, ...] = transport.get_extra_info("peername") or ("", 0)  # none: it has already left
        self.server: tuple[Any, ...] = transport.get_extra_info("sockname") or ("", 0)
        self.scheme = "http" if transport.get_extra_info("ssl_object") is None else "https"
        self._deadline = ClientDeadline(self._on_deadline, self._limits)
        if len(self._connections) > self._limits.connections:
            self._refuse(HttpRefusal("too_many_connections", self._limits.connections))

    def data_received(self, data: bytes) -> None:
        """Parse a packet, or with b"" the reader's `unparsed` bytes. The batcher answers the first request."""
        reader = self.reader
        if self._state is not OPEN:
            return
        continued = reader.arriving if reader.state is BODY else None  # the request whose body this packet continues
        try:
            reader.feed(data)
        except HttpRefusal as refusal:
            self._refuse(self._foreign.explained(data, reader.url, refusal, is_tls=self.scheme == "https"))
        if self._responder is None:
            self._batcher.add(self)
            is_small = len(data) <= self._limits.small_body_bytes and not reader.charged
            if is_small and len(self._queue) == 1 and reader.state is IDLE:
                return  # a small whole request needs no charge, deadline or pause
        elif self._responder.request is continued:
            self._responder.has_input.set()
        if reader.state is ENDED:  # after a request that asks to close
            self._enter(FINISHING)
        self._charge()
        if self._state is OPEN:
            self._set_deadline(continued)
            self._pause_if_full()

    def _charge(self) -> None:
        """Charge the bytes that are held to the budget. Refuse the newest requests until the others fit."""
        while (refusal := self.reader.charge()) is not None:
            self._refuse(refusal)

    def _set_deadline(self, continued: HttpRequest | None) -> None:
        reader = self.reader
        if reader.state is HEAD:
            reader.state = LATE_HEAD  # later packets do not move its deadline
            self._deadline.set(self._limits.head_timeout_s)
        elif reader.state is BODY:
            self._deadline.await_body(is_new=reader.arriving is not continued)

    def _pause_if_full(self) -> None:
        waits_for_task = self._responder is not None and len(self._queue) > 1 and self.reader.arriving is None
        if self.reader.is_full or waits_for_task:  # a task may be long
            self._transport.pause_reading()  # until a responder asks for the body, or no request waits

    def resume_reading(self) -> None:
        """Parse what is unparsed, or resume reading. The deadline for the client's next bytes starts again."""
        if self.reader.state is BODY:
            self._deadline.await_body(is_new=False)
        if self.reader.unparsed:
            self.data_received(b"")
            if self._queue:
                return  # until these are answered, or a responder asks for the body
        if not (self._transport.is_closing() or self._transport.is_reading()):
            self._transport.resume_reading()
            if self.reader.state is LATE_HEAD:
                self._deadline.set(self._limits.head_timeout_s)

    def _refuse(self, refusal: HttpRefusal) -> None:
        """While OPEN, end reading and refuse the request that is being read, if any; later, refuse the newest of the
        queue. The refusal follows the answers to earlier requests. A request whose answer has begun gets none."""
        reader = self.reader
        refused = reader.arriving if self._state is OPEN else self._queue[-1]
        has_answer = reader.state is BODY and refused is None  # only the rest of an answered body was being read
        if self._state is OPEN:
            reader.refuse(refusal)
            self._enter(FINISHING)
        if refused is not None:
            self._queue.pop()
            refusal.is_to_head = refused.method == "HEAD"
        if self._responder is not None and self._responder.request is refused:
            has_answer = self._responder.stage is BEGUN
            self._responder.end_exchange()
            self._responder = None
        if has_answer:
            self.linger()
        else:
            self._refusal = refusal.encode(self.default_lines())
            self._batcher.add(self)

    # Requests are answered

    def answer_next(self) -> None:
        """Answer the oldest request, unless a task does so already, or the client does not read. The next request
        follows in the next turn; a refusal follows the last answer. The batcher calls this at the end of a turn."""
        queue = self._queue
        if queue and self._responder is None and not self.writer.is_stalled:
            self._answer(queue[0])
            if queue and self._responder is None:
                self._batcher.add(self)  # for the next turn
                return
        self._read_on()
        if self._refusal and not queue and self._state is FINISHING:
            self.writer.write(self._refusal)
            self.linger()

    def _answer(self, request: HttpRequest) -> None:
        """Answer at once if `answer_now` returns a whole answer without waiting, else in a task."""
        is_at_once = request.is_whole and request.is_plain
        result = first_result(self._answer_now, request, self.client[0]) if is_at_once else None
        if isinstance(result, tuple):
            status, lines, body, ending = result
            if ending is None and status not in BODYLESS and request.method != "HEAD":
                self.writer.unsent += b"".join((STATUS_LINE[status], self.default_lines(), lines, b"\r\n", body))
                del self._queue[0]
                return
        responder = self._responder = Responder(self, request)
        task = asyncio.get_running_loop().create_task(responder.run(self._app, result))
        self._tasks.add(task)
        task.add_done_callback(partial(self._on_task_done, responder))
        if self._state is LOST:
            self._abandon()

    def on_answered(self) -> None:
        """Continue after a responder's complete answer, or close if the request asked to close."""
        is_last = not self._queue[0].keep_alive
        self._release_first()
        if is_last and self.reader.state is BODY:  # the client still sends the body
            self.linger()
        elif is_last:
            self.close()

    def _on_task_done(self, responder: Responder, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._responder is responder:  # it sent no complete answer, and has ended the connection
            self._release_first()

    def _release_first(self) -> None:
        self._responder = None
        del self._queue[0]
        self._batcher.add(self)

    def _read_on(self) -> None:
        """Release the memory of answered requests, and read on unless some wait. Start the keep-alive time if idle."""
        reader, running = self.reader, 0 if self._responder is None else 1  # requests
        if reader.charged or running:  # reading is never paused without charged bytes
            self._charge()
            if len(self._queue) == running and reader.arriving is None:
                self.resume_reading()
        if reader.state is IDLE and not self._queue:
            self._deadline.set(self._keep_alive_s)

    def pause_writing(self) -> None:
        """Pause answers until the client has read some."""
        self.writer.pause()

    def resume_writing(self) -> None:
        """Resume answers, and answer what was read meanwhile; after the last, wait on until everything was written."""
        self.writer.resume()
        if self._state is CLOSED:
            self.writer.close()
        self._batcher.add(self)

    # The client is late

    def _on_deadline(self) -> None:
        reader, request = self.reader, self.reader.arriving
        if self._state is LINGERING:
            self.close()
        elif self._state is FINISHING:
            if self.writer.is_stalled or (self._responder is not None and self._responder.stage is BEGUN):
                self._deadline.set(self._limits.half_closed_s)  # sending shows whether the client has left
            else:
                self.hang_up()
        elif reader.state is IDLE:
            if not self._queue:
                self.close()
        elif not self._transport.is_reading() or (request is not None and request.awaits_continue):
            self._deadline.await_body(is_new=True)  # the client waits for the server: a new deadline, also for a head
        elif reader.state is BODY:
            self._refuse(self._deadline.late_body())
        else:
            self._refuse(HttpRefusal("head_timeout", self._limits.head_timeout_s))

    # The connection ends

    def _enter(self, state: ConnectionState) -> None:
        """Enter a later state, and end reading and the deadline of the state before."""
        if state > self._state:
            self._state = state
            self.reader.end()
            self._deadline.clear()

    def eof_received(self) -> bool:
        """Finish after the client has closed its sending side. A client that has left looks the same, until writing to
        it fails. asyncio keeps the connection open when this returns True."""
        self.may_have_left.set()
        self._finish()
        for request in self._queue:
            request.report_departure()
        if self._responder is not None:
            self._responder.has_input.set()  # wakes its `receive`
        if self._state is FINISHING:
            self._deadline.set(self._limits.half_closed_s)
        return self.scheme == "http"  # within TLS, close_notify ends both directions

    def shutdown(self) -> None:
        """Answer the first two requests of the queue, and close; uvicorn calls it when the server stops."""
        if len(self._queue) > 2:
            del self._queue[2:]
            self._refusal = b""  # it would follow these
        self.must_close.set()
        self.may_have_left.set()
        if self.reader.arriving is None:
            self._finish()
        else:
            self._queue[-1].mark_last()

    def _finish(self) -> None:
        """Answer the first request now, the others in later turns, and close after the last answer."""
        self._enter(FINISHING)
        self.answer_next()
        if not self._queue or self._state is LINGERING:  # nothing follows
            self.close()
        elif not self._refusal:
            self._queue[-1].mark_last()

    def linger(self) -> None:
        """Close as `close` does, but only after the client has closed its side, or `linger_s` later. A connection that
        is closed with unread bytes is reset, and the client could lose the last answer."""
        self._enter(LINGERING)
        self._drop_waiting()
        self.writer.flush()
        if not self._transport.is_closing():
            self._transport.resume_reading()
            if self.scheme == "http":  # within TLS one side cannot be closed alone
                self._transport.write_eof()  # once everything was written
            self._deadline.set(self._limits.linger_s)

    def close(self) -> None:
        """Close once everything was written. Requests that wait are dropped."""
        self._enter(CLOSED)
        self._drop_waiting()
        self.writer.close()

    def hang_up(self) -> None:
        """Close at once, without writing the rest. The application sees that its client has left."""
        self._abandon()
        self.close()
        self.writer.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Execute the complete requests, one in each turn, until one needs a task. The task runs without its client,
        and later requests are dropped. asyncio calls this at the end of every connection."""
        self._enter(LOST)
        self._connections.discard(self)
        self.writer.resume()
        self.must_close.set()
        self.may_have_left.set()
        if self._responder is not None:
            self._abandon()
        elif self.reader.arriving is not None:
            self._queue.pop()
        self.answer_next()

    def _abandon(self) -> None:
        """Drop the requests that wait; the application sees that the client of the request in progress has left."""
        if self._responder is not None:
            self._responder.on_client_left()
        self._drop_waiting()

    def _drop_waiting(self) -> None:
        del self._queue[0 if self._responder is None else 1 :]
        self.reader.charge()  # less than before, which is never refused
