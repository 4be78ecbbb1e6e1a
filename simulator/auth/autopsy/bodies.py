"""Mistakes in the body hash of SPEC 5.1: which bytes are hashed in place of those that are sent, and how."""

import hashlib
import hmac
import json
import re
import zlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, product
from typing import Any
from unicodedata import normalize

import msgspec

from simulator.auth.autopsy import forms, json_texts
from simulator.auth.autopsy.facts import BODY_BYTES_MAX, Facts, Step, rows
from simulator.auth.autopsy.parameters import FIELDS
from simulator.auth.canonical import EMPTY_BODY_HASH

MEMBERS_MAX = 12
"""The members of a larger object are not left out, added, written otherwise or put into another order."""
_LITERAL_BYTES_MAX = 4096  # a longer body is not tried as a part of the string itself
_INSTEAD_OF_NOTHING = (b"{}", b"null", b'""', b"[]", b"undefined", b"false", b"None", b" ", b"\n", b"0", b"true")
_ALGORITHMS = {"sha1": "SHA-1", "sha512": "SHA-512", "md5": "MD5"}
_CHARSETS = {
    "latin-1": "Latin-1", "cp1252": "Windows-1252", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16",
    "utf-32": "UTF-32", "gbk": "GBK", "big5": "Big5",
}  # fmt: skip
_BOM = b"\xef\xbb\xbf"
_WINDOWS = {"gzip": 31, "zlib": 15, "deflate": -15}
_LOST = (re.compile("[?\ufffd]"), re.compile("\\?{2,}|\ufffd{2,}"))  # a sign for each letter, or for each of its bytes
_LETTERS = tuple(map(chr, (*range(0xA0, 0x180), *range(0x2010, 0x2027), 0x20AC, 0x2122)))
_EMOJI = tuple(map(chr, range(0x1F300, 0x1F650)))
_USUAL_LETTERS = (
    "\u00e9\u00e8\u00e0\u00fc\u00f6\u00e4\u00f1\u00e7\u00e1\u00ed\u00f3\u2019\u2013\u00ea\u00f4\u00fa\u00a0"
)
_PLACES_MAX, _TRIPLE_MAX = 4, 10


def _is_json(facts: Facts) -> bool:
    """Whether the body is a JSON text that is short enough to be written otherwise."""
    if not facts.body or len(facts.body) > facts.json_bytes_max:
        return False
    try:
        msgspec.json.decode(facts.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return json_texts.is_shallow(facts.body)


def _of_json(make: Callable[[bytes], Iterable[Any]]) -> Callable[[Facts], Iterator[Any]]:
    """What is made of a body that is JSON."""

    def ways(facts: Facts) -> Iterator[Any]:
        if _is_json(facts):
            with suppress(ValueError, msgspec.MsgspecError, RecursionError):  # such as numbers that are too long
                yield from make(facts.body)

    return ways


def _of_members(make: Callable[..., Iterable[Any]], **how: Any) -> Callable[[Facts], Iterator[Any]]:
    """What is made of the members of a body that is a JSON object with few of them, laid out as usual."""

    def ways(body: bytes) -> Iterator[Any]:
        members = json_texts.members_of(body)
        for one in make(members, **how) if 0 < len(members) <= MEMBERS_MAX else ():
            text, shown = one if isinstance(one, tuple) else (one, "")
            yield from ((laid, shown) for laid in json_texts.usual_layouts(text, body))

    return _of_json(ways)


def _printed(body: bytes) -> Iterator[tuple[bytes, str]]:
    value = json.loads(body)
    yield b"[object Object]", "[object Object]"
    if isinstance(value, dict):
        java = ", ".join(f"{name}={'null' if one is None else one}" for name, one in value.items())
        yield f"{{{java}}}".encode("utf-8", "replace"), "Java prints it"
        ruby = ((json.dumps(name), json.dumps(one, ensure_ascii=False)) for name, one in value.items())
        yield f"{{{', '.join(f'{name}=>{one}' for name, one in ruby)}}}".encode("utf-8", "replace"), "Ruby prints it"


def _serialised(body: bytes) -> Iterator[bytes]:
    yield from json_texts.encodings(body)
    yield repr(json.loads(body)).encode("utf-8", "replace")  # as Python prints it


def _sorted(body: bytes) -> Iterator[bytes]:
    return json_texts.encodings(json_texts.in_order(body))


def _normalized(body: bytes) -> Iterator[tuple[bytes, str]]:
    plain = json_texts.unescaped(body)
    for form in ("NFD", "NFC", "NFKC") if not plain.isascii() else ():
        for spelt in json_texts.spellings(normalize(form, plain).encode("utf-8", "replace")):
            yield from ((text, form) for text in json_texts.usual_layouts(spelt, body))


def _json_of_form(facts: Facts) -> Iterator[bytes]:
    is_form = 0 < len(facts.body) <= facts.json_bytes_max and facts.body.lstrip()[:1] not in (b"{", b"[")
    return forms.objects_of_form(facts.body) if is_form else iter(())


def _charsets_signed(facts: Facts) -> Iterator[tuple[bytes, str]]:
    text = facts.body.decode("utf-8", "replace") if len(facts.body) <= BODY_BYTES_MAX else ""
    if not text.isascii():
        yield text.encode("utf-8").decode("latin-1").encode("utf-8"), "UTF-8 twice"
        yield text.encode("ascii", "replace"), "ASCII, with ? for other letters"
        yield text.encode("ascii", "ignore"), "ASCII, without other letters"
    for charset, shown in _CHARSETS.items() if text else ():
        yield text.encode(charset, "replace"), shown


def _charsets_sent(facts: Facts) -> Iterator[tuple[bytes, str]]:
    """The body in UTF-8, when it was sent in another charset."""
    body = facts.body if len(facts.body) <= BODY_BYTES_MAX else b""
    for charset, shown in _CHARSETS.items() if not body.isascii() or b"\0" in body else ():
        try:
            text = body.decode(charset)
        except ValueError:
            continue
        yield text.encode("utf-8", "replace"), shown
    for charset in ("latin-1", "cp1252"):
        with suppress(ValueError):
            once = body.decode().encode(charset)
            yield once.decode().encode(), "UTF-8 twice"


def _lost_letters(facts: Facts) -> Iterator[bytes]:
    """The body with letters in the places of `?`: in one of them, or in all, where more than three have the same."""
    text = facts.body.decode("utf-8", "replace") if len(facts.body) <= facts.json_bytes_max else ""
    for sign in _LOST:
        places = [found.span() for found in sign.finditer(text)]
        for chosen in (*([places] if len(places) > 1 else []), *([one] for one in places[:_PLACES_MAX])):
            several = {2: _USUAL_LETTERS, 3: _USUAL_LETTERS[:_TRIPLE_MAX]}.get(len(chosen), "")
            same = ((letter,) * len(chosen) for letter in (*_LETTERS, *(_EMOJI if len(places) == 1 else ())))
            for letters in chain(same, product(several, repeat=len(chosen)) if several else ()):
                made = text
                for (start, end), letter in zip(reversed(chosen), reversed(letters), strict=True):
                    made = made[:start] + letter + made[end:]
                yield made.encode()


def _unpacked(facts: Facts) -> Iterator[tuple[bytes, str]]:
    """The body before it was compressed, up to a bound."""
    for shown, bits in _WINDOWS.items() if not facts.body.startswith((b"{", b"[")) else ():
        try:
            plain = zlib.decompressobj(bits).decompress(facts.body, BODY_BYTES_MAX)
        except zlib.error:
            continue
        if plain:
            yield plain, shown


def _string_in_string(body: bytes) -> Iterator[bytes]:
    yield from (json.dumps(body.decode("utf-8", "replace"), ensure_ascii=one).encode() for one in (True, False))
    value = json.loads(body)
    if isinstance(value, str):
        yield value.encode("utf-8", "replace")


def _line_end(facts: Facts) -> Iterator[bytes]:
    bare = facts.body.rstrip(b"\r\n")
    yield from (bare, bare + b"\n", bare + b"\r\n")


def _line_ends(facts: Facts) -> Iterator[bytes]:
    plain = facts.body.replace(b"\r\n", b"\n")
    if b"\n" in plain:
        yield from (plain, plain.replace(b"\n", b"\r\n"))


def _short(make: Callable[[Facts], Iterable[Any]]) -> Callable[[Facts], Iterable[Any]]:
    """What is made of a body that is not empty and not too long."""
    return lambda facts: make(facts) if 0 < len(facts.body) <= BODY_BYTES_MAX else ()


def _hexadecimal(_: bytes, digest: bytes) -> bytes:
    return digest.hex().encode()


def _hashed_twice(digest: bytes) -> Iterator[bytes]:
    for first in (digest, digest.hex().encode(), b64encode(digest)):
        again = hashlib.sha256(first)
        yield from (b64encode(again.digest()), again.hexdigest().encode())


def _other_algorithms(facts: Facts) -> Iterator[tuple[Any, str]]:
    for name, shown in _ALGORITHMS.items():
        yield lambda body, _, name=name: b64encode(hashlib.new(name, body, usedforsecurity=False).digest()), shown
        yield lambda body, _, name=name: hashlib.new(name, body, usedforsecurity=False).hexdigest().encode(), shown


_HASH = "sign the Base64 of the SHA-256 of the exact bytes that are sent"
_HASH_ALWAYS = "sign the body hash; without a body that is the hash of no bytes"
_ONCE = "serialise once, sign these bytes and send them"
_UTF8 = "sign and send the same bytes, in UTF-8"

MISTAKES = (
    *rows(
        Step.HASH,
        ("body-hash-hexadecimal", "the body hash is hexadecimal", "encode the body hash in Base64",
         lambda r: [_hexadecimal, lambda _, digest: digest.hex().upper().encode()]),
        ("body-hash-missing", "the body hash is missing", _HASH_ALWAYS, lambda r: [lambda _, digest: b""]),
        ("body-hash-base64-of-hex", "the body hash is the Base64 of the hexadecimal text",
         "encode the raw digest of the body", lambda r: [lambda _, digest: b64encode(digest.hex().encode())]),
        ("body-hash-url-safe", "the body hash is in the URL-safe alphabet", "use + and / in the body hash",
         lambda r: [lambda _, digest: urlsafe_b64encode(digest)]),
        ("body-hash-without-padding", "the body hash has lost its padding", "keep the = at the end of the body hash",
         lambda r: [lambda _, digest: b64encode(digest).rstrip(b"="),
                    lambda _, digest: urlsafe_b64encode(digest).rstrip(b"=")]),
        ("body-not-hashed", "the body itself is signed instead of its hash", _HASH,
         _short(lambda r: [lambda body, _: body])),
        ("body-hash-encoded-twice", "the body hash was encoded in Base64 twice", "encode the body hash once",
         lambda r: [lambda _, digest: b64encode(b64encode(digest))]),
        ("body-hashed-twice", "the body was hashed twice", "hash the body once, and encode the raw digest in Base64",
         lambda r: [lambda _, digest, at=at: list(_hashed_twice(digest))[at] for at in range(6)]),
        ("body-only-encoded", "the body is signed in Base64, without a hash", _HASH,
         lambda r: [lambda body, _: b64encode(body)] if 0 < len(r.body) <= _LITERAL_BYTES_MAX else []),
        ("body-hash-other-algorithm", "the body was hashed with {}", "hash the body with SHA-256",
         _short(_other_algorithms)),
        ("body-hash-keyed", "the body hash is an HMAC with the secret", "hash the body with SHA-256, without a key",
         _short(lambda r: [lambda body, _: b64encode(hmac.digest(r.secret, body, "sha256")),
                           lambda body, _: hmac.digest(r.secret, body, "sha256").hex().encode()])),
    ),
    *rows(
        Step.BODY,
        ("body-hash-of-nothing", "the hash of an empty body was signed, but a body was sent", _HASH,
         lambda r: [b""] if r.hashed != EMPTY_BODY_HASH else []),
        ("body-hash-not-empty", "a body was hashed, but none was sent", "without a body hash no bytes at all",
         lambda r: _INSTEAD_OF_NOTHING if r.hashed == EMPTY_BODY_HASH else []),
        ("body-line-end", "a line end at the end of the body was signed and not sent, or sent and not signed", _HASH,
         _short(_line_end)),
        ("body-serialised-again", "the body was serialised again after signing", "sign the bytes that are sent",
         _of_json(_serialised)),
        ("body-numbers-rewritten", "numbers of the body are written otherwise in what was signed", _ONCE,
         _of_members(json_texts.revalued)),
        ("body-form-sent", "JSON was signed, and the body was sent as a form",
         "send the JSON that you sign: `data=text` for `data=dict` in requests, json_encode for http_build_query or an "
         "array in PHP", lambda r: (), _json_of_form),
        ("body-compressed", "the body was compressed ({}) after signing",
         "send the bytes that you sign; the service does not support Content-Encoding", _short(_unpacked)),
        ("body-sent-in-other-charset", "the body was signed in UTF-8, and sent in {}", _UTF8, _short(_charsets_sent)),
        ("body-encoded-twice", "the body was signed or sent as a JSON string that has the JSON in it", _ONCE,
         _of_json(_string_in_string)),
        ("body-other-charset", "the body was signed in {}", "sign the bytes of UTF-8 that are sent",
         _short(_charsets_signed)),
        ("body-byte-order-mark", "a byte order mark was signed and not sent, or sent and not signed", _HASH,
         _short(lambda r: [r.body.removeprefix(_BOM), _BOM + r.body])),
        ("body-object-printed", "the body was signed as {}", _ONCE, _of_json(_printed)),
        ("body-as-form", "the body was signed as a form, and sent as JSON", _ONCE, _of_json(forms.form_texts)),
        ("body-line-ends", "the line ends of the body were changed after signing", _HASH, _short(_line_ends)),
        ("body-absent-members", "members without a value were sent, and not signed", _ONCE,
         _of_members(json_texts.without_absent)),
        ("body-normalized", "the letters of the body are signed in another form of Unicode ({})", _ONCE,
         _of_json(_normalized)),
        ("body-sorted", "the members of the body were sorted for signing", _ONCE, _of_json(_sorted)),
        ("body-reordered", "the members of the body were signed in another order", _ONCE,
         _of_members(json_texts.reordered, is_quick=True), _of_members(json_texts.reordered, is_quick=False)),
        ("body-member-added", "{} was added to the body after signing", "sign the body when it is complete",
         _of_members(json_texts.without_some)),
        ("body-member-not-sent", "{} was signed without a value, and not sent", _ONCE, lambda r: (),
         lambda r: _of_members(json_texts.with_absent, names=FIELDS.get(r.path, ()))(r)),
        ("body-letters-lost", "the body was signed with letters that were sent as ?", _UTF8, lambda r: (),
         _lost_letters),
    ),
)  # fmt: skip
