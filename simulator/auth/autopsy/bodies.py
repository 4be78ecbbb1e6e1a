"""Mistakes in the body hash of SPEC 5.1, as the text that a client signs in its place."""

import hashlib
import hmac
import json
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any
from urllib.parse import urlencode

import msgspec

from simulator.auth.autopsy.facts import BODY_BYTES_MAX, Facts, Variant, both, variant
from simulator.auth.autopsy.reprinted import (
    NESTED_MAX,
    as_float,
    as_text,
    as_whole,
    is_shallow,
    rewritten,
)
from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash

USUAL_JSON_BYTES_MAX = 1024
"""Other spellings of a longer body are tried later than the rest, since each takes longer to hash."""
DEAR_JSON_BYTES_MAX = 8 * 1024
"""A longer one is written in a few ways only, since that costs more than hashing it."""
_LITERAL_BYTES_MAX = 4096  # a longer body is not tried as a part of the string itself
_EMPTY_HASHES = tuple(
    map(body_hash, (b"{}", b"null", b'""', b"[]", b"undefined", b"false", b"None", b" ", b"\n", b"0", b"true"))
)
_USUAL_EMPTY = 6
_ALGORITHMS = {"sha1": "SHA-1", "sha512": "SHA-512", "md5": "MD5"}
_TIGHT, _WIDE = (",", ":"), (", ", ": ")
_BARE = re.compile(rb'"\\u0000([0-9.-]+)"')  # a number that Python would write otherwise
_INDENTS = (2, 4, 0, 1, 3)  # blanks; 0 is a tab
_ESCAPED = re.compile(rb"\\u[0-9a-f]{4}")
_BOM = b"\xef\xbb\xbf"


def body_hashes(facts: Facts) -> Iterator[Variant]:
    """What costs little."""
    digest = _digest(facts)
    yield variant("body-hash-missing", b"")
    hexadecimal = digest.hex().encode()
    yield variant("body-hash-hexadecimal", hexadecimal)
    yield variant("body-hash-hexadecimal", hexadecimal.upper())
    yield variant("body-hash-base64-of-hex", b64encode(hexadecimal))
    yield variant("body-hash-url-safe", urlsafe_b64encode(digest))
    yield variant("body-hash-without-padding", facts.hashed.rstrip(b"="))
    if not facts.body:
        for other in _EMPTY_HASHES[:_USUAL_EMPTY]:
            yield variant("body-hash-not-empty", other)
        return
    yield variant("body-hash-of-nothing", EMPTY_BODY_HASH)
    if len(facts.body) > BODY_BYTES_MAX:
        return
    yield variant("body-not-hashed", facts.body)
    yield variant("body-line-end", body_hash(facts.body.rstrip(b"\r\n")))
    yield variant("body-line-end", body_hash(facts.body + b"\n"))
    if len(facts.body) <= USUAL_JSON_BYTES_MAX:
        yield from _of_document(facts.body, _usual_json)


def rare_body_hashes(facts: Facts) -> Iterator[Variant]:
    """What fewer clients do."""
    digest, body = _digest(facts), facts.body
    hexadecimal = digest.hex().encode()
    yield variant("body-hash-encoded-twice", b64encode(facts.hashed))
    for first in (digest, hexadecimal, facts.hashed):
        again = hashlib.sha256(first)
        yield variant("body-hashed-twice", b64encode(again.digest()))
        yield variant("body-hashed-twice", again.hexdigest().encode())
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
        for other_hash in _EMPTY_HASHES[_USUAL_EMPTY:]:
            yield variant("body-hash-not-empty", other_hash)
        return
    if len(body) <= _LITERAL_BYTES_MAX:
        yield variant("body-only-encoded", b64encode(body))
    yield variant("body-object-printed", body_hash(b"[object Object]"))
    yield from _other_bytes(body)
    if len(body) > USUAL_JSON_BYTES_MAX:
        yield from _of_document(body, _usual_json)
    yield from _of_document(body, _other_json)


def dear_body_hashes(facts: Facts) -> Iterator[Variant]:
    """Every spelling of a JSON text that is not too long, and the usual ones hashed in hexadecimal."""
    if facts.body and len(facts.body) <= DEAR_JSON_BYTES_MAX:
        yield from _of_document(facts.body, _dear_json)


def _dear_json(value: Any, body: bytes) -> Iterator[Variant]:
    again = "body-serialised-again"
    for ascii_only in _spellings(body):
        for separators in ((", ", ":"), (",", ": ")):
            yield variant(again, _hashed_json(value, separators, ascii_only))
        for is_sorted in (False, True):
            tight = _dumped(value, separators=_TIGHT, ensure_ascii=ascii_only, sort_keys=is_sorted)
            for pretty in (_indented(tight, indent) for indent in _INDENTS):
                # With the slashes of PHP, and line ends that editors add.
                for text in dict.fromkeys((pretty, pretty.replace(b"/", b"\\/"), pretty + b"\n", pretty + b"\r\n")):
                    yield variant("body-sorted" if is_sorted else again, body_hash(text))
        for separators in (_TIGHT, _WIDE):
            text = _dumped(value, separators=separators, ensure_ascii=ascii_only)
            yield variant("body-line-end", body_hash(text + b"\r\n"))
            for spelt in dict.fromkeys((text, text.replace(b"/", b"\\/"))):
                yield both(again, "body-hash-hexadecimal", hashlib.sha256(spelt).hexdigest().encode())
        pretty = _indented(_dumped(value, separators=_TIGHT, ensure_ascii=ascii_only), 2)
        yield both(again, "body-hash-hexadecimal", hashlib.sha256(pretty).hexdigest().encode())
    for number in (as_float, as_whole, as_text, _as_cents):
        numbered = rewritten(value, number)
        for separators, ascii_only in product((_TIGHT, _WIDE), _spellings(body)):
            text = _dumped(numbered, separators=separators, ensure_ascii=ascii_only)
            yield variant("body-numbers-rewritten", body_hash(_BARE.sub(rb"\1", text)))
    for separators in (_TIGHT, _WIDE):
        capitals = _ESCAPED.sub(_in_capitals, _dumped(value, separators=separators))
        for text in (capitals, capitals.replace(b"/", b"\\/")):
            yield variant(again, body_hash(text))


def _in_capitals(found: re.Match[bytes]) -> bytes:
    return b"\\u" + found[0][2:].upper()


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
    again = "body-serialised-again"
    for ascii_only in _spellings(body):
        tight = _dumped(value, separators=_TIGHT, ensure_ascii=ascii_only)
        for indent in _INDENTS:
            yield variant(again, body_hash(_indented(tight, indent)))
        yield variant(again, body_hash(_indented(tight, 2) + b"\n"))
    yield variant(again, body_hash(repr(value).encode("utf-8", "surrogatepass")))
    for ascii_only in _spellings(body):
        tight = _dumped(value, separators=_TIGHT, ensure_ascii=ascii_only)
        escaped = tight.replace(b"&", b"\\u0026").replace(b"<", b"\\u003c").replace(b">", b"\\u003e")
        yield variant(again, body_hash(escaped))  # as Go does
        for separators in (_TIGHT, _WIDE):
            in_order = _dumped(value, separators=separators, ensure_ascii=ascii_only, sort_keys=True)
            yield variant("body-sorted", body_hash(in_order))
    yield variant("body-encoded-twice", body_hash(_dumped(body.decode("utf-8", "replace"))))


def _digest(facts: Facts) -> bytes:
    return b64decode(facts.hashed)


def _of_document(body: bytes, spellings: Callable[[Any, bytes], Iterator[Variant]]) -> Iterator[Variant]:
    """Other spellings of a JSON text; none of one that is nested too deeply, none or not all of one that is no text."""
    try:
        value = json.loads(body)
        if is_shallow(value):
            yield from spellings(value, body)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return


def _usual_json(value: Any, body: bytes) -> Iterator[Variant]:
    again = "body-serialised-again"
    for ascii_only in _spellings(body):
        tight = _dumped(value, separators=_TIGHT, ensure_ascii=ascii_only)
        yield variant(again, body_hash(tight))
        yield variant(again, _hashed_json(value, _WIDE, ascii_only))
        if b"/" in tight:
            yield variant(again, body_hash(tight.replace(b"/", b"\\/")))  # as PHP does
        for indent in _INDENTS[:2]:
            yield variant(again, body_hash(_indented(tight, indent)))
    separators = _WIDE if b'": ' in body else _TIGHT
    for number in (as_text, as_float, as_whole):
        yield variant("body-numbers-rewritten", _hashed_json(rewritten(value, number), separators, body.isascii()))
    if isinstance(value, dict) and not any(isinstance(one, dict | list) for one in value.values()):
        yield variant("body-as-form", body_hash(urlencode(value).encode()))


def _spellings(body: bytes) -> tuple[bool, ...]:
    """Whether only ASCII is written, in each way that makes a difference."""
    return (True, False) if not body.isascii() or b"\\u" in body else (True,)


def _indented(tight: bytes, indent: int) -> bytes:
    """A JSON text as `json.dumps` indents it, which takes a hundred times longer."""
    if indent:
        return msgspec.json.format(tight, indent=indent)
    text = msgspec.json.format(tight, indent=1)
    for depth in range(NESTED_MAX, 0, -1):
        text = text.replace(b"\n" + b" " * depth, b"\n" + b"\t" * depth)
    return text


def _dumped(value: Any, **how: Any) -> bytes:
    return json.dumps(value, **how).encode("utf-8", "surrogatepass")


def _hashed_json(value: Any, separators: tuple[str, str], ascii_only: bool) -> bytes:
    return body_hash(_dumped(value, separators=separators, ensure_ascii=ascii_only))


def _as_cents(value: int | float) -> Any:
    return f"\x00{value:.2f}" if abs(value) < 1e15 else value
