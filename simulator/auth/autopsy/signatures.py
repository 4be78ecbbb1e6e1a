"""Mistakes in the value of X-Signature and in the algorithm: which digests it may stand for, and how each is made."""

import hashlib
import hmac
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from simulator.auth.autopsy.mistakes import Found

SIGNATURE_BYTES_MAX = 2048
DIGEST_BYTES = 32
PREFIX = b"v1="

_BLOCK_BYTES = 64
_INNER, _OUTER = (bytes(each ^ pad for each in range(256)) for pad in (0x36, 0x5C))

Algorithm = Callable[[bytes], Callable[[bytes], bytes]]
"""Takes a key, and then each string that it makes a digest of."""

_BASE64 = re.compile(rb"[A-Za-z0-9+/]+={0,2}")
_URL_SAFE = re.compile(rb"[A-Za-z0-9_-]+={0,2}")
_HEXADECIMAL = re.compile(rb"(?:[0-9a-fA-F]{2})+")
_PYTHON_BYTES = re.compile(rb"""b['"]([^'"]*)['"]""")
_OTHER_PREFIX = re.compile(rb"(?:v\d+|sha256|hmac-sha256|hmac|signature|bearer|t=\d+,v1)[=: ]+", re.IGNORECASE)


is_equal = hmac.compare_digest


class Reading(NamedTuple):
    """A digest that the header may stand for, made by an algorithm, and the mistakes that this supposes."""

    found: tuple[Found, ...]
    algorithm: Algorithm
    digest: bytes


@lru_cache(maxsize=256)
def hmac_sha256(key: bytes) -> Callable[[bytes], bytes]:
    """The right algorithm (RFC 2104), with the key's two blocks hashed once for all its strings: that takes a third of
    the time of `hmac.digest`."""
    block = (key if len(key) <= _BLOCK_BYTES else hashlib.sha256(key).digest()).ljust(_BLOCK_BYTES, b"\0")
    start, end = hashlib.sha256(block.translate(_INNER)).copy, hashlib.sha256(block.translate(_OUTER)).copy

    def digest_of(text: bytes) -> bytes:
        inner, outer = start(), end()
        inner.update(text)
        outer.update(inner.digest())
        return outer.digest()

    return digest_of


def _hmac(name: str) -> Algorithm:
    return lambda key: lambda text: hmac.digest(key, text, name)


def _hash(mixed: Callable[[bytes, bytes], bytes]) -> Algorithm:
    return lambda key: lambda text: hashlib.sha256(mixed(key, text)).digest()


# By the length of their digests; the right one is the first of its length.
_BY_LENGTH: dict[int, tuple[tuple[str, Algorithm], ...]] = {
    DIGEST_BYTES: (
        ("", hmac_sha256),
        ("key-and-string-swapped", lambda key: lambda text: hmac.digest(text, key, "sha256")),
        ("hash-without-hmac", _hash(lambda key, text: key + text)),
        ("hash-without-hmac", _hash(lambda key, text: text + key)),
        ("hash-without-hmac", _hash(lambda key, text: key + b":" + text)),
        ("hash-without-hmac", _hash(lambda key, text: text + b":" + key)),
        ("hash-without-secret", _hash(lambda key, text: text)),
        ("sha3-256", _hmac("sha3_256")),
    ),
    20: (("sha-1", _hmac("sha1")),),
    64: (("sha-512", _hmac("sha512")),),
    48: (("sha-384", _hmac("sha384")),),
    16: (("md5", _hmac("md5")),),
}


def readings(signature: bytes) -> list[Reading]:
    """Every way to read a header, those with the fewest mistakes first."""
    found = [
        Reading((*mistakes, *((Found(name),) if name else ())), algorithm, digest)
        for mistakes, digest in _digests(signature[:SIGNATURE_BYTES_MAX])
        for name, algorithm in _BY_LENGTH.get(len(digest), ())
    ]
    return sorted(found, key=lambda one: len(one.found))


def first_reading(digest: bytes) -> Reading | None:
    """The usual way to read what a header of the right form decodes to; None when it can be no digest.

    Hexadecimal digits in place of Base64 pass for it, being a multiple of four.
    """
    for text, name in ((b64encoded(digest), "signature-hexadecimal"), (digest, "signature-base64-of-hex")):
        if len(text) in (64, 128, 40, 32, 96) and _HEXADECIMAL.fullmatch(text):
            raw = bytes.fromhex(text.decode())
            if len(raw) == DIGEST_BYTES:
                return Reading((Found(name),), hmac_sha256, raw)
    for name, algorithm in _BY_LENGTH.get(len(digest), ())[:1]:
        return Reading((Found(name),) if name else (), algorithm, digest)
    return None


def b64encoded(raw: bytes) -> bytes:
    """Base64 without line ends."""
    from binascii import b2a_base64

    return b2a_base64(raw, newline=False)


def _digests(signature: bytes) -> Iterator[tuple[tuple[Found, ...], bytes]]:
    prefix: tuple[Found, ...] = ()
    text = signature
    if signature.startswith(PREFIX):
        text = signature.removeprefix(PREFIX)
    elif (bare := signature.strip(b" \t\"'")).startswith(PREFIX):
        text = signature.replace(bare, bare.removeprefix(PREFIX))
    elif match := _OTHER_PREFIX.match(signature):
        prefix, text = (Found("signature-other-prefix"),), signature[match.end() :]
    else:
        prefix = (Found("signature-without-v1"),)
    for encoding, digest in _encodings(text):
        yield (*prefix, *encoding), digest


def _encodings(text: bytes) -> Iterator[tuple[tuple[Found, ...], bytes]]:
    """The digests that a text may be the encoding of, with at most two mistakes."""
    seen = set()
    for how, spelt in _unwrapped(text):
        for name, digest in _decoded(spelt):
            encoding = (*how, *((Found(name),) if name else ()))
            if digest not in seen and len(digest) in _BY_LENGTH:
                seen.add(digest)
                yield encoding, digest


def _unwrapped(text: bytes) -> Iterator[tuple[tuple[Found, ...], bytes]]:
    yield (), text
    if (plain := text.translate(None, b" \t\r\n")) != text:
        yield (Found("signature-with-blanks"),), plain
    if printed := _PYTHON_BYTES.fullmatch(text):
        yield (Found("signature-as-python-bytes"),), printed[1]
    if (plain := text.strip(b"\"'")) != text:
        yield (Found("signature-in-quotes"),), plain
    if b"%" in text and (plain := unquote_to_bytes(text)) != text:
        yield (Found("signature-percent-encoded"),), plain
    if b" " in text.strip():  # a form turns + into a blank
        yield (Found("signature-with-blanks"),), text.strip().replace(b" ", b"+")


def _decoded(text: bytes) -> Iterator[tuple[str, bytes]]:
    if _HEXADECIMAL.fullmatch(text) and len(text) // 2 in _BY_LENGTH:
        yield "signature-hexadecimal", bytes.fromhex(text.decode())
    if _BASE64.fullmatch(text) and len(text.rstrip(b"=")) % 4 != 1:
        is_padded = len(text) % 4 == 0
        raw = _padded(text)
        yield "" if is_padded else "signature-without-padding", raw
        if _HEXADECIMAL.fullmatch(raw):
            yield "signature-base64-of-hex", bytes.fromhex(raw.decode())
        elif _BASE64.fullmatch(raw) and len(raw) % 4 == 0:
            yield "signature-encoded-twice", _padded(raw)
    elif _URL_SAFE.fullmatch(text) and len(text.rstrip(b"=")) % 4 != 1:
        yield "signature-url-safe", _padded(text.translate(bytes.maketrans(b"-_", b"+/")))


def _padded(text: bytes) -> bytes:
    bare = text.rstrip(b"=")
    return b64decode(bare + b"=" * (-len(bare) % 4))
