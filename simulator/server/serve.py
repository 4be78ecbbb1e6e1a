"""Runs an ASGI application on our protocol: the listening socket and uvicorn's server."""

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, Final, cast

import uvicorn
from msgspec import structs

from simulator.server.foreign_clients import ForeignClients
from simulator.server.message import HttpLimits, RequestMemoryBudget
from simulator.server.protocol import HttpProtocol
from simulator.server.responder import Application
from simulator.server.timing import ResponseBatcher
from simulator.server.transports import OutputGate, TlsEntry, TlsSettings

BACKLOG: Final = 2048  # connections that may wait for the server
_KEEP_ALIVE_S: Final = 75  # longer than the idle time of the usual client pools, so that it is the client that closes
_TICK_S: Final = 1.0
_GRACE_S: Final = 0.5  # how long a stopping server waits for requests to finish
_CANCEL_GRACE_S: Final = 0.2  # how long applications may run after that
_LAST_RESORT_S: Final = 10  # when uvicorn gives up, and says so; all was cancelled long before


def host_for_clients(listens: str) -> str:
    """Return the host for URLs of clients on this machine, for a server that listens on an address."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(listens, listens)  # noqa: S104 - compared
    return f"[{host}]" if ":" in host else host


class CannotListen(OSError):
    """A failure to listen. The text is a line for the user that says what to do."""


class Server(uvicorn.Server):
    """A uvicorn server that is given its socket, so that its port is known before it runs.

    `run()` blocks; `serve()` is for a running loop. `should_exit = True` or a signal ends either, the signal after
    `drain_s` during which requests are answered as before; a second signal skips it. `close()` releases the address of
    a server that never ran.
    """

    drain_s = 0.0
    on_hangup: Callable[[], None] | None = None  # SIGHUP, from when requests are answered
    _loop: asyncio.AbstractEventLoop | None = None
    _should_exit = False

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        on_ready: Callable[[], None],
        on_stop: Callable[[], None],
        tls: TlsSettings | None,
    ) -> None:
        self._woken = asyncio.Event()
        super().__init__(config)
        self.listener, self.tls = listener, tls
        self._on_ready, self._on_stop = on_ready, on_stop
        self.on_drain: Callable[[], None] = lambda: None
        self.take_accepted: Callable[[], list[socket.socket]] = list  # connections from before the start
        self.host: str = config.host
        self.port: int = listener.getsockname()[1]

    @property
    def url(self) -> str:
        """Return the address to give to a client on this machine, without a slash at its end."""
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://{host_for_clients(self.host)}:{self.port}"

    @property
    def should_exit(self) -> bool:
        """Return whether it was asked to stop, by any thread or by a signal's handler."""
        return self._should_exit

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        self._should_exit = value
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._woken.set)

    def close(self) -> None:
        """Close the listening socket."""
        for connection in self.take_accepted():
            connection.close()
        self.listener.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop because of a signal; uvicorn calls it."""
        drain_s, self.drain_s = self.drain_s, 0.0
        if not drain_s or not self.started or self._loop is None:
            super().handle_exit(sig, frame)
            return
        self.on_drain()
        self._loop.call_soon_threadsafe(self._loop.call_later, drain_s, super().handle_exit, sig, None)

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until asked to stop; then wait briefly for requests, close connections, and run the shutdown events."""
        try:
            await super().serve(sockets or [self.listener])
        finally:
            self.close()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, accept connections, call `on_ready`. Exits with 3 if the application cannot start."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if not self.started:  # newer versions of uvicorn exit by themselves
            sys.exit(3)  # as they do
        if self.on_hangup is not None and threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.on_hangup)
        make: Any = self.config.http_protocol_class
        protocol = partial(make, config=self.config, server_state=self.server_state)
        for connection in self.take_accepted():
            with suppress(OSError):  # it has left
                await self._loop.connect_accepted_socket(protocol, connection)
        self._on_ready()

    async def main_loop(self) -> None:
        """Wait until it should exit. uvicorn polls ten times a second, which would delay the end of a command."""
        while not await self.on_tick(0):  # sets the Date header, too
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), _TICK_S)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop. A request that does not finish in time gets a disconnect, and is cancelled if that does not end it."""
        self._on_stop()
        if self.server_state.connections or self.server_state.tasks:
            ending = asyncio.create_task(self._end_requests())
            await super().shutdown(sockets)
            ending.cancel()
        else:  # as uvicorn does, without its pause of a tenth of a second for clients
            for server in self.servers:
                server.close()
            for listener in sockets or []:
                listener.close()
            await self.lifespan.shutdown()

    async def _end_requests(self) -> None:
        await asyncio.sleep(_GRACE_S)
        while True:  # connections that were being accepted come later than the others
            for connection in list(self.server_state.connections):
                cast(HttpProtocol, connection).hang_up()
            await asyncio.sleep(_CANCEL_GRACE_S)
            for task in list(self.server_state.tasks):
                task.cancel()


def make_server(
    app: Application,
    host: str,
    port: int,
    *,
    limits: HttpLimits = HttpLimits(),  # noqa: B008 - frozen
    on_ready: Callable[[], None] = lambda: None,
    on_stop: Callable[[], None] = lambda: None,
    on_notice: Callable[[str], object] = lambda text: None,
    gate: OutputGate | None = None,
    tls: TlsSettings | None = None,
) -> Server:
    """Bind `host:port` (0: a free one) and return the server for `app`; raises CannotListen.

    `on_ready` is called once, when the application has started and requests are answered; `on_stop` when it begins to
    stop, to end what requests wait for; `on_notice` for clients that speak something else than HTTP/1.1. Nothing is
    sent while `gate` is closed. With `tls` it speaks TLS.
    """
    limits = _within_file_limit(limits)
    budget, foreign = RequestMemoryBudget(limits), ForeignClients(on_notice)
    protocol: Any = partial(HttpProtocol, app, budget, ResponseBatcher(), gate, foreign)
    if tls is not None:
        protocol = partial(TlsEntry, tls, protocol, foreign, limits)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol,
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # any client could choose its address; the application decides which proxies to trust
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_LAST_RESORT_S,
    )
    return Server(config, listen(host, port), on_ready, on_stop, tls)


def _within_file_limit(limits: HttpLimits) -> HttpLimits:
    """Return the limits with connections for at most half of the files that this process may open: answers, callbacks
    and imports need the others."""
    try:
        import resource
    except ImportError:  # no such limit on this system
        return limits
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = files == resource.RLIM_INFINITY
    return limits if unlimited else structs.replace(limits, connections=min(limits.connections, files // 2))


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises CannotListen. A name with several addresses prefers IPv4."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = min(found, key=lambda info: info[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise CannotListen(f"{host!r} is not an address of this machine; choose another with --host") from error
    try:
        if os.name == "posix":  # elsewhere it would allow two servers on one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)  # now: two sockets can be bound to one port while neither listens
        listener.setblocking(False)
    except (OSError, OverflowError) as error:
        listener.close()
        raise CannotListen(_reason(host, port, error)) from error
    return listener


def _reason(host: str, port: int, error: OSError | OverflowError) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"port {port} on {host} is taken; choose another with --port"
    if number in (errno.EACCES, errno.EPERM):
        return f"port {port} on {host} is reserved for the system; choose one above 1023 with --port"
    if number == errno.EADDRNOTAVAIL:
        return f"{host!r} is not an address of this machine; choose another with --host"
    return f"cannot listen on port {port} of {host}: {error}"
