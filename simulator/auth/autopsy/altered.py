"""Signatures that were made rightly and then changed: cut, lengthened, written twice, in letters of one case.

What is left of one is compared with the same part of the right one. So much has to be left that nobody could have
guessed it: otherwise who asks often enough would learn a signature byte by byte.
"""

import re
from binascii import hexlify
from collections.abc import Callable, Iterator

from simulator.auth.autopsy.algorithms import Reading, part_of_it
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.form import DIGEST_BYTES, decoded
from simulator.auth.keyed import hmac_sha256

LEFT_BYTES_MIN = 16
_LEFT_CHARACTERS_MIN, _CHARACTERS = 22, 44  # of Base64
_HEXADECIMAL_CHARACTERS = 64
_BASE64 = re.compile(rb"[A-Za-z0-9+/]+")
_HEXADECIMAL = re.compile(rb"[0-9a-fA-F]+")


def b64encoded(raw: bytes) -> bytes:
    """Base64 without line ends."""
    from binascii import b2a_base64

    return b2a_base64(raw, newline=False)


def altered(text: bytes) -> Iterator[Reading]:
    """How what follows v1= may be what became of a right signature."""
    raw = decoded(text)
    if raw is not None:
        yield from altered_digest(raw)
    else:
        yield from _misspelt(text)
    if LEFT_BYTES_MIN * 2 <= len(text) < _HEXADECIMAL_CHARACTERS and _HEXADECIMAL.fullmatch(text):
        how = (Found("signature-hexadecimal"), _cut(len(text), "digits"))
        yield Reading(how, part_of_it(hexlify, len(text)), text.lower())


def altered_digest(raw: bytes) -> Iterator[Reading]:
    """The same of the bytes that well-formed Base64 decodes to."""
    size = len(raw)
    if LEFT_BYTES_MIN <= size < DIGEST_BYTES:
        yield Reading((_cut(size, "bytes"),), part_of_it(bytes, size), raw)
    elif size > DIGEST_BYTES:
        is_twice = raw[:DIGEST_BYTES] == raw[DIGEST_BYTES:]
        yield _right("signature-twice" if is_twice else "signature-too-long", raw[:DIGEST_BYTES])
    elif size == DIGEST_BYTES:
        yield from _of_one_case(b64encoded(raw))


def _misspelt(text: bytes) -> Iterator[Reading]:
    if (first := decoded(text[:_CHARACTERS])) is not None and len(first) == DIGEST_BYTES:
        again = text[_CHARACTERS:].strip(b", ").removeprefix(b"v1=")
        yield _right("signature-twice" if again == text[:_CHARACTERS] else "signature-too-long", first)
        return
    bare = text.rstrip(b"=")
    if not _BASE64.fullmatch(bare):
        return
    if _LEFT_CHARACTERS_MIN <= len(bare) < _CHARACTERS - 1:
        yield Reading((_cut(len(bare), "characters"),), part_of_it(b64encoded, len(bare)), bare)
    elif len(bare) == _CHARACTERS - 1 and len(text) == _CHARACTERS:
        yield from _of_one_case(text)


def _of_one_case(text: bytes) -> Iterator[Reading]:
    for change in (bytes.upper, bytes.lower):
        if change(text) == text:
            yield Reading((Found("signature-case-changed"),), part_of_it(_changed(change), _CHARACTERS), text)


def _changed(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda raw: change(b64encoded(raw))


def _cut(count: int, unit: str) -> Found:
    return Found("signature-cut", f"{count} {unit}")


def _right(name: str, digest: bytes) -> Reading:
    return Reading((Found(name),), hmac_sha256, digest)
