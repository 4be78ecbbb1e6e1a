"""One server asks another one of its list: one request over HTTP/1.1, bounded in time and in bytes."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from simulator.shards.servers import Server

HEAD_BYTES_MAX: Final = 64 * 1024
ASKED_BY: Final = "x-sim-asked-by"
"""The header in which a server that asks gives its name, so that it is answered with what the asked one has itself."""

_END = b"\r\n\r\n"


class NotAnsweredError(Exception):
    """There was no answer that could be used; the text says why, to be read behind the name of the server."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

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
    """The answer of `server`, whose body has at most `bytes_max` bytes. Raises `NotAnsweredError`."""
    try:
        async with asyncio.timeout(timeout_s):
            return await _exchanged(server, _request(method, target, headers, body), bytes_max)
    except TimeoutError:
        raise NotAnsweredError(f"did not answer within {timeout_s:g} s") from None
    except (asyncio.IncompleteReadError, ConnectionResetError):
        raise NotAnsweredError("cannot be asked: it closes the connection early") from None
    except asyncio.LimitOverrunError:
        raise NotAnsweredError(f"cannot be asked: the head of its answer has over {HEAD_BYTES_MAX} bytes") from None
    except OSError as error:
        raise NotAnsweredError(f"cannot be asked: {os.strerror(error.errno) if error.errno else error}") from None


def _request(method: str, target: str, headers: Mapping[str, str], body: bytes) -> bytes:
    sent = {**headers, "connection": "close", "content-length": str(len(body))}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


async def _exchanged(server: Server, request: bytes, bytes_max: int) -> Answer:
    reader, writer = await asyncio.open_connection(server.host, server.port, limit=HEAD_BYTES_MAX)
    try:
        writer.write(request)
        await writer.drain()
        status, fields = _head(await reader.readuntil(_END))
        length = fields.get("content-length", "")
        if not length.isdecimal() or len(length) > 12:
            raise NotAnsweredError("gave an answer without its length")
        if int(length) > bytes_max:
            raise NotAnsweredError(f"gave an answer of more than {bytes_max // 1024 // 1024} MiB")
        body, again = await reader.readexactly(int(length)), fields.get("retry-after", "")
        return Answer(status, fields.get("content-type", ""), body, again if again.isdecimal() else "")
    finally:
        writer.transport.abort()


def _head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdecimal():
        raise NotAnsweredError("gave an answer that is not HTTP")
    return int(rest[:3]), dict(_fields(lines))


def _fields(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        name, _, value = line.partition(":")
        yield name.strip().lower(), value.strip()
