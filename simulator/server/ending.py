"""How a connection ends, in order, in the middle of an answer or without one; also when the server stops.

It is what `connection.Carrier` asks for.
"""

import asyncio
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from simulator.server.deadline import Deadline

_LINGER_S: Final = 2.0
"""How long a client may go on sending after its last answer. To close at once would reset the connection, and the
client would lose the answer that says why."""


class EndingProtocol(HttpToolsProtocol):
    """A uvicorn protocol that can be ended at any point, and in which no application is left waiting then.

    A subclass keeps `running` up to date and reads no input once it is `deaf`.
    """

    # The base has nearly as many attributes as an instance dictionary can share its keys for; slots cost none of them.
    __slots__ = ("_ended", "_stopping", "deadline", "deaf", "lingering", "running")

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.running: RequestResponseCycle | None = None  # of the requests at hand, the one being answered
        self.deaf = False
        self.lingering = False
        self.deadline = Deadline(self.loop, self.on_deadline)
        self._stopping = False
        self._ended: asyncio.Event | None = None

    def on_deadline(self) -> None:
        """Take the time set by `deadline` as come."""
        if self.lingering:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell every exchange that its client has left, and let go of what would keep this object alive."""
        super().connection_lost(exc)
        self.deadline.end()
        if self._ended is not None:
            self._ended.set()
        if self.running is not None and not self.running.response_complete:
            dismiss(self.running)
        self.pipeline.clear()
        self.running = None
        self.cycle = self.scope = None  # type: ignore[assignment]  # they lead back here by the scope's extensions

    def shutdown(self) -> None:
        """Let the requests on this connection finish, those before their end and no new ones."""
        self._stopping = True
        if self._ended is not None:
            self._ended.set()
        if self.lingering:
            self.transport.abort()
        else:
            super().shutdown()

    def hang_up(self) -> None:
        """Close now, whatever is going on; applications see that their client has left."""
        if self.running is not None:
            dismiss(self.running)
        self.transport.abort()

    def linger(self) -> None:
        """Close our side when all is sent, and the other when the client has seen it."""
        self.deaf = self.lingering = True
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self.deadline.set(_LINGER_S)
        else:
            self.transport.close()

    def close_unanswered(self, cycle: RequestResponseCycle) -> None:
        """Close without another byte; what was written for earlier requests still arrives."""
        dismiss(cycle)
        self.transport.close()

    def close_half_answered(self, cycle: RequestResponseCycle) -> None:
        """Close when what was written has arrived; the client sees the end of the stream right after it."""
        dismiss(cycle)
        self.linger()

    def close_answered(self, cycle: RequestResponseCycle) -> None:
        """Close behind a whole answer. What still comes of the request is dropped: a reset would cost the answer."""
        if cycle.more_body:
            self.linger()
        else:
            self.transport.close()

    def ended(self) -> asyncio.Event:
        """Return the event that is set when the client has left or the server stops."""
        if self._ended is None:
            self._ended = asyncio.Event()
            if self._stopping or self.transport.is_closing():
                self._ended.set()
        return self._ended


def dismiss(cycle: RequestResponseCycle) -> None:
    """End an exchange as if its client had left: the application reads a disconnect, and what it sends is dropped."""
    cycle.disconnected = True
    cycle.message_event.set()
