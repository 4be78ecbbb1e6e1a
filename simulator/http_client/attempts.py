"""A single attempt to deliver a callback or a webhook: builds the request, and returns every outcome as a value.

Only Host, Content-Length and the delivery header are added to the given request.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.domain.model.fault_kinds import WITHOUT_BODY
from simulator.http_client.answers import AnswerBounds, AnswerReader, Fields
from simulator.http_client.client import Client
from simulator.http_client.dialer import NotConnectedError, Origin
from simulator.http_client.targets import DEFAULT_PORTS, MAX_TARGET_CHARS, BadTarget, HttpTarget, parse_target

DELIVERY_HEADER = "X-Sim-Delivery"
"""The header of every callback and webhook. The control API of every simulator refuses requests that have it."""

Headers = tuple[tuple[str, str], ...]

_is_token = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+").fullmatch
_forbidden = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search
_OURS = frozenset({"host", "content-length", "transfer-encoding", DELIVERY_HEADER.lower()})
_BODYLESS_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})

MAX_URL_CHARS: Final = 256 * 1024
"""The longest URL that is sent. A GET callback carries the whole transaction in its query (SPEC 6.1), and ten thousand
characters of remarks are up to 120,000 when percent-encoded."""

BODY_BYTES: Final = 16 * 1024
"""The maximum of a response body that is read. A longer body closes the connection."""

HEADERS_CHARS: Final = 8 * 1024
"""The maximum of response headers that is stored."""

BOUNDS: Final = AnswerBounds(head_bytes=64 * 1024, fields=128, body_bytes=BODY_BYTES)

_TRUST: Final = (
    "; start the server with --callbacks-ca FILE or SSL_CERT_FILE=FILE, the certificate of the receiver or of its "
    "authority, write `accept_any_certificate: true` into the scenario, or use an http:// URL"
)

_PERHAPS_TLS: Final = "; if the receiver speaks TLS, use https:// in its URL"

_BAD_VALUE: Final = "the method or the value of a header is not allowed in HTTP"
_HIDDEN_HEADERS: Final = frozenset({"set-cookie", "set-cookie2"})


class NotAllowedError(ValueError):
    """A request that HTTP does not allow. The text says why, without repeating the request."""


class Route(NamedTuple):
    """The destination of a URL: the origin to connect to, the value of `Host`, and the path with its query."""

    origin: Origin
    host: str
    path: str


def route(target: HttpTarget) -> Route:
    parts = urlsplit(target.url)
    has_port = not parts.netloc.endswith("]") and ":" in parts.netloc
    host = (parts.netloc.rpartition(":")[0] if has_port else parts.netloc).rstrip(".")
    if target.port != DEFAULT_PORTS[parts.scheme]:
        host = f"{host}:{target.port}"
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return Route(Origin(parts.scheme == "https", target.host, target.port), host, path)


def request_bytes(outgoing: OutgoingRequest, way: Route, *, is_delivery: bool = True) -> bytes:
    """Return the bytes of `outgoing`. Its own `Host` is kept; its framing headers are replaced.

    Raises NotAllowedError.
    """
    return _with_body(_head(outgoing.method, way, outgoing.headers, is_delivery=is_delivery), outgoing)


def _with_body(head: bytes, outgoing: OutgoingRequest) -> bytes:
    body = outgoing.body
    if body is None and outgoing.method.upper() in _BODYLESS_METHODS:
        return head + b"\r\n"
    return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body or b""), body or b"")


def _delivery_head(url: str, method: str, headers: Headers) -> tuple[Origin, bytes]:
    """Return where a delivery is sent, and its head but for the length. Raises BadTarget and NotAllowedError."""
    target = parse_target(url, MAX_URL_CHARS)
    if not isinstance(target, HttpTarget):
        raise BadTarget("an inbox has no address of its own in HTTP")
    way = route(target)
    return way.origin, _head(method, way, headers, is_delivery=True)


_recurring_head = lru_cache(maxsize=512)(_delivery_head)  # a receiver gets the same in all callbacks


def _head(method: str, way: Route, headers: Headers, *, is_delivery: bool) -> bytes:
    """Return the request line and the headers but for the length. Raises NotAllowedError."""
    host, lines = f"Host: {way.host}", [f"{DELIVERY_HEADER}: 1\r\n" * is_delivery]
    for name, value in headers:
        if not _is_token(name):
            raise NotAllowedError("the name of a header is not allowed in HTTP")
        if name.lower() not in _OURS:
            lines.append(f"{name}: {value}\r\n")
        elif name.lower() == "host":
            host = f"{name}: {value}"
    if not _is_token(method) or any(_forbidden(value) for _, value in headers):
        raise NotAllowedError(_BAD_VALUE)
    try:
        return f"{method.upper()} {way.path} HTTP/1.1\r\n{host}\r\n{''.join(lines)}".encode()
    except UnicodeEncodeError:
        raise NotAllowedError(_BAD_VALUE) from None


async def attempt(client: Client, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
    """Send `outgoing` of the sandbox `owner`, within `timeout_s`."""
    try:
        head_of = _recurring_head if len(outgoing.url) <= MAX_TARGET_CHARS else _delivery_head
        origin, head = head_of(outgoing.url, outgoing.method, outgoing.headers)
        if not outgoing.verifies:
            origin = origin._replace(verifies=False)
        reader = AnswerReader(outgoing.method, BOUNDS)
        is_over = await client.exchange(origin, _with_body(head, outgoing), reader, timeout_s, owner)
    except (BadTarget, NotAllowedError) as error:
        return AttemptResult(AttemptEnd.BLOCKED, error=str(error))
    except NotConnectedError as error:
        return AttemptResult(error.end, error=str(error) + _TRUST * error.is_untrusted)
    if is_over:
        is_good = not (reader.problem or reader.broke_off or reader.has_extra)
        why = "" if is_good else _complaint(reader, is_tls=origin.is_tls)
    elif reader.status is None:
        why = f"connected, but no answer within {timeout_s:g} s"
    else:
        why = f"status {reader.status} came, but not its whole answer within {timeout_s:g} s"
    if reader.status is None:  # else the status line decides: the rest may be truncated or malformed
        return AttemptResult(AttemptEnd.CONNECTION if is_over else AttemptEnd.TIMEOUT, error=why)
    return _answered(reader.status, reader.take(), why, reader.head.fields if reader.head else ())


def _complaint(reader: AnswerReader, *, is_tls: bool) -> str:
    """Return what was wrong with a response, or why it is missing."""
    status = reader.status
    if reader.problem:
        early = f"the answer {reader.problem}"
        late = f"but {early}"
    elif reader.broke_off:
        early, late = f"{reader.broke_off} before an answer came", "then the answer broke off"
        early += "" if is_tls or reader.has_begun else _PERHAPS_TLS
    else:
        extra = "a body, which HTTP forbids" if status in WITHOUT_BODY else "more bytes than the answer has"
        return f"status {status} came with {extra}; the status counts"
    return early if status is None else f"status {status} came, {late}"


@lru_cache(maxsize=64)  # within a second, a receiver sends the same to all attempts
def _answered(status: int, body: bytes, why: str, fields: Fields) -> AttemptResult:
    """Return the result of an answer, with its headers without cookies, up to `HEADERS_CHARS`."""
    stored: list[tuple[str, str]] = []
    left = HEADERS_CHARS
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("latin-1").rstrip(), raw_value.rstrip(b" \t").decode("utf-8", "replace")
        left -= len(name) + len(value)
        if left < 0:
            break
        if name.lower() not in _HIDDEN_HEADERS:
            stored.append((name, value))
    return AttemptResult(AttemptEnd.ANSWERED, status, body.decode("utf-8", "replace"), why, tuple(stored))
