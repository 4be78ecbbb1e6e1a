"""The bodies of an exchange as the watcher reads them: unpacked, and judged within bounds."""

import zlib
from typing import Final, NamedTuple

from simulator.staging.proxy.facts import is_judged, is_kept
from simulator.staging.proxy.fields import value_of
from simulator.staging.proxy.relay import Exchanged
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


AT_ONCE_BYTES_MAX: Final = 64 * 1024
TOO_LONG: Final = "the message is too long to be kept"
TOO_LARGE: Final = "too large to judge: its body, or what is in it, is more than the proxy holds against the contract"
NOT_READABLE: Final = "its Content-Encoding cannot be undone, so that its body was not looked at"


def is_small(one: Exchanged) -> bool:
    """Whether its bodies together are small when they are unpacked."""
    left = AT_ONCE_BYTES_MAX
    for headers, body in ((one.headers, one.body), (one.answer_headers, one.answer)):
        left -= len(body) if len(body) > left else unpacked_size(headers, body, left)
        if left < 0:
            return False
    return True


class ReadBodies(NamedTuple):
    """The unpacked bodies of an exchange, which of them are held against the contract, and why the others are not."""

    body: bytes
    answer: bytes
    body_is_judged: bool
    answer_is_judged: bool
    note: str


def read(one: Exchanged) -> ReadBodies:
    """Unpack the bodies. Nothing is kept of one with far too much in it: whoever decoded it later would stop all
    others."""
    found = unpacked(one.headers, one.body), unpacked(one.answer_headers, one.answer)
    body, answer = (each if each is not None and is_kept(each) else b"" for each in found)
    if not one.is_whole or None in found:
        return ReadBodies(body, answer, False, False, NOT_READABLE if one.is_whole else TOO_LONG)
    body_is_judged, answer_is_judged = (each is not None and is_judged(each) for each in found)
    note = "" if body_is_judged and answer_is_judged else TOO_LARGE
    return ReadBodies(body, answer, body_is_judged, answer_is_judged, note)
