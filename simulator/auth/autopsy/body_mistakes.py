"""How clients hash other bytes than they send, and hash them in other ways."""

import hashlib
import hmac
import json
import re
import zlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from html import escape
from itertools import product
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, quote_plus

import msgspec

from simulator.auth.autopsy import json_texts
from simulator.auth.autopsy.key_mistakes import lenient
from simulator.auth.autopsy.signing_steps import FIELDS, PARTS_MAX, TEXT_BYTES_MAX, Facts, always, rows
from simulator.auth.canonical import EMPTY_BODY_HASH
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
_SINGLE_BYTES = ("latin-1", "cp1252")
_LOST = ("[?\ufffd]", "\\?{2,}|\ufffd{2,}")  # a sign for each letter, or for each of its bytes
_LETTERS = "\u00e9\u00e8\u2019" + "".join(map(chr, (*range(0xA0, 0x180), *range(0x2010, 0x2027), 0x20AC, 0x2122)))

_IS_FORM = re.compile(rb"--|[\w.%+\[\]-]+=(?!=|$)")
FORM_SENT = "the body was sent as a form: the service reads JSON, so sign and send one JSON text"
OBJECT_SENT = "the body was sent as an object is printed: sign and send the text of JSON.stringify or json.dumps"
NOT_JSON = "the body that arrived is not JSON: sign one JSON text, and send the same bytes"
LOST = "no body arrived, and this path needs one: check whether a redirect or a stream that was read before lost it"
_WITH_BODY, _BODILESS = (b"POST", b"PUT", b"PATCH"), (b"/rotate-secret", b"/replay")

Ways = Callable[[Facts], Iterator[Any]]


def body_flaw(facts: Facts) -> str:
    """Return what arrived instead of the JSON that was probably signed; empty when the body's form does not show it."""
    body = facts.body
    if not body:
        return LOST if facts.method in _WITH_BODY and not facts.path.endswith(_BODILESS) else ""
    if body.startswith((b"[object ", b"{'")):
        return OBJECT_SENT
    if _IS_FORM.match(body):
        return FORM_SENT
    try:
        msgspec.json.decode(body if len(body) <= TEXT_BYTES_MAX else b"{}", type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return NOT_JSON
    return ""


def _is_json(facts: Facts) -> bool:
    """Return whether the body is a JSON text that is short enough to be written otherwise. Indented, a text with many
    brackets could grow with the square of its depth."""
    body = facts.body
    if not body or len(body) > facts.json_bytes_max or body.count(b"[") + body.count(b"{") > 4 * PARTS_MAX:
        return False
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _of_json(make: Callable[[bytes], Iterable[Any]]) -> Ways:

    def ways(facts: Facts) -> Iterator[Any]:
        with suppress(ValueError, msgspec.MsgspecError, RecursionError):  # such as numbers that are too long
            yield from make(facts.body) if _is_json(facts) else ()

    return ways


def _of_members(make: Callable[[json_texts.Members], Iterable[Any]]) -> Ways:

    def ways(body: bytes) -> Iterator[Any]:
        members = json_texts.members_of(body)
        for layout in json_texts.usual_layouts(body) if 0 < len(members) <= PARTS_MAX else ():
            for change in make(members):
                text, shown = change if isinstance(change, tuple) else (change, "")
                yield layout(text), shown

    return _of_json(ways)


def _short(make: Callable[[Facts], Iterable[Any]]) -> Callable[[Facts], Iterable[Any]]:
    return lambda facts: make(facts) if 0 < len(facts.body) <= TEXT_BYTES_MAX else ()


def _printed(facts: Facts) -> Iterator[tuple[bytes, str]]:
    if _is_json(facts):
        yield from json_texts.printed(json.loads(facts.body))
    yield repr(facts.body).encode(), "Python prints bytes, b'...'"
    yield b"System.Byte[]", "the name of its type"
    yield b'{"type":"Buffer","data":%b}' % json_texts.small(list(facts.body)), "Node writes a Buffer"


def _sorted(body: bytes) -> Iterable[bytes]:
    ordered = json_texts.in_order(body)
    return () if ordered == msgspec.json.format(body, indent=-1) else json_texts.encodings(ordered)


def _json_of_form(facts: Facts) -> Iterator[bytes]:
    is_form = 0 < len(facts.body) <= facts.json_bytes_max and facts.body.lstrip()[:1] not in (b"{", b"[")
    return json_texts.objects_of_form(facts.body) if is_form else iter(())


def _charsets_signed(facts: Facts) -> Iterator[tuple[bytes, str]]:
    text = facts.body.decode("utf-8", "replace")
    if not text.isascii():
        yield from (
            (text.encode("utf-8").decode(charset, "replace").encode("utf-8"), "UTF-8 twice")
            for charset in _SINGLE_BYTES
        )
        yield text.encode("ascii", "replace"), "ASCII, with ? for other letters"
        yield text.encode("ascii", "ignore"), "ASCII, without other letters"
    yield from ((text.encode(charset, "replace"), shown) for charset, shown in _CHARSETS.items())


def _charsets_sent(facts: Facts) -> Iterator[tuple[bytes, str]]:
    body = facts.body
    is_twice = is_utf8(body)  # so the same as Latin-1 is UTF-8 that was signed twice
    for charset, shown in _CHARSETS.items() if not body.isascii() or b"\0" in body else ():
        with suppress(ValueError):
            if is_twice and charset in _SINGLE_BYTES:
                continue
            yield body.decode(charset).encode("utf-8", "replace"), shown
    for charset in _SINGLE_BYTES:
        with suppress(ValueError):
            yield body.decode().encode(charset).decode().encode(), "UTF-8 twice"


def _lost_letters(facts: Facts) -> Iterator[bytes]:
    """Yield the body with the same letter at every place where one was lost."""
    text = facts.body.decode("utf-8", "replace") if len(facts.body) <= facts.json_bytes_max else ""
    for sign in _LOST:
        yield from (re.sub(sign, letter, text).encode() for letter in (_LETTERS if re.search(sign, text) else ()))


def _unpacked(facts: Facts) -> Iterator[tuple[bytes, str]]:
    for shown, bits in {"gzip": 31, "zlib": 15, "deflate": -15}.items() if facts.body[:1] not in (b"{", b"[") else ():
        with suppress(zlib.error):
            if plain := zlib.decompressobj(bits).decompress(facts.body, TEXT_BYTES_MAX):
                yield plain, shown


def _string_in_string(body: bytes) -> Iterator[bytes]:
    yield from (
        json.dumps(body.decode("utf-8", "replace"), ensure_ascii=is_ascii).encode() for is_ascii in (True, False)
    )
    while isinstance(value := json.loads(body), str):
        yield (body := value.encode("utf-8", "replace"))


def _hexadecimal(digest: bytes) -> bytes:
    return digest.hex().encode()


def _other_algorithms(_: Facts) -> Iterator[tuple[Any, str]]:
    for name, shown in {"sha1": "SHA-1", "sha512": "SHA-512", "md5": "MD5"}.items():
        yield lambda body, _, name=name: b64encode(hashlib.new(name, body, usedforsecurity=False).digest()), shown
        yield lambda body, _, name=name: hashlib.new(name, body, usedforsecurity=False).hexdigest().encode(), shown


_DECORATIONS: dict[str, Callable[[bytes], bytes]] = {
    "sha256=...": lambda digest: b"sha256=" + b64encode(digest),
    "SHA-256=...": lambda digest: b"SHA-256=" + b64encode(digest),
    "b'...', as Python prints bytes": lambda digest: b"b'%b'" % b64encode(digest),
    "a text in quotes": lambda digest: b'"%b"' % b64encode(digest),
    "AB-CD-..., as BitConverter writes it": lambda digest: digest.hex("-").upper().encode(),
    "percent-encoded text": lambda digest: quote(b64encode(digest), safe="").encode(),
    "Base64 of bytes that were made a text": lambda digest: b64encode(digest.decode("latin-1").encode()),
}


_HASH = "sign the Base64 of the SHA-256 of the exact bytes that are sent"
_ONCE = "serialise once, sign these bytes and send them"
_UTF8 = "sign and send the same bytes, in UTF-8"
_BOM = b"\xef\xbb\xbf"

MISTAKES = (
    *rows(
        "hash",
        ("body-hash-hexadecimal", "the body hash is hexadecimal", "encode the body hash in Base64",
         always(lambda _, digest: digest.hex().encode(), lambda _, digest: digest.hex().upper().encode())),
        ("body-hash-missing", "the body hash is missing",
         "sign the body hash; without a body, the hash of no bytes", always(lambda _, digest: b"")),
        ("body-hash-base64-of-hex", "the body hash is the Base64 of the hexadecimal text",
         "encode the raw digest of the body", always(lambda _, digest: b64encode(digest.hex().encode()))),
        ("body-hash-url-safe", "the body hash is in the URL-safe alphabet", "use + and / in the body hash",
         always(lambda _, digest: urlsafe_b64encode(digest))),
        ("body-hash-without-padding", "the body hash has lost its padding", "keep the = at the end of the body hash",
         always(lambda _, digest: b64encode(digest).rstrip(b"="),
                    lambda _, digest: urlsafe_b64encode(digest).rstrip(b"="))),
        ("body-not-hashed", "the body itself is signed instead of its hash", _HASH,
         _short(always(lambda body, _: body))),
        ("body-hash-encoded-twice", "the body hash was encoded in Base64 twice", "encode the body hash once",
         always(lambda _, digest: b64encode(b64encode(digest)))),
        ("body-hashed-twice", "the body was hashed twice", "hash the body once, and encode the raw digest in Base64",
         always(*(lambda _, digest, text=text, encode=encode: encode(hashlib.sha256(text(digest)).digest())
                    for text, encode in product((bytes, _hexadecimal, b64encode), (b64encode, _hexadecimal))))),
        ("body-only-encoded", "the body is signed in Base64, without a hash", _HASH,
         _short(always(lambda body, _: b64encode(body)))),
        ("body-hash-other-algorithm", "the body was hashed with {}", "hash the body with SHA-256",
         _short(_other_algorithms)),
        ("body-hash-keyed", "the body hash is an HMAC with the secret", "hash the body with SHA-256, without a key",
         _short(lambda r: [lambda body, _: b64encode(hmac.digest(r.secret, body, "sha256")),
                           lambda body, _: hmac.digest(r.secret, body, "sha256").hex().encode()])),
        ("body-hash-decorated", "the body hash is signed as {}", _HASH,
         lambda r: ((lambda _, digest, write=write: write(digest), shown) for shown, write in _DECORATIONS.items())),
    ),
    *rows(
        "body",
        ("body-hash-of-nothing", "the hash of {} was signed, but a body was sent", _HASH,
         lambda r: _NOTHINGS.items() if r.hashed != EMPTY_BODY_HASH else []),
        ("body-hash-not-empty", "the hash of {} was signed, but no body was sent",
         "hash no bytes when there is no body",
         lambda r: _NOTHINGS.items() if r.hashed == EMPTY_BODY_HASH else []),
        ("body-line-end", "a line end at the end of the body was signed and not sent, or sent and not signed", _HASH,
         _short(lambda r: [r.body.rstrip(b"\r\n") + end for end in (b"", b"\n", b"\r\n")])),
        ("body-serialised-again", "the body was serialised again after signing", "sign the bytes that are sent",
         _of_json(lambda body: (repr(json.loads(body)).encode("utf-8", "replace"), *json_texts.encodings(body)))),
        ("body-byte-order-mark", "a byte order mark was signed and not sent, or sent and not signed", _HASH,
         _short(lambda r: [r.body.removeprefix(_BOM), _BOM + r.body])),
        ("body-numbers-rewritten", "a value of the body is signed as {}, and sent differently", _ONCE,
         _of_members(json_texts.revalued)),
        ("body-form-sent", "JSON was signed, and the body was sent as a form",
         "send the JSON that you sign: `data=text` for `data=dict` in requests, json_encode for http_build_query or an "
         "array in PHP", _json_of_form),
        ("body-compressed", "the body was compressed ({}) after signing",
         "send the bytes that you sign; the service does not support Content-Encoding", _short(_unpacked)),
        ("body-sent-in-other-charset", "the body was signed in UTF-8, and sent in {}", _UTF8, _short(_charsets_sent)),
        ("body-encoded-twice", "the body was signed or sent as a JSON string that has the JSON in it", _ONCE,
         _of_json(_string_in_string)),
        ("body-other-charset", "the body was signed in {}", "sign the bytes of UTF-8 that are sent",
         _short(_charsets_signed)),
        ("body-as-form", "the body was signed as a form, and sent as JSON", _ONCE, _of_json(json_texts.forms)),
        ("body-line-ends", "the line ends of the body were changed after signing", _HASH,
         _short(lambda r: [r.body.replace(b"\r\n", b"\n"), re.sub(rb"\r?\n", b"\r\n", r.body)])),
        ("body-absent-members", "members without a value were sent, and not signed", _ONCE,
         _of_members(json_texts.without_absent)),
        ("body-normalized", "the letters of the body are signed in another form of Unicode ({})", _ONCE,
         _short(lambda r: ((normalize(form, r.body.decode("utf-8", "replace")).encode("utf-8", "replace"), form)
                           for form in ("NFD", "NFC", "NFKC")))),
        ("body-sorted", "the members of the body were sorted for signing", _ONCE,
         _of_json(_sorted)),
        ("body-reordered", "the members of the body were signed in another order", _ONCE,
         _of_members(json_texts.reordered)),
        ("body-member-added", "added to the body after signing: {}", "sign the body when it is complete",
         _of_members(json_texts.without_some)),
        ("body-member-not-sent", "signed without a value, and not sent: {}", _ONCE,
         lambda r: _of_members(lambda members: json_texts.with_absent(members, FIELDS.get(r.path, ())))(r)),
        ("body-letters-lost", "the body was signed with letters that were sent as ?", _UTF8, _lost_letters),
        ("body-object-printed", "the body was signed as {}", _ONCE, _short(_printed)),
        ("body-in-base64", "the body was signed or sent in Base64", _ONCE,
         _short(lambda r: [b64encode(r.body), lenient(r.body)])),
        ("body-percent-encoded", "the body was percent-encoded before it was signed", _ONCE,
         _short(lambda r: [quote(r.body, safe=safe).encode() for safe in ("", "!*'()", "/", ";,/?:@&=+$#!*'()")]
                + [quote_plus(r.body).encode()])),
        ("body-escaped-for-html", "the body was escaped for HTML before it was signed", _ONCE,
         _short(lambda r: [escape(r.body.decode("utf-8", "replace"), quote=quotes).encode("utf-8", "replace")
                           for quotes in (False, True)])),
        ("body-wrapped", "the body was signed inside of {}", _ONCE,
         _of_json(lambda body: [(b'{"data":%b}' % body, "another object"), (b"[%b]" % body, "a list")])),
        ("body-members-renamed", "the members of the body are signed with names in {}", _ONCE,
         _of_members(json_texts.renamed)),
    ),
)  # fmt: skip
