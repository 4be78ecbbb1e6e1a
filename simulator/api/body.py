"""Reads a request's body within bounds."""

from collections.abc import Mapping

from simulator.api.call import Receive
from simulator.auth.signature import BODY_BYTES_MAX


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


class BodyTooLarge(Exception):
    """The body exceeds its bound. It was discarded."""


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    """The whole body, at most `bytes_max` bytes. Raises `BodyTooLarge` as early as possible, and `ClientGone`.

    The server reads and drops the rest of a body that is too large, so that its sender can read the refusal.
    """
    declared = headers.get(b"content-length")
    if declared is None and b"transfer-encoding" not in headers:
        return b""
    if declared is not None and declared.isdigit() and int(declared) > bytes_max:
        raise BodyTooLarge
    chunks: list[bytes] = []
    total = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        chunk = message.get("body", b"")
        total += len(chunk)
        if total > bytes_max:
            raise BodyTooLarge
        if not message.get("more_body"):
            return b"".join((*chunks, chunk)) if chunks else chunk
        chunks.append(chunk)
