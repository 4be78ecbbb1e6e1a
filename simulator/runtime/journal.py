"""What a sandbox was asked, what it answered, and why. Nothing is rendered before somebody reads it."""

from datetime import datetime

from simulator.runtime.ring import Ring

# Headers and small parts beside the bodies, in bytes, when an exchange's size is reckoned.
_OVERHEAD_BYTES = 1200


class Exchange:
    """One request and its answer, filled in on its way through the pipeline and then kept in the journal."""

    __slots__ = (
        "at",
        "body",
        "client",
        "content",
        "diagnosis",
        "duration_us",
        "error",
        "fault",
        "method",
        "n",
        "own_headers",
        "packed_headers",
        "path",
        "query",
        "refid",
        "reseller",
        "rule",
        "status",
        "trxid",
        "wanted_rule",
    )

    def __init__(
        self,
        at: datetime,
        method: str,
        path: str,
        query: bytes,
        headers: list[tuple[bytes, bytes]],
        client: str,
    ) -> None:
        self.n = 0  # given when it is answered, so that the journal is in order
        self.at = at
        self.method = method
        self.path = path
        self.query = query
        # One object for all headers: thousands of exchanges are kept, and many small objects would make each of them
        # slow to keep and slow to forget.
        self.packed_headers = b"\n".join([part for pair in headers for part in pair])
        self.client = client
        self.body = b""
        self.reseller = ""
        self.wanted_rule = ""
        self.status = 0
        self.own_headers: tuple[tuple[bytes, bytes], ...] = ()
        self.content = b""
        self.rule = ""
        self.fault = ""
        self.error = ""
        self.diagnosis = ""
        self.trxid = ""
        self.refid = ""
        self.duration_us = 0

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The request's headers, as they came."""
        parts = self.packed_headers.split(b"\n")
        return list(zip(parts[::2], parts[1::2], strict=False))

    @property
    def size(self) -> int:
        """About how many bytes this exchange keeps alive."""
        return _OVERHEAD_BYTES + len(self.body) + len(self.content)


Journal = Ring[Exchange]

JSON = (b"content-type", b"application/json")


def reply_headers(sandbox_id: str, exchange: Exchange) -> list[tuple[bytes, bytes]]:
    """The headers of an exchange's answer: `X-Sim-*` beside what the endpoint added."""
    headers = [
        JSON,
        (b"content-length", b"%d" % len(exchange.content)),
        (b"x-sim-sandbox", sandbox_id.encode()),
        (b"x-sim-request-id", b"%d" % exchange.n),
    ]
    if exchange.fault or exchange.rule:
        # A magic account may have a fault and a timeline of one name.
        rule = ", ".join(dict.fromkeys(filter(None, (exchange.fault, exchange.rule))))
        headers.append((b"x-sim-rule", _plain(rule)))
    if exchange.diagnosis:
        headers.append((b"x-sim-diagnosis", _plain(exchange.diagnosis)))
    headers.extend(exchange.own_headers)
    return headers


def _plain(text: str) -> bytes:
    """Text as a header can carry it: printable ASCII, at most 1000 bytes."""
    return text.encode("unicode_escape")[:1000]
