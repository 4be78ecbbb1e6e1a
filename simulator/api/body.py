"""Reads a request's body within bounds."""

from collections.abc import Mapping

from simulator.api.call import Call, Receive
from simulator.auth.signature import BODY_BYTES_MAX
from simulator.tape.entries import Resumption


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


class BodyTooLarge(Exception):
    """The body exceeds its bound. It was discarded."""


async def receive_body(call: Call, receive: Receive, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    """The whole body of a call, as `read_body`; the tape has that the call waits for it."""
    if not is_announced(call.headers):
        return b""
    refuse_declared(call.headers, bytes_max)
    call.note_wait()
    try:
        return await read_body(call.headers, receive, bytes_max)
    except BodyTooLarge:
        await call.resume(Resumption.TOO_LARGE)
        raise
    except ClientGone:
        await call.resume(Resumption.GONE)
        raise


def is_announced(headers: Mapping[bytes, bytes]) -> bool:
    """True when a body follows the headers."""
    return b"content-length" in headers or b"transfer-encoding" in headers


def refuse_declared(headers: Mapping[bytes, bytes], bytes_max: int) -> None:
    """Raise `BodyTooLarge` when the headers say so already."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > bytes_max:
        raise BodyTooLarge


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    """The whole body, at most `bytes_max` bytes. Raises `BodyTooLarge` as early as possible, and `ClientGone`.

    The server reads and drops the rest of a body that is too large, so that its sender can read the refusal.
    """
    if not is_announced(headers):
        return b""
    refuse_declared(headers, bytes_max)
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
