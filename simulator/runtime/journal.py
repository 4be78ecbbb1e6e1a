"""What a sandbox was asked, what it answered, and why. Nothing is rendered before somebody reads it."""

from datetime import datetime
from itertools import chain

from simulator.runtime.ring import Ring

# What an exchange costs beside the bytes that came in and went out, when its size is reckoned.
_OVERHEAD_BYTES = 1000


class Exchange:
    """One request and its answer, filled in on its way through the pipeline and then kept in the journal.

    What most requests never have stands on the class, so that making one costs little.
    """

    n = 0  # given when it is answered, so that the journal is in order
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
        # One object for all headers: thousands of exchanges are kept, and many small objects would make each of them
        # slow to keep and slow to forget.
        self.packed_headers = b"\n".join(chain.from_iterable(headers))
        self.client = client

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The request's headers, as they came."""
        parts = self.packed_headers.split(b"\n")
        return list(zip(parts[::2], parts[1::2], strict=False))

    @property
    def size(self) -> int:
        """About how many bytes this exchange keeps alive."""
        came = len(self.packed_headers) + len(self.path) + len(self.query) + len(self.body)
        return _OVERHEAD_BYTES + came + len(self.content)


Journal = Ring[Exchange]

JSON = (b"content-type", b"application/json")
NO_CONTENT = 204


def reply_headers(sandbox_id: str, exchange: Exchange) -> list[tuple[bytes, bytes]]:
    """The headers of an exchange's answer: `X-Sim-*` beside what the endpoint added."""
    headers = [
        JSON,
        (b"content-length", b"%d" % len(exchange.content)),
        (b"x-sim-sandbox", sandbox_id.encode()),
        (b"x-sim-request-id", b"%d" % exchange.n),
    ]
    if exchange.status == NO_CONTENT:
        del headers[:2]  # HTTP forbids them beside 204
    if exchange.fault or exchange.rule:
        # A magic account may have a fault and a timeline of one name.
        is_single = not exchange.fault or exchange.fault == exchange.rule
        rule = exchange.rule if is_single else ", ".join(filter(None, (exchange.fault, exchange.rule)))
        headers.append((b"x-sim-rule", _plain(rule)))
    if exchange.diagnosis:
        headers.append((b"x-sim-diagnosis", _plain(exchange.diagnosis)))
    headers.extend(exchange.own_headers)
    return headers


def _plain(text: str) -> bytes:
    """Text as a header can carry it: printable ASCII, at most 1000 bytes."""
    return text.encode("unicode_escape")[:1000]
