"""The bodies of an exchange as the watcher reads them: unpacked, and judged and kept within bounds."""

from typing import Final, NamedTuple

from simulator.staging.proxy.encoding import unpacked, unpacked_size
from simulator.staging.proxy.facts import is_judged, is_kept
from simulator.staging.proxy.relay import Exchanged

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
