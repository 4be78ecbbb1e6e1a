"""Facts about a request that ASGI leaves out: its target as it was sent, and whether a browser opened the root."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from simulator.server.message import HttpRequest
from simulator.server.responder import responder_of


def unusual_target(scope: Any, below: Callable[[bytes], bytes]) -> bytes:
    """Return the request target as it was sent, `below` what proxies have before it, when ASGI's decoded path and query
    differ from it, else empty."""
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    responder = responder_of(scope)
    sent = below(responder.request.as_sent) if responder is not None else scope.get("raw_path") or b""
    if responder is None and sent:
        sent += query
    return sent if sent != scope["path"].encode("utf-8", "surrogatepass") + query else b""


def source_of(scope: Any) -> HttpRequest | None:
    """Return the server's own record of a request, None under another server."""
    responder = responder_of(scope)
    return None if responder is None else responder.request


def use_host_of_target(scope: Any) -> None:
    """Set `host` from a target in absolute form, which wins over the header (RFC 9112 3.2.2)."""
    responder = responder_of(scope)
    sent = responder.request.as_sent if responder is not None else scope.get("raw_path") or b""
    if not sent or sent.startswith(b"/"):
        return
    authority = re.split(rb"[/?#]", sent.partition(b"://")[2], maxsplit=1)[0]
    scope["headers"] = [(b"host", authority), *(pair for pair in scope["headers"] if pair[0] != b"host")]


def is_browser_at_root(method: str, path: str, headers: Mapping[bytes, bytes]) -> bool:
    """True for a person who opens the server's address, which the service knows nothing of: the console is shown."""
    return path == "/" and method == "GET" and b"text/html" in headers.get(b"accept", b"").lower()
