"""Sends a request from one server to another server of the list over HTTP/1.1, within limits of time and bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.http_client.answers import AnswerBounds, AnswerReader
from simulator.http_client.client import Client
from simulator.http_client.dialer import Dialer, NotConnectedError, Origin
from simulator.shards.servers import Server

HEAD_BYTES_MAX: Final = 64 * 1024
ASKED_BY: Final = "x-sim-asked-by"
"""The header that names the forwarding server. The receiving server answers such a request from its own data."""


class NotAnsweredError(Exception):
    """The server gave no usable answer. The text says why, and is shown after the name of the server."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a server."""

    status: int
    content_type: str
    body: bytes
    retry_after: str = ""  # in seconds


async def ask(
    server: Server,
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    *,
    timeout_s: float,
    bytes_max: int,
) -> Answer:
    """Return the answer of `server`, whose body has at most `bytes_max` bytes. Raises `NotAnsweredError`."""
    reader = AnswerReader(method, AnswerBounds(HEAD_BYTES_MAX, fields=128, body_bytes=bytes_max + 1))
    client = Client(Dialer())
    try:
        is_over = await client.exchange(
            Origin(False, server.host, server.port), _request(method, target, headers, body), reader, timeout_s
        )
    except NotConnectedError as error:
        raise NotAnsweredError(f"cannot be asked: {error.short}") from None
    finally:
        await client.close()
    if not is_over:
        raise NotAnsweredError(f"did not answer within {timeout_s:g} s")
    return _answer(reader, bytes_max)


def _request(method: str, target: str, headers: Mapping[str, str], body: bytes) -> bytes:
    sent = {**headers, "connection": "close", "content-length": str(len(body))}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def _answer(reader: AnswerReader, bytes_max: int) -> Answer:
    if reader.problem:
        raise NotAnsweredError(f"gave an answer that {reader.problem}")
    if reader.broke_off or reader.head is None:
        raise NotAnsweredError("cannot be asked: it closes the connection early")
    if reader.waiting > bytes_max:
        raise NotAnsweredError(f"gave an answer of more than {bytes_max // 1024 // 1024} MiB")
    fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reader.head.fields}
    later = fields.get("retry-after", "")
    return Answer(reader.head.status, fields.get("content-type", ""), reader.take(), later if later.isdecimal() else "")
