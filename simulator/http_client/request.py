"""The bytes of a request as they are sent, and where to. Only Host, Content-Length and the mark of a delivery are added
to what is given."""

import re
from functools import lru_cache
from typing import NamedTuple

from simulator.domain.model.effects import Outgoing
from simulator.http_client.dialer import Origin
from simulator.http_client.targets import DEFAULT_PORTS, MAX_TARGET_CHARS, HttpTarget, split_url

DELIVERY_HEADER = "X-Sim-Delivery"
"""Marks a callback or webhook. The control API of every simulator refuses a request that has it."""

_is_token = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+").fullmatch
_forbidden = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search
_OURS = frozenset({"host", "content-length", "transfer-encoding", DELIVERY_HEADER.lower()})
_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class NotAllowedError(ValueError):
    """HTTP does not allow such a request; the text says why, without repeating it."""


class Route(NamedTuple):
    """Where a URL leads: the origin to connect to, the value of `Host`, and the path with its query."""

    origin: Origin
    host: str
    path: str


def route(target: HttpTarget) -> Route:
    """The route to `target`, remembered for URLs of configurable length, since most recur."""
    return _known_route(target) if len(target.url) <= MAX_TARGET_CHARS else _route(target)


def _route(target: HttpTarget) -> Route:
    parts = split_url(target.url)
    has_port = not parts.netloc.endswith("]") and ":" in parts.netloc
    host = (parts.netloc.rpartition(":")[0] if has_port else parts.netloc).rstrip(".")
    if target.port != DEFAULT_PORTS[parts.scheme]:
        host = f"{host}:{target.port}"
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return Route(Origin(parts.scheme == "https", target.host, target.port), host, path)


_known_route = lru_cache(maxsize=512)(_route)


def request_bytes(outgoing: Outgoing, way: Route) -> bytes:
    """`outgoing` as it is sent. A `Host` that it has itself counts; its framing is ours alone.

    Raises NotAllowedError.
    """
    if not all(_is_token(name) for name, _ in outgoing.headers):
        raise NotAllowedError("the name of a header is not allowed in HTTP")
    if not _is_token(outgoing.method) or any(_forbidden(value) for _, value in outgoing.headers):
        raise NotAllowedError("the method or the value of a header is not allowed in HTTP")
    method, body = outgoing.method.upper(), outgoing.body
    host, lines = f"Host: {way.host}", []
    for name, value in outgoing.headers:
        if name.lower() not in _OURS:
            lines.append(f"{name}: {value}\r\n")
        elif name.lower() == "host":
            host = f"{name}: {value}"
    if body is not None or method not in _WITHOUT_BODY:
        lines.append(f"Content-Length: {len(body or b'')}\r\n")
    head = f"{method} {way.path} HTTP/1.1\r\n{host}\r\n{DELIVERY_HEADER}: 1\r\n{''.join(lines)}\r\n"
    try:
        return head.encode() + (body or b"")
    except UnicodeEncodeError:
        raise NotAllowedError("the method or the value of a header is not allowed in HTTP") from None
