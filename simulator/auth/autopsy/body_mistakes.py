"""Mistakes in the body hash: clients hash other bytes than they send, or hash them in another way."""

import hashlib
import json
import re
import zlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from html import escape
from itertools import chain, combinations, permutations, product
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, quote_plus

import msgspec

from simulator.auth.autopsy import json_texts
from simulator.auth.autopsy.key_mistakes import lenient
from simulator.auth.autopsy.signing_steps import PARTS_MAX, TEXT_BYTES_MAX, Facts, Transformation, always, rows
from simulator.auth.canonical import EMPTY_BODY_HASH, hmac_sha256
from simulator.auth.form import is_utf8

_NOTHINGS = {
    b"": "an empty body", b"{}": "an empty object", b"null": "null", b'""': "an empty text in quotes",
    b"[]": "an empty list", b"undefined": "undefined", b"None": "None", b"false": "false", b" ": "a blank",
    b"\n": "a line feed", b"0": "0", b"true": "true",
}  # fmt: skip
_CHARSETS = {
    "latin-1": "Latin-1", "cp1252": "Windows-1252", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16",
    "utf-32": "UTF-32", "gbk": "GBK", "big5": "Big5", "tis-620": "TIS-620",
}  # fmt: skip
_LETTERS = "\u00e9\u00e8\u2019" + "".join(map(chr, (*range(0xA0, 0x180), *range(0x2010, 0x2027), 0x20AC, 0x2122)))

_IS_FORM = re.compile(rb"--|[\w.%+\[\]-]+=(?!=|$)")
_LOST = "no body arrived, although this path needs a body: check whether a redirect or an earlier reader lost it"
_WITH_BODY = (b"POST", b"PUT", b"PATCH")
_BODILESS = (b"/rotate-secret", b"/replay", b"/callback-url", b"/low-balance-threshold")


def body_flaw(facts: Facts) -> str:
    """Return what is wrong with the body itself, which the client probably signed as JSON; empty if nothing is."""
    body = facts.body
    if not body:
        return _LOST if facts.method in _WITH_BODY and not facts.path.endswith(_BODILESS) else ""
    if body.startswith((b"[object ", b"{'")):
        return "the body was sent as an object is printed: sign and send the text of JSON.stringify or json.dumps"
    if _IS_FORM.match(body):
        return "the body was sent as a form: the service reads JSON, so sign and send one JSON text"
    try:
        msgspec.json.decode(body if len(body) <= TEXT_BYTES_MAX else b"{}", type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return "the body that arrived is not JSON: sign one JSON text, and send the same bytes"
    return ""


def _value(r: Facts) -> Any:
    """Return the value of the body. Raises ValueError, also for a body with many brackets: the size of its indented
    text could grow with the square of the depth."""
    if r.text.count(b"[") + r.text.count(b"{") > 4 * PARTS_MAX:
        raise ValueError
    return json_texts.value_of(r.text)


def _serialised(r: Facts) -> Iterator[bytes]:
    """Yield the body without whitespace, as JavaScript writes it, and as Python does; then in all other layouts."""
    yield from (msgspec.json.format(r.text, indent=indent) for indent in (-1, 0) if r.text)
    yield from json_texts.encodings(_value(r))


def _sorted(r: Facts) -> Iterator[bytes]:
    value = _value(r)
    is_changed = json_texts.written(value) != json_texts.written(value, is_sorted=True)
    return json_texts.encodings(value, is_sorted=True) if is_changed else iter(())


def _of_members(change: Callable[[json_texts.Members, frozenset[str]], json_texts.Changes]) -> Transformation:
    """Return the transformation that signs each changed object in the likely layouts."""

    def ways(r: Facts) -> Iterator[tuple[bytes, str]]:
        members = _value(r)
        if isinstance(members, dict) and len(members) <= PARTS_MAX:
            write = json_texts.as_sent(members, r.text)
            for changed, shown in change(members, r.fields):
                yield from ((text, shown) for text in write(changed))

    return ways


def _charsets_signed(r: Facts) -> Iterator[tuple[bytes, str]]:
    text = r.text.decode("utf-8", "replace")
    if not text.isascii():
        yield r.text.decode("latin-1").encode(), "UTF-8 twice"
        yield text.encode("ascii", "replace"), "ASCII, with ? for other letters"
    yield from ((text.encode(charset, "replace"), shown) for charset, shown in _CHARSETS.items())


def _charsets_sent(r: Facts) -> Iterator[tuple[bytes, str]]:
    is_other = b"\0" in r.text or not is_utf8(r.text)  # else Latin-1 is tried by `_charsets_signed`: UTF-8 twice
    for charset, shown in _CHARSETS.items() if is_other else ():
        with suppress(ValueError):
            yield r.text.decode(charset).encode("utf-8", "replace"), shown
    with suppress(ValueError):
        yield r.text.decode().encode("latin-1").decode().encode(), "UTF-8 twice"


def _unpacked(r: Facts) -> Iterator[tuple[bytes, str]]:
    for shown, bits in {"gzip": 31, "zlib": 15, "deflate": -15}.items() if r.text[:1] not in (b"{", b"[") else ():
        with suppress(zlib.error):
            yield zlib.decompressobj(bits).decompress(r.text, TEXT_BYTES_MAX), shown


def _string_in_string(r: Facts) -> Iterator[bytes]:
    for is_ascii in (True, False):
        yield json.dumps(r.text.decode(), ensure_ascii=is_ascii).encode()
    value = json.loads(r.text)
    while isinstance(value, str):
        yield value.encode()
        value = json.loads(value)


def _hexadecimal(digest: bytes) -> bytes:
    return digest.hex().encode()


def _other_algorithms(r: Facts) -> Iterator[tuple[bytes, str]]:
    for name, shown in {"sha1": "SHA-1", "sha512": "SHA-512", "md5": "MD5"}.items():
        digest = hashlib.new(name, r.text, usedforsecurity=False).digest()
        yield from ((b64encode(digest), shown), (_hexadecimal(digest), shown))


_DECORATIONS: dict[str, Callable[[bytes], bytes]] = {
    "sha256=...": lambda digest: b"sha256=" + b64encode(digest),
    "b'...', as Python prints bytes": lambda digest: b"b'%b'" % b64encode(digest),
    "a text in quotes": lambda digest: b'"%b"' % b64encode(digest),
    "AB-CD-..., as BitConverter writes it": lambda digest: digest.hex("-").upper().encode(),
    "percent-encoded text": lambda digest: quote(b64encode(digest), safe="").encode(),
}

_HASH = "sign the Base64 of the SHA-256 of the exact bytes that are sent"
_ONCE = "serialise once, sign these bytes and send them"
_UTF8 = "sign and send the same bytes, in UTF-8"
_BOM = b"\xef\xbb\xbf"

MISTAKES = (
    *rows(
        "hash",
        ("body-hash-hexadecimal", "the body hash is hexadecimal", "encode the body hash in Base64",
         always(_hexadecimal, lambda digest: _hexadecimal(digest).upper()), 1),
        ("body-hash-missing", "the body hash is missing",
         "sign the body hash; without a body, the hash of no bytes", always(b""), 1),
        ("body-hash-base64-of-hex", "the body hash is the Base64 of the hexadecimal text",
         "encode the raw digest of the body", always(lambda digest: b64encode(_hexadecimal(digest))), 1),
        ("body-hash-url-safe", "the body hash is in the URL-safe alphabet", "use + and / in the body hash",
         always(urlsafe_b64encode)),
        ("body-hash-without-padding", "the body hash has lost its padding", "keep the = at the end of the body hash",
         always(lambda digest: b64encode(digest).rstrip(b"="),
                    lambda digest: urlsafe_b64encode(digest).rstrip(b"="))),
        ("body-not-hashed", "the body itself is signed instead of its hash", _HASH, lambda r: [r.text], 1),
        ("body-hash-encoded-twice", "the body hash was encoded in Base64 twice", "encode the body hash once",
         always(lambda digest: b64encode(b64encode(digest)))),
        ("body-hashed-twice", "the body was hashed twice", "hash the body once, and encode the raw digest in Base64",
         always(*(lambda digest, text=text, encode=encode: encode(hashlib.sha256(text(digest)).digest())
                    for text, encode in product((bytes, _hexadecimal, b64encode), (b64encode, _hexadecimal))))),
        ("body-only-encoded", "the body is signed in Base64, without a hash", _HASH, lambda r: [b64encode(r.text)]),
        ("body-hash-other-algorithm", "the body was hashed with {}", "hash the body with SHA-256", _other_algorithms),
        ("body-hash-keyed", "the body hash is an HMAC with the secret", "hash the body with SHA-256, without a key",
         lambda r: [encode(hmac_sha256(r.secret, r.text)) for encode in (b64encode, _hexadecimal)]),
        ("body-hash-decorated", "the body hash is signed as {}", _HASH,
         lambda r: ((lambda digest, write=write: write(digest), shown) for shown, write in _DECORATIONS.items())),
    ),
    *rows(
        "body",
        ("body-hash-of-nothing", "the hash of {} was signed, but a body was sent", _HASH,
         lambda r: _NOTHINGS.items() if r.hashed != EMPTY_BODY_HASH else [], 1),
        ("body-hash-not-empty", "the hash of {} was signed, but no body was sent",
         "hash no bytes when there is no body",
         lambda r: [*_NOTHINGS.items()][1:] if r.hashed == EMPTY_BODY_HASH else [], 2),
        ("body-line-end", "a line end at the end of the body was signed and not sent, or sent and not signed", _HASH,
         lambda r: [r.text.rstrip(b"\r\n") + end for end in (b"", b"\n", b"\r\n") if r.text], 2),
        ("body-serialised-again", "the body was serialised again after signing", "sign the bytes that are sent",
         _serialised, 2),
        ("body-byte-order-mark", "a byte order mark was signed and not sent, or sent and not signed", _HASH,
         lambda r: [r.text.removeprefix(_BOM), _BOM + r.text]),
        ("body-numbers-rewritten", "a value of the body is signed as {}, and sent differently", _ONCE,
         _of_members(json_texts.revalued)),
        ("body-form-sent", "JSON was signed, and the body was sent as a form",
         "send the JSON that you sign: `data=text` for `data=dict` in requests, json_encode for http_build_query or an "
         "array in PHP",
         lambda r: json_texts.objects_of_form(r.text) if r.text.lstrip()[:1] not in (b"", b"{", b"[") else (), 2),
        ("body-compressed", "the body was compressed ({}) after signing",
         "send the bytes that you sign; the service does not support Content-Encoding", _unpacked),
        ("body-sent-in-other-charset", "the body was signed in UTF-8, and sent in {}", _UTF8, _charsets_sent),
        ("body-encoded-twice", "the body was signed or sent as a JSON string that has the JSON in it", _ONCE,
         _string_in_string),
        ("body-other-charset", "the body was signed in {}", "sign the bytes of UTF-8 that are sent", _charsets_signed),
        ("body-as-form", "the body was signed as a form, and sent as JSON", _ONCE,
         lambda r: json_texts.forms(json.loads(r.text))),
        ("body-line-ends", "the line ends of the body were changed after signing", _HASH,
         lambda r: [r.text.replace(b"\r\n", b"\n"), re.sub(rb"\r?\n", b"\r\n", r.text)]),
        ("body-absent-members", "members without a value were sent, and not signed", _ONCE,
         _of_members(lambda members, _: (
             ({name: value for name, value in members.items() if json_texts.written(value) not in absent}, "")
             for absent in (json_texts.ABSENT[:1], json_texts.ABSENT[:2], json_texts.ABSENT)))),
        ("body-normalized", "the letters of the body are signed in another form of Unicode ({})", _ONCE,
         lambda r: ((normalize(form, r.text.decode("utf-8", "replace")).encode("utf-8", "replace"), form)
                           for form in ("NFD", "NFC", "NFKC"))),
        ("body-sorted", "the members of the body were sorted for signing", _ONCE, _sorted),
        ("body-reordered", "the members of the body were signed in another order", _ONCE,
         _of_members(lambda members, _: (
             (dict(items), "") for items in chain([[*members.items()][::-1]], permutations(members.items()))))),
        ("body-member-added", "added to the body after signing: {}", "sign the body when it is complete",
         _of_members(lambda members, _: (
             ({name: members[name] for name in members if name not in left_out}, " and ".join(left_out))
             for left_out in chain(combinations(members, 1), combinations(members, 2))))),
        ("body-member-not-sent", "signed without a value, and not sent: {}", _ONCE,
         _of_members(json_texts.with_absent)),
        ("body-letters-lost", "the body was signed with letters that were sent as ?", _UTF8,
         lambda r: (r.text.replace(lost, letter.encode()) for lost in (b"?", b"??", b"\xef\xbf\xbd")
                           if lost in r.text for letter in _LETTERS)),
        ("body-object-printed", "the body was signed as {}", _ONCE,
         lambda r: chain([(repr(r.text).encode(), "Python prints bytes, b'...'")],
                         json_texts.printed(json.loads(r.text)))),
        ("body-in-base64", "the body was signed or sent in Base64", _ONCE,
         lambda r: [b64encode(r.text), lenient(r.text)]),
        ("body-percent-encoded", "the body was percent-encoded before it was signed", _ONCE,
         lambda r: [quote(r.text, safe=safe).encode() for safe in ("", "!*'()", "/", ";,/?:@&=+$#!*'()")]
                + [quote_plus(r.text).encode()]),
        ("body-escaped-for-html", "the body was escaped for HTML before it was signed", _ONCE,
         lambda r: [escape(r.text.decode("utf-8", "replace"), quote=quotes).encode("utf-8", "replace")
                           for quotes in (False, True)]),
        ("body-wrapped", "the body was signed inside of {}", _ONCE,
         lambda r: [(b'{"data":%b}' % r.text, "another object"), (b"[%b]" % r.text, "a list")]),
        ("body-members-renamed", "the members of the body are signed with names in {}", _ONCE,
         _of_members(json_texts.renamed)),
    ),
)  # fmt: skip
