"""The journal: a sandbox's requests, their answers, and why. Records are rendered lazily."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from itertools import chain
from urllib.parse import quote, unquote

from simulator.persistence.tape.entries import Recorded
from simulator.runtime.bounded_log import BoundedLog
from simulator.runtime.traces import trace_of

# The estimated overhead of an exchange besides the bytes received and sent.
_OVERHEAD_BYTES = 1000


class Exchange(Recorded, gc=False, kw_only=True):
    """A request and its answer, filled in by the pipeline and then stored in the journal.

    `n` is assigned when it is answered, so that the journal is in order; it stays 0 when the sandbox was deleted
    before. `wall` is the wall time of the arrival, None when it was not read. `packed_headers` is the result of
    `packed`. `owner` is the id of the sandbox whose credentials were refused, if it is not the sandbox of this journal.
    `target` is the request target as sent, with the prefix of a sandbox, if it differs from `path` and `query`: escapes
    in the path, a lone `?`, the absolute form. `replay_of` is the number of the exchange that this exchange repeats, 0
    when a client sent it. `told` replaces `diagnosis` in the header for unauthenticated callers, empty when they get
    the same. `prefix` is the part of the path that named the sandbox. `is_awaited` is set when the body arrived after
    the request's head. `ending` is a word for how the connection ended, empty as usual. `scheme` is `https` or empty.
    """

    at: datetime
    method: str
    path: str
    query: bytes
    packed_headers: bytes
    client: str
    body: bytes = b""
    reseller: str = ""
    selected_rule: str = ""
    status: int = 0
    own_headers: tuple[tuple[bytes, bytes], ...] = ()
    content: bytes = b""
    rule: str = ""
    fault: str = ""
    error: str = ""
    diagnosis: str = ""
    told: str = ""
    trxid: str = ""
    refid: str = ""
    duration_us: int = 0
    owner: str = ""
    wall: datetime | None = None
    target: bytes = b""
    replay_of: int = 0
    prefix: str = ""
    is_awaited: bool = False
    ending: str = ""
    scheme: str = ""

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the request's headers as received."""
        return unpacked(self.packed_headers)

    @property
    def header_texts(self) -> tuple[tuple[str, str], ...]:
        """Return the headers as Latin-1, all at once, since each recorded request stores them in this form."""
        parts = self.packed_headers.decode("latin-1").split("\n")
        return tuple(zip(parts[::2], parts[1::2], strict=False))

    @property
    def trace_id(self) -> str:
        """Return the id of the trace from its `traceparent`; empty without a valid one."""
        trace = trace_of(self.headers) if b"traceparent" in self.packed_headers else None
        return "" if trace is None else trace.trace_id

    @property
    def unread(self) -> str:
        """Return a sentence about a body that was announced and not read, or an empty text. A refusal that does not
        need the body does not wait for it."""
        if self.body:
            return ""
        headers = dict(self.headers)
        if b"transfer-encoding" in headers:
            return "Its body, which came in chunks, was empty or not read."
        length = headers.get(b"content-length", b"0").lstrip(b"0").decode("latin-1")
        return f"Its body of {length} bytes was not read." if length else ""

    @property
    def size(self) -> int:
        """Return the approximate memory of this exchange, in bytes."""
        came = len(self.packed_headers) + len(self.path) + len(self.query) + len(self.target) + len(self.body)
        return _OVERHEAD_BYTES + came + len(self.content)


Journal = BoundedLog[Exchange]


def packed(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Pack all headers into a single object: many small objects would make thousands of exchanges slow to store and
    free."""
    return b"\n".join(chain.from_iterable(headers))


def unpacked(headers: bytes) -> list[tuple[bytes, bytes]]:
    """Unpack the headers that `packed` has packed."""
    parts = headers.split(b"\n")
    return list(zip(parts[::2], parts[1::2], strict=False))


NO_CONTENT = 204
CONTENT_TYPE = b"content-type"
_JSON_LINE = b"content-type: application/json\r\n"


def reply_headers(sandbox_id: str, exchange: Exchange, told: str = "") -> bytes:
    """Return the header lines of an exchange's answer, with line ends: `X-Sim-*` and the endpoint's headers. `told`, if
    given, replaces the diagnosis."""
    if exchange.status == NO_CONTENT:
        # HTTP forbids the other headers with 204.
        lines = b"x-sim-sandbox: %b\r\nx-sim-request-id: %d\r\n" % (sandbox_id.encode(), exchange.n)
    else:
        lines = (
            b"content-type: application/json\r\ncontent-length: %d\r\nx-sim-sandbox: %b\r\nx-sim-request-id: %d\r\n"
            % (len(exchange.content), sandbox_id.encode(), exchange.n)
        )
    if not exchange.n:
        lines = lines.replace(b"x-sim-request-id: 0\r\n", b"")
    if exchange.fault or exchange.rule:
        # A magic account's fault and timeline may have the same name.
        is_single = not exchange.fault or exchange.fault == exchange.rule
        names = (exchange.rule,) if is_single else filter(None, (exchange.fault, exchange.rule))
        lines += b"x-sim-rule: %b\r\n" % b", ".join(map(encode_rule_name, names))
    if exchange.diagnosis:
        lines += b"x-sim-diagnosis: %b\r\n" % _plain(told or exchange.told or exchange.diagnosis)
    for name, value in exchange.own_headers:
        if name.lower() == CONTENT_TYPE:
            lines = lines.replace(_JSON_LINE, b"", 1)
        lines += b"%b: %b\r\n" % (name, value)
    return lines


@lru_cache(maxsize=1024)
def _plain(text: str) -> bytes:
    """Encode text for a header: printable ASCII, at most 1000 bytes."""
    return text.encode("unicode_escape")[:1000]


_TO_ESCAPE = re.compile(r"[^ -~]+|^ +| +$|%(?=[0-9A-Fa-f]{2})")


@lru_cache(maxsize=1024)
def encode_rule_name(name: str) -> bytes:
    """Encode the name for a header."""
    return _TO_ESCAPE.sub(lambda found: quote(found[0], safe=""), name).encode("ascii")


def decode_rule_names(sent: bytes) -> tuple[str, ...]:
    """Return the names that a header may mean, the likeliest first: decoded, or verbatim."""
    try:
        text = sent.decode()
    except UnicodeDecodeError:
        text = sent.decode("latin-1")
    return (text,) if "%" not in text else (unquote(text), text)
