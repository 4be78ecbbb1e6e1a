"""Header fields on their way through: what belongs to one connection alone stays behind (RFC 9110 7.6.1)."""

from collections.abc import Iterable

from simulator.wire.traffic import Headers

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
# The proxy's own server has answered it with 100 Continue, and the body is on its way (RFC 9110 10.1.1).
_ANSWERED_HERE = frozenset({b"expect"})
# Connection may not name what the message cannot do without.
_END_TO_END = frozenset({b"content-length", b"content-type", b"host", b"authorization"})


def passed_on(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The end-to-end fields, in their order, each as it came."""
    fields = tuple(headers)
    named = b",".join(value for name, value in fields if name.lower() == b"connection").split(b",")
    dropped = _HOP_BY_HOP | ({name.strip().lower() for name in named} - _END_TO_END)
    return tuple((name, value) for name, value in fields if name.lower() not in dropped)


def to_upstream(headers: Iterable[tuple[bytes, bytes]], authority: str, *, is_chunked: bool) -> Headers:
    """A request's fields with the upstream's Host in the place of the client's; `is_chunked` frames its body anew."""
    fields = tuple((name, value) for name, value in passed_on(headers) if name.lower() not in _ANSWERED_HERE)
    host = authority.encode()
    if not any(name.lower() == b"host" for name, _ in fields):  # HTTP/1.0 may omit it
        fields = ((b"host", host), *fields)
    replaced = tuple((name, host if name.lower() == b"host" else value) for name, value in fields)
    return (*replaced, (b"transfer-encoding", b"chunked")) if is_chunked else replaced


def value_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """The last value of a field, whose `name` is in lower case; empty when there is none."""
    return next((value for each, value in reversed(tuple(headers)) if each.lower() == name), b"")
