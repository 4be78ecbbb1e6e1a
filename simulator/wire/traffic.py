"""The requests and answers of audited traffic, in both directions: calls of the client, and notifications to it."""

from datetime import datetime
from typing import Literal

import msgspec

from simulator.domain.model.fault_kinds import WITHOUT_BODY

Headers = tuple[tuple[bytes, bytes], ...]


class Call(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A request of the client and the service's answer.

    `n` counts from 1 within a log; evidence refers to it. `path` is without the prefix of a sandbox, `query` is raw.
    `status` is 0 when the connection ended before an answer. `refid`, `trxid`, `reseller`, `client` and `diagnosis` are
    empty when unknown. `service_time` is the service's time, if the request's timestamp is compared with another clock
    than that of `at`.
    """

    n: int
    at: datetime
    method: str
    path: str
    query: bytes = b""
    headers: Headers = ()
    body: bytes = b""
    status: int = 0
    answer_headers: Headers = ()
    answer: bytes = b""
    duration_us: int = 0
    refid: str = ""
    trxid: str = ""
    reseller: str = ""
    client: str = ""
    diagnosis: str = ""
    service_time: datetime | None = None


class Notification(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An attempt of a callback or a webhook, and the answer of the client's receiver.

    `n` counts from 1 within one log. `status` is 0 when the receiver gave no answer; `error` then says why. `probe` is
    the name of the probe that sent it instead of the service, and `is_forged` whether it should be rejected.
    """

    n: int
    at: datetime
    kind: Literal["callback", "webhook"]
    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""
    status: int = 0
    answer_headers: Headers = ()
    answer: bytes = b""
    duration_us: int = 0
    error: str = ""
    refid: str = ""
    trxid: str = ""
    probe: str = ""
    is_forged: bool = False


def as_sent(status: int, lines: bytes, body: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return the headers of these lines as pairs, and the body; 204 and 304 have no body and no length."""
    pairs = (line.partition(b": ") for line in lines.split(b"\r\n") if line)
    headers = [(name, value) for name, _, value in pairs if status not in WITHOUT_BODY or name != b"content-length"]
    return headers, b"" if status in WITHOUT_BODY else body
