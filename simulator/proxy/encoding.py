"""Bodies as they are read: unpacked within bounds. On the wire nothing is unpacked."""

import zlib
from typing import Final

from simulator.proxy.fields import value_of
from simulator.traffic.seen import Headers

UNPACKED_BYTES_MAX: Final = 16 * 1024 * 1024
_WINDOW = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}


def unpacked(headers: Headers, body: bytes) -> bytes | None:
    """The body without its Content-Encoding; None for one that is not known here, is broken, or too large."""
    coding = value_of(headers, b"content-encoding").strip().lower()
    if coding in (b"", b"identity") or not body:
        return body
    if coding not in _WINDOW:
        return None
    unpacker = zlib.decompressobj(_WINDOW[coding])
    try:
        plain = unpacker.decompress(body, UNPACKED_BYTES_MAX)
    except zlib.error:
        return None
    return plain if unpacker.eof else None
