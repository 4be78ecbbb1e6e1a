"""Mistakes in the value of X-Signature and in the algorithm: which digests it may stand for, and how each is made."""

import hmac
import re
from base64 import b64decode
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from simulator.auth.autopsy.algorithms import BY_LENGTH, QUICK_ALGORITHMS, WITH_SECRET, Algorithm, Reading
from simulator.auth.autopsy.altered import altered, altered_digest, b64encoded
from simulator.auth.autopsy.mistakes import Found
from simulator.auth.form import DIGEST_BYTES, PREFIX
from simulator.auth.keyed import hmac_sha256

SIGNATURE_BYTES_MAX = 2048

_BASE64 = re.compile(rb"[A-Za-z0-9+/]+={0,2}")
_URL_SAFE = re.compile(rb"[A-Za-z0-9_-]+={0,2}")
_HEXADECIMAL = re.compile(rb"(?:[0-9a-fA-F]{2})+")
_PYTHON_BYTES = re.compile(rb"""b['"]([^'"]*)['"]""")
_OTHER_PREFIX = re.compile(rb"(?:v\d+|sha256|hmac-sha256|hmac|signature|bearer|t=\d+,v1)[=: ]+", re.IGNORECASE)


# What else has as many bytes as the right digest; the likeliest first.
_QUICK: tuple[tuple[tuple[Found, ...], Algorithm], ...] = (
    ((), hmac_sha256),
    *(((Found(name),), algorithm) for name, algorithm in WITH_SECRET[:QUICK_ALGORITHMS]),
)

is_equal = hmac.compare_digest


def readings(signature: bytes) -> list[Reading]:
    """Every way to read a header, those with the fewest mistakes first."""
    prefix, text = _without_prefix(signature[:SIGNATURE_BYTES_MAX])
    found = [
        Reading((*mistakes, *((Found(name),) if name else ())), algorithm, digest)
        for mistakes, digest in _encodings(text)
        for name, algorithm in BY_LENGTH.get(len(digest), ())
    ]
    found = [one._replace(found=(*prefix, *one.found)) for one in (*found, *altered(text))]
    return sorted(found, key=lambda one: len(one.found))


def quick_readings(digest: bytes) -> list[Reading]:
    """The usual ways to read what a header of the right form decodes to, which only the owner of the secret can have
    made; the likeliest first.

    Hexadecimal digits in place of Base64 pass for it, being a multiple of four.
    """
    if len(digest) == DIGEST_BYTES:
        found = [Reading(how, algorithm, digest) for how, algorithm in _QUICK]
        return [*found, *altered_digest(digest)]
    for text, name in ((b64encoded(digest), "signature-hexadecimal"), (digest, "signature-base64-of-hex")):
        if len(text) == 2 * DIGEST_BYTES and _HEXADECIMAL.fullmatch(text):
            return [Reading((Found(name),), hmac_sha256, bytes.fromhex(text.decode()))]
    others = [Reading((Found(name),), algorithm, digest) for name, algorithm in BY_LENGTH.get(len(digest), ())]
    return [*others, *altered_digest(digest)]


def _without_prefix(signature: bytes) -> tuple[tuple[Found, ...], bytes]:
    """What is wrong with the prefix, and what follows it."""
    if signature.startswith(PREFIX * 2):
        return (Found("signature-v1-twice"),), signature.removeprefix(PREFIX * 2)
    if signature.startswith(PREFIX):
        return (), signature.removeprefix(PREFIX)
    if (bare := signature.strip(b" \t\"'")).startswith(PREFIX):
        return (), signature.replace(bare, bare.removeprefix(PREFIX))
    if match := _OTHER_PREFIX.match(signature):
        return (Found("signature-other-prefix"),), signature[match.end() :]
    return (Found("signature-without-v1"),), signature


def _encodings(text: bytes) -> Iterator[tuple[tuple[Found, ...], bytes]]:
    """The digests that a text may be the encoding of, with at most two mistakes."""
    seen = set()
    for how, spelt in _unwrapped(text):
        for name, digest in _decoded(spelt):
            encoding = (*how, *((Found(name),) if name else ()))
            if digest not in seen and len(digest) in BY_LENGTH:
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
    if _HEXADECIMAL.fullmatch(text) and len(text) // 2 in BY_LENGTH:
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
