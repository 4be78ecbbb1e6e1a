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
        "headers",
        "method",
        "n",
        "path",
        "query",
        "reply_headers",
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
        self.headers = headers
        self.client = client
        self.body = b""
        self.reseller = ""
        self.wanted_rule = ""
        self.status = 0
        self.reply_headers: list[tuple[bytes, bytes]] = []
        self.content = b""
        self.rule = ""
        self.fault = ""
        self.error = ""
        self.diagnosis = ""
        self.trxid = ""
        self.duration_us = 0

    @property
    def size(self) -> int:
        """About how many bytes this exchange keeps alive."""
        return _OVERHEAD_BYTES + len(self.body) + len(self.content)


Journal = Ring[Exchange]
