"""Mistakes in the body hash of SPEC 5.1, as the text that a client signs in its place."""

import hashlib
import hmac
import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from simulator.auth.autopsy.facts import BODY_BYTES_MAX, Facts, Variant, variant
from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash

_LITERAL_BYTES_MAX = 4096  # a longer body is not tried as a part of the string itself
_EMPTY_BODIES = (b"{}", b"null", b'""', b"[]", b"undefined", b"None", b" ", b"\n", b"0")
_ALGORITHMS = {"sha1": "SHA-1", "sha512": "SHA-512", "md5": "MD5"}
_TIGHT, _WIDE = (",", ":"), (", ", ": ")
_BOM = b"\xef\xbb\xbf"


def body_hashes(facts: Facts) -> Iterator[Variant]:
    """What costs little."""
    digest = _digest(facts)
    yield variant("body-hash-missing", b"")
    yield variant("body-hash-hexadecimal", digest.hex().encode())
    yield variant("body-hash-url-safe", urlsafe_b64encode(digest))
    yield variant("body-hash-without-padding", facts.hashed.rstrip(b"="))
    if not facts.body:
        for body in _EMPTY_BODIES[:3]:
            yield variant("body-hash-not-empty", body_hash(body))
        return
    yield variant("body-hash-of-nothing", EMPTY_BODY_HASH)
    if len(facts.body) > BODY_BYTES_MAX:
        return
    yield variant("body-not-hashed", facts.body)
    yield variant("body-line-end", body_hash(facts.body.rstrip(b"\r\n")))
    yield variant("body-line-end", body_hash(facts.body + b"\n"))
    yield from _of_document(facts.body, _usual_json)


def rare_body_hashes(facts: Facts) -> Iterator[Variant]:
    """What fewer clients do."""
    digest, body = _digest(facts), facts.body
    hexadecimal = digest.hex().encode()
    yield variant("body-hash-hexadecimal", hexadecimal.upper())
    yield variant("body-hash-base64-of-hex", b64encode(hexadecimal))
    yield variant("body-hash-without-padding", urlsafe_b64encode(digest).rstrip(b"="))
    if len(body) > BODY_BYTES_MAX:
        return
    for name, shown in _ALGORITHMS.items():
        other = hashlib.new(name, body, usedforsecurity=False)
        yield variant("body-hash-other-algorithm", b64encode(other.digest()), shown)
        yield variant("body-hash-other-algorithm", other.hexdigest().encode(), shown)
    keyed = hmac.digest(facts.secret, body, "sha256")
    yield variant("body-hash-keyed", b64encode(keyed))
    yield variant("body-hash-keyed", keyed.hex().encode())
    if not body:
        for other_body in _EMPTY_BODIES:
            yield variant("body-hash-not-empty", body_hash(other_body))
        return
    if len(body) <= _LITERAL_BYTES_MAX:
        yield variant("body-only-encoded", b64encode(body))
    yield from _other_bytes(body)
    yield from _of_document(body, _other_json)


def _other_bytes(body: bytes) -> Iterator[Variant]:
    yield variant("body-line-end", body_hash(body + b"\r\n"))
    yield variant("body-line-ends", body_hash(body.replace(b"\r\n", b"\n")))
    yield variant("body-line-ends", body_hash(body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")))
    yield variant("body-byte-order-mark", body_hash(body.removeprefix(_BOM)))
    yield variant("body-byte-order-mark", body_hash(_BOM + body))
    text = body.decode("utf-8", "replace")
    for charset, shown in (("latin-1", "Latin-1"), ("utf-16-le", "UTF-16"), ("utf-16", "UTF-16")):
        yield variant("body-other-charset", body_hash(text.encode(charset, "replace")), shown)


def _other_json(value: Any, body: bytes) -> Iterator[Variant]:
    yield variant("body-serialised-again", body_hash(_dumped(value, indent=4)))
    yield variant("body-serialised-again", body_hash(_dumped(value, indent="\t")))
    yield variant("body-serialised-again", body_hash(_dumped(value, indent=2) + b"\n"))
    yield variant("body-serialised-again", body_hash(repr(value).encode("utf-8", "surrogatepass")))
    for ascii_only in (True, False):
        tight = _dumped(value, separators=_TIGHT, ensure_ascii=ascii_only)
        yield variant("body-serialised-again", body_hash(tight.replace(b"/", b"\\/")))  # as PHP does
        escaped = tight.replace(b"&", b"\\u0026").replace(b"<", b"\\u003c").replace(b">", b"\\u003e")
        yield variant("body-serialised-again", body_hash(escaped))  # as Go does
        for separators in (_TIGHT, _WIDE):
            in_order = _dumped(value, separators=separators, ensure_ascii=ascii_only, sort_keys=True)
            yield variant("body-sorted", body_hash(in_order))
    for rewritten in (_rewritten(value, _as_float), _rewritten(value, _as_whole), _rewritten(value, _as_text)):
        for separators in (_TIGHT, _WIDE):
            yield variant("body-numbers-rewritten", _hashed_json(rewritten, separators, True))
    yield variant("body-encoded-twice", body_hash(_dumped(body.decode("utf-8", "replace"))))
    if isinstance(value, dict) and not any(isinstance(one, dict | list) for one in value.values()):
        yield variant("body-as-form", body_hash(urlencode(value).encode()))


def _digest(facts: Facts) -> bytes:
    return b64decode(facts.hashed)


def _of_document(body: bytes, spellings: Callable[[Any, bytes], Iterator[Variant]]) -> Iterator[Variant]:
    """Other spellings of a JSON text; none, or not all, of one that is nested too deeply or is no text."""
    try:
        yield from spellings(json.loads(body), body)
    except (ValueError, RecursionError):
        return


def _usual_json(value: Any, _: bytes) -> Iterator[Variant]:
    for separators in (_TIGHT, _WIDE):
        for ascii_only in (True, False):
            yield variant("body-serialised-again", _hashed_json(value, separators, ascii_only))
    yield variant("body-serialised-again", body_hash(_dumped(value, indent=2)))


def _dumped(value: Any, **how: Any) -> bytes:
    return json.dumps(value, **how).encode("utf-8", "surrogatepass")


def _hashed_json(value: Any, separators: tuple[str, str], ascii_only: bool) -> bytes:
    return body_hash(_dumped(value, separators=separators, ensure_ascii=ascii_only))


def _rewritten(value: Any, number: Callable[[int | float], Any]) -> Any:
    """The value with its numbers written otherwise, two levels deep as bodies of this API are."""
    if isinstance(value, dict):
        return {key: _rewritten(one, number) if not isinstance(one, list) else one for key, one in value.items()}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return number(value) if is_number else value


def _as_float(value: int | float) -> Any:
    return float(value) if abs(value) < 1e15 else value


def _as_whole(value: int | float) -> Any:
    return int(value) if abs(value) < 1e15 and int(value) == value else value


def _as_text(value: int | float) -> Any:
    return str(value) if abs(value) < 1e15 else "0"
