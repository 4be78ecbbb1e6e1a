"""The journal: a sandbox's requests, their answers, and why. Nothing is rendered before it is read."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from itertools import chain
from urllib.parse import quote, unquote

from simulator.persistence.tape.entries import Recorded
from simulator.runtime.ring import Ring
from simulator.runtime.traces import trace_of

# The estimated overhead of an exchange beside the bytes received and sent.
_OVERHEAD_BYTES = 1000


class Exchange(Recorded, gc=False, kw_only=True):
    """One request and its answer, filled in by the pipeline and then stored in the journal.

    `n` is assigned when it is answered, so that the journal is in order; it stays 0 when the sandbox was deleted
    meanwhile, and its journal with it. `wall` is the wall time at which it arrived, None when nobody read it.
    `packed_headers` is what `packed` makes. `owner` is the id of the sandbox whose credentials were refused, if it is
    another than the one with this journal. `target` is the request target as it was sent, with the prefix of a
    sandbox, where it is not just `path` and `query`: escapes in the path, a lone `?`, the absolute form. `replay_of` is
    the number of the exchange that this one repeats, 0 when a client sent it. `told` is what the header says in place
    of `diagnosis` to a caller who has not proved who it is, empty when it says the same. `prefix` is the part of the
    path that named the sandbox; `is_awaited` when the body was not there yet as the request came; `ending` is how the
    connection ended, in a word, empty as usual; `scheme` is `https` when it came by that, otherwise empty.
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
        """The request's headers as received."""
        return unpacked(self.packed_headers)

    @property
    def header_texts(self) -> tuple[tuple[str, str], ...]:
        """The same as Latin-1, all at once, since each request that is taped has them so."""
        parts = self.packed_headers.decode("latin-1").split("\n")
        return tuple(zip(parts[::2], parts[1::2], strict=False))

    @property
    def trace_id(self) -> str:
        """The id of the trace that it belongs to by its `traceparent`; empty without a valid one."""
        trace = trace_of(self.headers) if b"traceparent" in self.packed_headers else None
        return "" if trace is None else trace.trace_id

    @property
    def unread(self) -> str:
        """What is known of a body that was announced and is not here, in a sentence, or empty. A refusal that does not
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
        """The approximate memory of this exchange, in bytes."""
        came = len(self.packed_headers) + len(self.path) + len(self.query) + len(self.target) + len(self.body)
        return _OVERHEAD_BYTES + came + len(self.content)


Journal = Ring[Exchange]


def packed(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """All headers as one object: thousands of exchanges are stored, and many small objects would make each of them slow
    to store and slow to free."""
    return b"\n".join(chain.from_iterable(headers))


def unpacked(headers: bytes) -> list[tuple[bytes, bytes]]:
    """The headers that `packed` made one object of."""
    parts = headers.split(b"\n")
    return list(zip(parts[::2], parts[1::2], strict=False))


NO_CONTENT = 204
CONTENT_TYPE = b"content-type"
_JSON_LINE = b"content-type: application/json\r\n"


def reply_headers(sandbox_id: str, exchange: Exchange, told: str = "") -> bytes:
    """The header lines of an exchange's answer, with line ends: `X-Sim-*` and those of the endpoint. What is `told` is
    in the place of the diagnosis, if it is given."""
    if exchange.status == NO_CONTENT:
        # HTTP forbids the others with 204.
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
    """The names that a header may mean, the most likely first: decoded, or verbatim."""
    try:
        text = sent.decode()
    except UnicodeDecodeError:
        text = sent.decode("latin-1")
    return (text,) if "%" not in text else (unquote(text), text)
