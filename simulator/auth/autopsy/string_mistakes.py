"""Mistakes in the timestamp, the nonce and the method, and in how the parts become the string to sign."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from functools import partial
from itertools import chain, permutations
from typing import Any

from simulator.auth.autopsy.signing_steps import Facts, always, rows
from simulator.auth.canonical import EMPTY_BODY_HASH

_METHODS = (b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS")
_SEPARATORS = {
    b".": "dots", b"|": "vertical bars", b"&": "&", b",": "commas", b";": "semicolons", b"-": "dashes",
    b" ": "blanks", b"\r\n": "CR LF", b", ": "a comma and a blank",
}  # fmt: skip
_ENDS = {b":": "a colon", b"\r\n": "CR LF", b" ": "a blank", b"\\n": "a backslash and n"}
_BEGINNINGS = (b"v2:", b"V1:", b"v1=", b"1:", b"v1.", b" v1:")
_CONTENT_TYPES = (b"application/json", b"application/json; charset=utf-8")
_HOUR_S = 3600
_ZONES_S = [sign * quarters * 900 for quarters in (32, *range(4, 57)) for sign in (1, -1)]  # Malaysia's first
_NAMES = ("timestamp", "nonce", "METHOD", "query", "body hash")


def _dates(facts: Facts) -> Iterator[bytes]:
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(facts.timestamp))
    for local in (at, at.astimezone(timezone(timedelta(hours=8)))):
        for text in (local.isoformat(), f"{local:%Y-%m-%dT%H:%M:%SZ}", f"{local:%Y-%m-%d %H:%M:%S}"):
            yield text.encode()
    yield format_datetime(at, usegmt=True).encode()
    yield from (f"{at:%Y-%m-%dT%H:%M:%S}.{each:03d}Z".encode() for each in range(1000))


def _printed(_: Facts) -> Iterator[Any]:
    for write in (str, json.dumps, partial(json.dumps, separators=(",", ":")), lambda each: f"[{', '.join(each)}]"):
        yield lambda parts, write=write: [write(["v1", *(part.decode("latin-1") for part in parts)]).encode()]


def _in_order(*order: int) -> Any:
    return lambda parts: (b"v1", *(parts[at] for at in order))


def _with(piece: bytes, at: int) -> Any:
    return lambda parts: (b"v1", *parts[:at], piece, *parts[at:])


def _with_path(facts: Facts) -> Iterator[Any]:
    for path in facts.paths:
        yield from (_with(path, at) for at in (3, 4, 2))
        yield lambda parts, path=path: (b"v1", *parts[:2], parts[2] + b" " + path, *parts[3:])


def _of_other_service(facts: Facts) -> Iterator[tuple[Any, str]]:
    yield facts.timestamp + b"." + facts.text, "<timestamp>.<body>, as Stripe does"
    yield b".".join((facts.nonce, facts.timestamp, facts.text)), "<nonce>.<timestamp>.<body>, as webhooks do"
    for path in facts.paths:
        yield facts.timestamp + facts.method + path + facts.text, "<timestamp><METHOD><path><body>"


_WHOLE = "sign the whole seconds of the header"
_EXACT = "sign the value of the header, to the character"
_SIX = "sign v1:<timestamp>:<nonce>:<METHOD>:<query>:<body hash>"
_HASH_ALWAYS = "sign the body hash; without a body, the hash of no bytes"
_COLONS = "join the parts with colons"
_END = "let the string end with the body hash"
_BEGIN = "begin the string with v1:"

MISTAKES = (
    *rows(
        "timestamp",
        ("timestamp-in-seconds", "the timestamp is signed in seconds, and sent in milliseconds",
         "send the seconds that you sign",
         lambda r: [r.timestamp[:-3], b"%d" % round(int(r.timestamp) / 1000)] if len(r.timestamp) == 13 else []),
        ("timestamp-with-fraction", "the timestamp is signed with a fraction", _WHOLE,
         lambda r: (text.encode() for each in range(1000) for moment in [int(r.timestamp) + each / 1000]
                    for text in (f"{moment}", f"{moment:.3f}"))),
        ("timestamp-in-other-units", "the timestamp is signed in {}", _WHOLE,
         lambda r: [(r.timestamp + b"000000", "microseconds"), (r.timestamp + b"000000000", "nanoseconds")]),
        ("timestamp-as-date", "the timestamp is signed as a date", _WHOLE, _dates),
        ("timestamp-missing", "the timestamp is empty in the signed string", _EXACT, always(b"")),
        ("timestamp-another", "another timestamp is signed than sent", "read the clock once for both",
         lambda r: (b"%d" % (int(r.timestamp) + offset) for offset in (-1, 1, -2, 2, *range(-300, 301)))),
        ("timestamp-in-milliseconds", "the timestamp is signed in milliseconds", _WHOLE,
         lambda r: (b"%d" % (1000 * int(r.timestamp) + offset) for offset in chain([0], range(-500, 1000))), 1),
        ("timestamp-of-zone", "the timestamp is signed {} h off: local time was taken for UTC",
         "sign and send the seconds since 1970 in UTC",
         lambda r: ((b"%d" % (int(r.timestamp) + offset_s), f"{offset_s / _HOUR_S:+g}") for offset_s in _ZONES_S)),
    ),
    *rows(
        "nonce",
        ("nonce-in-lower-case", "the nonce is signed in lower case", _EXACT, lambda r: [r.nonce.lower()]),
        ("nonce-in-upper-case", "the nonce is signed in upper case", _EXACT, lambda r: [r.nonce.upper()]),
        ("nonce-without-dashes", "the nonce is signed without its dashes", _EXACT,
         lambda r: [r.nonce.replace(b"-", b"")]),
        ("nonce-encoded", "the nonce is signed in Base64 or hexadecimal", _EXACT,
         lambda r: [b64encode(r.nonce), r.nonce.hex().encode()]),
        ("nonce-quoted", "the nonce is signed as {}", _EXACT,
         lambda r: [(b'"%b"' % r.nonce, "a text in quotes"), (b"{%b}" % r.nonce, "a text in braces"),
                    (b"b'%b'" % r.nonce, "b'...'"), (b"UUID('%b')" % r.nonce, "UUID('...')")]),
        ("nonce-missing", "the nonce is empty in the signed string", _EXACT, always(b"")),
        ("nonce-another", "the nonce of another request is signed", "create one nonce for header and string",
         lambda r: r.nonces),
    ),
    *rows(
        "method",
        ("method-in-lower-case", "the method is in lower case", "sign the method in capitals",
         lambda r: [r.method.lower()], 1),
        ("method-capitalised", "the method has one capital", "sign the whole method in capitals",
         lambda r: [r.method.capitalize()]),
        ("method-another", "another method is signed than sent", "sign the method that is sent",
         lambda r: [case(method) for case in (bytes, bytes.lower) for method in _METHODS if method != r.method]),
        ("method-missing", "the method is empty in the signed string", "sign the method that is sent",
         always(b"")),
    ),
    *rows(
        "pieces",
        ("version-missing", "the leading v1: is missing from the canonical string", _BEGIN, always(list), 1),
        ("nonce-before-timestamp", "the nonce stands before the timestamp", "the timestamp comes first",
         always(_in_order(1, 0, 2, 3, 4))),
        ("query-left-out-with-colon", "the query was left out together with its colon",
         "sign the query between two colons, also an empty one", always(_in_order(0, 1, 2, 4)), 1),
        ("body-hash-left-out", "the body hash was left out together with its colon", _HASH_ALWAYS,
         lambda r: [_in_order(0, 1, 2, 3), *([_in_order(0, 1, 2)] if r.hashed == EMPTY_BODY_HASH else [])], 2),
        ("path-in-string", "the path is an additional part of the signed string", _SIX, _with_path, 1),
        ("nonce-left-out", "the nonce was left out together with its colon", _SIX, always(_in_order(0, 2, 3, 4))),
        ("timestamp-left-out", "the timestamp was left out together with its colon", _SIX,
         always(_in_order(1, 2, 3, 4))),
        ("method-left-out", "the method was left out together with its colon", _SIX, always(_in_order(0, 1, 3, 4))),
        ("key-in-string", "the API key is part of the signed string", _SIX,
         lambda r: [lambda parts: (r.api_key, b"v1", *parts), lambda parts: (r.api_key, *parts),
                    *(_with(r.api_key, at) for at in range(6))] if r.api_key else []),
        ("other-order", "the parts have another order: {}", _SIX,
         lambda r: ((_in_order(*order), ":".join(("v1", *(_NAMES[at] for at in order))))
                    for order in permutations(range(5)))),
        ("parts-printed", "the parts are signed as a printed list", _COLONS, _printed),
        ("content-type-in-string", "the Content-Type is an additional part of the signed string", _SIX,
         lambda r: (_with(kind, at) for kind in _CONTENT_TYPES for at in (4, 5, 3))),
    ),
    *rows(
        "separator",
        ("line-feeds", "the parts are joined with line feeds instead of colons", _COLONS, always(b"\n"), 1),
        ("no-separators", "the parts are joined without colons", _COLONS, always(b""), 1),
        ("other-separators", "the parts are joined with {} instead of colons", _COLONS,
         lambda r: _SEPARATORS.items(), 1),
    ),
    *rows(
        "string",
        ("string-ends-in-line-feed", "the canonical string ends in a line feed", _END,
         always(lambda text: text + b"\n"), 1),
        ("string-ends-otherwise", "the canonical string has {} at its end", _END,
         always(*((lambda text, end=end: text + end, shown) for end, shown in _ENDS.items()))),
        ("version-otherwise", "the canonical string begins with something other than v1:", _BEGIN,
         always(*(lambda text, begin=begin: begin + text.removeprefix(b"v1:") for begin in _BEGINNINGS))),
        ("only-body-signed", "only the body is signed", _SIX,
         lambda r: [r.text, r.hashed], 1),
        ("string-in-lower-case", "the whole string is signed in lower case", "do not change the case of the string",
         always(bytes.lower)),
        ("string-in-capitals", "the whole string is signed in capitals", "do not change the case of the string",
         always(bytes.upper)),
        ("string-hashed-first", "the string is hashed before the HMAC", "give the string itself to the HMAC",
         always(lambda text: hashlib.sha256(text).digest(), lambda text: hashlib.sha256(text).hexdigest().encode())),
        ("string-encoded-first", "the string is encoded in Base64 before the HMAC",
         "give the bytes of the string to the HMAC", always(b64encode)),
        ("string-in-utf-16", "the string is encoded in UTF-16", "encode the string in ASCII or UTF-8",
         always(lambda text: text.decode("latin-1").encode("utf-16-le"))),
        ("string-of-other-service", "the string of another service is signed, {}", _SIX, _of_other_service),
    ),
)  # fmt: skip
