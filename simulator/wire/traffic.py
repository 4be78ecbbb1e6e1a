"""The requests and answers of audited traffic, in both directions: calls of the client, and notifications to it."""

from datetime import datetime
from typing import Literal

import msgspec

from simulator.domain.model.fault_kinds import WITHOUT_BODY

Headers = tuple[tuple[bytes, bytes], ...]


class TrafficRecord(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The common part of calls and notifications. `n` counts from 1 within a log; evidence refers to it. `status` is 0
    without an answer. `refid` and `trxid` are empty when unknown."""

    n: int
    at: datetime
    method: str
    headers: Headers = ()
    body: bytes = b""
    status: int = 0
    answer_headers: Headers = ()
    answer: bytes = b""
    duration_us: int = 0
    refid: str = ""
    trxid: str = ""


class Call(TrafficRecord, frozen=True, gc=False, kw_only=True):
    """A request of the client and the service's answer.

    `path` is without the prefix of a sandbox, `query` is raw. `reseller`, `client` and `diagnosis` are empty when
    unknown. `service_time` is the service's time, if the request's timestamp is compared with another clock than that
    of `at`.
    """

    path: str
    query: bytes = b""
    reseller: str = ""
    client: str = ""
    diagnosis: str = ""
    service_time: datetime | None = None


class Notification(TrafficRecord, frozen=True, gc=False, kw_only=True):
    """An attempt of a callback or a webhook, and the answer of the client's receiver.

    `error` says why the receiver gave no answer. `probe` is the name of the probe that sent it instead of the service,
    and `is_forged` whether it should be rejected.
    """

    kind: Literal["callback", "webhook"]
    url: str
    error: str = ""
    probe: str = ""
    is_forged: bool = False


def as_sent(status: int, lines: bytes, body: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return the headers of these lines as pairs, and the body; 204 and 304 have no body and no length."""
    pairs = (line.partition(b": ") for line in lines.split(b"\r\n") if line)
    headers = [(name, value) for name, _, value in pairs if status not in WITHOUT_BODY or name != b"content-length"]
    return headers, b"" if status in WITHOUT_BODY else body
