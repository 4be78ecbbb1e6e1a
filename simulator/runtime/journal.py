"""The journal: a sandbox's requests, their answers, and why. Nothing is rendered before it is read."""

from datetime import datetime
from functools import lru_cache
from itertools import chain

from simulator.runtime.ring import Ring
from simulator.runtime.rule_names import encode_rule_name

# The estimated overhead of an exchange beside the bytes received and sent.
_OVERHEAD_BYTES = 1000


class Exchange:
    """One request and its answer, filled in by the pipeline and then stored in the journal.

    Rare attributes default on the class, so that creating an exchange is cheap.
    """

    n = 0  # assigned when it is answered, so that the journal is in order
    body = b""
    reseller = ""
    wanted_rule = ""
    status = 0
    own_headers: tuple[tuple[bytes, bytes], ...] = ()
    content = b""
    rule = ""
    fault = ""
    error = ""
    diagnosis = ""
    trxid = ""
    refid = ""
    duration_us = 0

    def __init__(
        self,
        at: datetime,
        method: str,
        path: str,
        query: bytes,
        headers: list[tuple[bytes, bytes]],
        client: str,
    ) -> None:
        self.at = at
        self.method = method
        self.path = path
        self.query = query
        # One object for all headers: thousands of exchanges are stored, and many small objects would make each of them
        # slow to store and slow to free.
        self.packed_headers = b"\n".join(chain.from_iterable(headers))
        self.client = client

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The request's headers as received."""
        parts = self.packed_headers.split(b"\n")
        return list(zip(parts[::2], parts[1::2], strict=False))

    @property
    def size(self) -> int:
        """The approximate memory of this exchange, in bytes."""
        came = len(self.packed_headers) + len(self.path) + len(self.query) + len(self.body)
        return _OVERHEAD_BYTES + came + len(self.content)


Journal = Ring[Exchange]

NO_CONTENT = 204


def reply_headers(sandbox_id: str, exchange: Exchange) -> bytes:
    """The header lines of an exchange's answer, with line ends: `X-Sim-*` and those of the endpoint."""
    if exchange.status == NO_CONTENT:
        # HTTP forbids the others with 204.
        lines = b"x-sim-sandbox: %b\r\nx-sim-request-id: %d\r\n" % (sandbox_id.encode(), exchange.n)
    else:
        lines = (
            b"content-type: application/json\r\ncontent-length: %d\r\nx-sim-sandbox: %b\r\nx-sim-request-id: %d\r\n"
            % (len(exchange.content), sandbox_id.encode(), exchange.n)
        )
    if exchange.fault or exchange.rule:
        # A magic account's fault and timeline may have the same name.
        is_single = not exchange.fault or exchange.fault == exchange.rule
        names = (exchange.rule,) if is_single else filter(None, (exchange.fault, exchange.rule))
        lines += b"x-sim-rule: %b\r\n" % b", ".join(map(encode_rule_name, names))
    if exchange.diagnosis:
        lines += b"x-sim-diagnosis: %b\r\n" % _plain(exchange.diagnosis)
    for name, value in exchange.own_headers:
        lines += b"%b: %b\r\n" % (name, value)
    return lines


def reply_header_pairs(sandbox_id: str, exchange: Exchange) -> list[tuple[bytes, bytes]]:
    """The same as names and values."""
    pairs = (line.partition(b": ") for line in reply_headers(sandbox_id, exchange).split(b"\r\n") if line)
    return [(name, value) for name, _, value in pairs]


@lru_cache(maxsize=1024)
def _plain(text: str) -> bytes:
    """Encode text for a header: printable ASCII, at most 1000 bytes."""
    return text.encode("unicode_escape")[:1000]
