"""The journal: a sandbox's requests, their answers, and why. Nothing is rendered before it is read."""

from datetime import datetime
from functools import lru_cache
from itertools import chain

from simulator.runtime.ring import Ring
from simulator.runtime.rule_names import printed

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
    """The header lines of an exchange's answer, with line ends."""
    return b"".join([b"%b: %b\r\n" % header for header in reply_header_pairs(sandbox_id, exchange)])


def reply_header_pairs(sandbox_id: str, exchange: Exchange) -> list[tuple[bytes, bytes]]:
    """The headers of an exchange's answer: `X-Sim-*` and those of the endpoint."""
    pairs = [(b"x-sim-sandbox", sandbox_id.encode()), (b"x-sim-request-id", b"%d" % exchange.n)]
    if exchange.status != NO_CONTENT:  # HTTP forbids these with 204
        pairs[:0] = ((b"content-type", b"application/json"), (b"content-length", b"%d" % len(exchange.content)))
    if exchange.fault or exchange.rule:
        # A magic account's fault and timeline may have the same name.
        is_single = not exchange.fault or exchange.fault == exchange.rule
        names = (exchange.rule,) if is_single else filter(None, (exchange.fault, exchange.rule))
        pairs.append((b"x-sim-rule", b", ".join(map(printed, names))))
    if exchange.diagnosis:
        pairs.append((b"x-sim-diagnosis", _plain(exchange.diagnosis)))
    pairs += exchange.own_headers
    return pairs


@lru_cache(maxsize=1024)
def _plain(text: str) -> bytes:
    """Encode text for a header: printable ASCII, at most 1000 bytes."""
    return text.encode("unicode_escape")[:1000]
