"""What a scope of ASGI leaves out, and our own server knows."""

from typing import Any

from simulator.server.responder import responder_of


def unusual_target(scope: Any) -> bytes:
    """The request target as it was sent, where ASGI's decoded path and query do not tell it, else empty."""
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    responder = responder_of(scope)
    sent: bytes = responder.request.as_sent if responder is not None else scope.get("raw_path") or b""
    if responder is None and sent:
        sent += query
    return sent if sent != scope["path"].encode("utf-8", "surrogatepass") + query else b""
