"""Bodies as they are read: unpacked within bounds. On the wire nothing is unpacked."""

import zlib
from typing import Final

from simulator.staging.proxy.fields import value_of
from simulator.wire.traffic import Headers

UNPACKED_BYTES_MAX: Final = 16 * 1024 * 1024
_WINDOW = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}


def unpacked(headers: Headers, body: bytes) -> bytes | None:
    """The body without its Content-Encoding; None for one that is not known here, is broken, or too large."""
    if not _is_packed(headers, body):
        return body
    plain, is_whole = _unpacked(headers, body, UNPACKED_BYTES_MAX)
    return plain if is_whole else None


def unpacked_size(headers: Headers, body: bytes, bytes_max: int) -> int:
    """How many bytes the body has without its Content-Encoding, as far as they are known; counted up to `bytes_max`
    and one."""
    if not _is_packed(headers, body):
        return len(body)
    return len(_unpacked(headers, body, bytes_max + 1)[0])


def _is_packed(headers: Headers, body: bytes) -> bool:
    return bool(body) and _coding(headers) not in (b"", b"identity")


def _coding(headers: Headers) -> bytes:
    return value_of(headers, b"content-encoding").strip().lower()


def _unpacked(headers: Headers, body: bytes, bytes_max: int) -> tuple[bytes, bool]:
    """The beginning of an unpacked body, and whether it is all of it; nothing when it cannot be unpacked."""
    window = _WINDOW.get(_coding(headers))
    if window is None:
        return b"", False
    unpacker = zlib.decompressobj(window)
    try:
        return unpacker.decompress(body, bytes_max), unpacker.eof
    except zlib.error:
        return b"", False
