"""The half of a connection that answers: the queue of its requests, and the batcher of all queues.

A task and two ASGI messages for each request would cost more than the network. So an application may have a method
`answer_now`, whose first step runs without a task, at the end of the event loop's turn.
"""

import asyncio
import logging
from functools import partial
from typing import Final

from uvicorn.server import ServerState

from simulator.server.message import BODYLESS, STATUS_LINE, HttpRefusal, HttpRequest
from simulator.server.responder import BEGUN, AnswerConnection, AnswerNow, Application, FirstResult, Responder, resume

CONNECTIONS_MAX: Final = 64
"""The number of connections that answer in a turn. The others come first in the next turn, after the loop has checked
its timers and sockets, so that pipelined requests of some clients do not delay other clients."""

_LOG: Final = logging.getLogger(__name__)


class AnswerQueue:
    """The requests of a connection without a complete answer, oldest first; the reader appends them. The first is
    answered at once, or by `responder` in a task. Then it stays in the queue until its answer or its task is over."""

    def __init__(
        self, connection: AnswerConnection, requests: list[HttpRequest], app: Application, batcher: "ResponseBatcher"
    ) -> None:
        self.responder: Responder | None = None
        self.connection, self.writer = connection, connection.writer
        self._requests = requests
        self._app = app
        self._answer_now: AnswerNow = getattr(app, "answer_now", lambda *_: None)
        self._batcher = batcher
        self._refusal = b""  # follows the last answer; encoded, since the exception would keep the packet
        self._has_client_left = False

    @property
    def is_sending(self) -> bool:
        """Return whether a responder has begun an answer."""
        return self.responder is not None and self.responder.stage is BEGUN

    # Events of the reading half

    def wake(self, request: HttpRequest | None) -> None:
        """Wake the responder of `request`, if there is one: more has arrived, or the client may have left."""
        if self.responder is not None and self.responder.request is request:
            self.responder.has_input.set()

    def refuse(self, refusal: HttpRefusal, request: HttpRequest | None) -> None:
        """Send a refusal after the other answers, instead of the answer to `request`, the newest of the queue, or to
        bytes that are no request yet. If that answer has begun, only end it."""
        responder, is_begun = self.responder, self.is_sending
        if request is not None:
            self._requests.pop()
        if responder is not None and responder.request is request:
            self.responder = None
            responder.end_exchange()
            if is_begun:
                self.connection.linger()
                return
        self._refusal = self._refusal or refusal.encode(self.connection.default_lines())
        self._batcher.add(self)

    def finish(self) -> bool:
        """Answer the first request now and the others in later turns, and close after the last answer, which may still
        wait at the gate. Return whether a request waits."""
        self.answer_next()
        if not self._requests:
            self.connection.close()
        elif not self._refusal:  # then the last answer says close, and only a task writes such an answer
            self._requests[-1].keep_alive = self._requests[-1].is_plain = False
        return bool(self._requests)

    def on_connection_lost(self) -> None:
        """Execute the complete requests, one in each turn, until one needs a task. The task runs without its client,
        and later requests are dropped."""
        self._has_client_left, self._refusal = True, b""
        if self.responder is not None:
            self.abandon()
        elif self._requests and not self._requests[-1].is_whole:
            self._requests.pop()
        self.answer_next()

    def abandon(self) -> None:
        """Drop the queue, and end the exchange of the request in progress, as after the departure of its client."""
        if self.responder is not None:
            self.responder.on_client_left()
        self.drop()

    def drop(self) -> None:
        """Drop the requests that wait, and the refusal after them."""
        del self._requests[0 if self.responder is None else 1 :]
        self._refusal = b""

    # Answering

    def answer_next(self) -> None:
        """Answer the oldest request, unless one is in progress or the client does not read. The next request follows in
        the next turn. A refusal follows the last answer, and ends the connection."""
        requests = self._requests
        if requests and self.responder is None and not self.writer.is_stalled:
            request = requests[0]
            if request.is_whole and request.is_plain:
                self._answer_at_once(request)
            else:
                self._begin_task(request, None)
            if requests and self.responder is None:
                self._batcher.add(self)
                return
        self.connection.on_turn_end()
        if self._refusal and not requests:
            self.writer.write(self._refusal)
            self.connection.linger()

    def _answer_at_once(self, request: HttpRequest) -> None:
        """Answer a plain request by `answer_now`, or in a task what it cannot answer at once and whole."""
        result: FirstResult = None
        try:
            pending = self._answer_now(request, self.connection.client[0])
            if pending is not None:
                result = resume(pending, pending.send(None))  # `send` runs it until it waits for a future, or returns
        except StopIteration as done:
            status, lines, body, ending = result = done.value
            if ending is None and status not in BODYLESS and request.method != "HEAD":
                default_lines = self.connection.default_lines()
                self.writer.unsent += b"".join((STATUS_LINE[status], default_lines, lines, b"\r\n", body))
                del self._requests[0]
                return
        except Exception as error:  # logged and answered 500, as for any application
            result = error
        self._begin_task(request, result)

    def _begin_task(self, request: HttpRequest, result: FirstResult) -> None:
        responder = self.responder = Responder(self.connection, request, self._on_answer_over)
        task = asyncio.get_running_loop().create_task(responder.run(self._app, result))
        self.connection.tasks.add(task)
        task.add_done_callback(partial(self._on_task_done, responder))
        if self._has_client_left:
            self.abandon()

    def _on_task_done(self, responder: Responder, task: asyncio.Task[None]) -> None:
        self.connection.tasks.discard(task)
        if self.responder is responder:  # it sent no complete answer, and has ended the connection
            self._on_answer_over()

    def _on_answer_over(self) -> None:
        self.responder = None
        self._batcher.add(self)
        del self._requests[0]


class ResponseBatcher:
    """A queue of the connections that have requests to answer at the end of this turn."""

    def __init__(self) -> None:
        self._waiting: dict[AnswerQueue, None] = {}  # oldest first
        self._defaults: list[tuple[bytes, bytes]] = []
        self._lines = b""

    def default_lines(self, server_state: ServerState) -> bytes:
        """Return the server's default headers as lines, cached: uvicorn makes a new list every second."""
        if self._defaults is not server_state.default_headers:
            self._defaults = server_state.default_headers
            self._lines = b"".join([b"%b: %b\r\n" % header for header in self._defaults])
        return self._lines

    def add(self, queue: AnswerQueue) -> None:
        """Let a connection answer at the end of this turn, or of a later turn when there are many."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._end)
        self._waiting[queue] = None

    def _end(self) -> None:
        waiting = list(self._waiting)
        self._waiting = dict.fromkeys(waiting[CONNECTIONS_MAX:])
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._end)
        del waiting[CONNECTIONS_MAX:]
        for queue in waiting:
            try:
                queue.answer_next()
            except Exception:  # must not affect the other connections
                _LOG.exception("A request could not be answered")
                queue.connection.hang_up()
        for queue in waiting:
            queue.writer.flush()
