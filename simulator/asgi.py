"""Requests and answers in ASGI's form: from our own server, from any other, and below another application."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.routing import Mount

from simulator.api.call import ApiRequest, EncodedReply
from simulator.api.clients import ClientResolver
from simulator.domain.model.outcomes import ConnectionEnd
from simulator.server.responder import responder_of
from simulator.wire.traffic import as_sent

ROOT_KEY: Final = "reseller_sim.root"


class ProxyPrefix:
    """The prefix `root` that a proxy in front of a server adds to our paths. A proxy may keep the prefix or remove
    it."""

    def __init__(self, root: str) -> None:
        self.root = root

    def below(self, path: str) -> str:
        """Return a path without the prefix."""
        below = path.removeprefix(self.root)
        return below if below.startswith("/") else path

    def below_sent(self, target: bytes) -> bytes:
        """Return a target, as sent, without the prefix."""
        return self.below(target.decode("latin-1")).encode("latin-1")


class AsgiEndpoint:
    """A function as an ASGI application, since Starlette treats a bare function as a request handler."""

    def __init__(self, answer: Callable[[Any, Any, Any], Awaitable[None]]) -> None:
        self._answer = answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Call the function, as ASGI specifies."""
        await self._answer(scope, receive, send)


def create_mount(path: str, endpoint: AsgiEndpoint) -> Mount:
    """Return the mount of an endpoint, whose paths may have line breaks, percent-encoded."""
    mount = Mount(path, endpoint)
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount


def strip_mount(scope: Any, prefix: ProxyPrefix) -> dict[str, Any]:
    """Return a scope whose paths start after the prefix of an enclosing application or a proxy."""
    below = dict(scope)
    # Other servers than ours may leave blanks around values (RFC 9110 5.5).
    below["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
    mount = scope.get("root_path", "")
    below["path"] = prefix.below(scope["path"].removeprefix(mount) or "/")
    below["raw_path"] = prefix.below_sent((scope.get("raw_path") or b"").removeprefix(mount.encode()))
    below["root_path"] = ""
    below[ROOT_KEY] = mount + prefix.root
    return below


def use_forwarded(scope: Any, clients: ClientResolver) -> None:
    """Set scheme and host of the `scope` of a control request from a trusted proxy's headers."""
    scheme, host = clients.forwarded((scope.get("client") or ("",))[0], dict(scope["headers"]))
    if scheme:
        scope["scheme"] = scheme
    if host:
        scope["headers"] = [(b"host", host), *(pair for pair in scope["headers"] if pair[0] != b"host")]


def api_request(scope: Any, receive: Any, prefix: ProxyPrefix) -> ApiRequest:
    """Return a request of the reseller API, whose body is still to be received. It has its target as it was sent where
    ASGI's decoded path and query differ from it."""
    responder = responder_of(scope)
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    raw_path = scope.get("raw_path") or b""
    target = prefix.below_sent(responder.request.raw_target) if responder is not None else raw_path and raw_path + query
    return ApiRequest(
        method=scope["method"],
        query=scope["query_string"],
        headers=scope["headers"],
        by_name=dict(scope["headers"]),
        client=(scope.get("client") or ("",))[0],
        body=None,
        receive=receive,
        target=b"" if target == scope["path"].encode("utf-8", "surrogatepass") + query else target,
        source=None if responder is None else responder.request,
    )


async def send_answer(scope: Any, send: Any, answer: EncodedReply) -> None:
    """Send an answer with its ending. Other servers than ours send it in ASGI's two messages and ignore endings that
    these cannot express."""
    status, lines, body, ending = answer
    responder = responder_of(scope)
    if responder is not None:
        await responder.answer(status, lines, body, ending)
    elif ending is None or ending.name is ConnectionEnd.WHOLE:
        headers, body = as_sent(status, lines, body)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
