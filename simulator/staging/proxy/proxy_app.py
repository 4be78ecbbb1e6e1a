"""The proxy as an ASGI application: requests outside its own paths go to the upstream."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from simulator.control.access import Guard
from simulator.control.http import error
from simulator.options import CONTROL_PATH
from simulator.server.responder import responder_of
from simulator.staging.proxy.messages import BodyBudget, has_dots, is_control
from simulator.staging.proxy.proxy_control import Audit, ProxyControl
from simulator.staging.proxy.recording import Recording
from simulator.staging.proxy.relay import Relay
from simulator.staging.proxy.watcher import Watcher
from simulator.staging.signed_requests import Address

CALLBACKS_PATH: Final = CONTROL_PATH + "/callbacks"
CALLBACK_TIMEOUT_S: Final = 30.0  # after which the service gives up on an attempt (SPEC 6.1)

wall_clock: Callable[[], datetime] = partial(datetime.now, UTC)


class Proxy:
    """Relays requests to `upstream`, and requests to `CALLBACKS_PATH` to `callbacks_to`. `recording` ends after all
    messages were answered and inspected."""

    def __init__(
        self,
        upstream: Address,
        callbacks_to: Address | None,
        watcher: Watcher,
        guard: Guard,
        audit: Audit,
        timeout_s: float,
        *,
        recording: Recording | None = None,
        wall: Callable[[], datetime] = wall_clock,
    ) -> None:
        self.watcher = watcher
        facts = {"upstream": upstream.url, "callbacks_to": callbacks_to.url if callbacks_to else None}
        self.control = ProxyControl(watcher, guard, audit, facts)
        self._upstream, self._callbacks_to, self._timeout_s, self._wall = upstream, callbacks_to, timeout_s, wall
        self._recording = recording
        self._calls: Relay | None = None
        self._callbacks: Relay | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one ASGI request."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        responder = responder_of(scope)
        assert responder is not None, "the proxy runs on our server"
        target = responder.request.target
        raw_path = target.partition(b"?")[0]
        path = raw_path.decode("latin-1")
        if path == CALLBACKS_PATH or path.startswith(CALLBACKS_PATH + "/"):
            await self._call_back(scope, receive, send, target.removeprefix(CALLBACKS_PATH.encode()))
        elif path == CONTROL_PATH or path.startswith(CONTROL_PATH + "/"):
            responder.cancel_when_left()  # it changes nothing, but may wait for minutes
            await self.control(scope, receive, send)
        elif is_control(raw_path) or is_control(self._upstream.base.encode() + raw_path):
            await _refuse(f"a path to the control API must be spelled {CONTROL_PATH}")(scope, receive, send)
        elif self._upstream.base and has_dots(raw_path):
            await _refuse("a dot segment could lead out of the upstream's base path")(scope, receive, send)
        else:
            assert self._calls is not None, "the server has started the application"
            await self._calls.pass_on(scope, receive, send, target, self.watcher.note_call)

    async def _call_back(self, scope: Any, receive: Any, send: Any, rest: bytes) -> None:
        """Relay a callback to the operator's address; `rest` follows the callbacks' path."""
        if self._callbacks is None or self._callbacks_to is None:
            words = "this proxy passes no callbacks on: it was started without --callbacks-to"
            await error(404, "no_callbacks", words)(scope, receive, send)
            return
        if has_dots(rest.partition(b"?")[0]):
            await _refuse("a dot segment could lead out of the receiver's base path")(scope, receive, send)
            return
        receiver = self._callbacks_to
        end = b"/" if receiver.slash or not receiver.base else b""
        target = rest if rest.startswith(b"/") else end + rest
        await self._callbacks.pass_on(scope, receive, send, target, self.watcher.note_notification)

    async def _lifespan(self, receive: Any, send: Any) -> None:
        await receive()
        budget = BodyBudget()
        self._calls = Relay(self._upstream, self._timeout_s, "the service", self._wall, budget)
        if self._callbacks_to is not None:
            self._callbacks = Relay(self._callbacks_to, CALLBACK_TIMEOUT_S, "the receiver", self._wall, budget)
        if self._recording is not None:
            self._recording.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for relay in filter(None, (self._calls, self._callbacks)):
            await relay.close()
        if self._recording is not None:
            await self._recording.end()
        await send({"type": "lifespan.shutdown.complete"})

    def end_waits(self) -> None:
        """Cancel the waits of control requests, since the server stops."""
        log = self.watcher.log
        for ring in (log.calls, log.notifications, log.departures):
            ring.notifier.close()


def _refuse(why: str) -> Response:
    """Refuse a request without relaying it or writing it to the journal."""
    return error(404, "not_passed_on", f"reseller-sim proxy, not the service: {why}")
