"""Mistakes in the body hash: clients hash other bytes than they send, or hash them in another way.

JSON is written again in the layouts and escapes of common encoders. Of an object, only the outer members are left out,
added, moved, rewritten or renamed; each value keeps the text that was sent.
"""

import hashlib
import json
import re
import zlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from html import escape
from itertools import chain, permutations, product
from typing import Any
from unicodedata import normalize
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

import msgspec

from simulator.auth.autopsy.key_mistakes import lenient
from simulator.auth.autopsy.signing_steps import PARTS_MAX, TEXT_BYTES_MAX, Facts, Shown, Transformation, always, rows
from simulator.auth.canonical import EMPTY_BODY_HASH, hmac_sha256
from simulator.auth.form import is_utf8
from simulator.short_text import one_line, shortened

_NOTHINGS = {
    b"": "an empty body", b"{}": "an empty object", b"null": "null", b'""': "an empty text in quotes",
    b"[]": "an empty list", b"undefined": "undefined", b"false": "false",
}  # fmt: skip
_CHARSETS = {"latin-1": "Latin-1", "cp1252": "Windows-1252", "utf-16": "UTF-16", "utf-16-le": "UTF-16"}
_LETTERS = "".join(map(chr, (0xE9, 0xE8, 0x2019, *range(0xA0, 0x180), *range(0x2010, 0x2027))))

_IS_FORM = re.compile(rb"--|[\w.%+\[\]-]+=(?!=|$)")
_LOST = "no body arrived, although this path needs a body: check whether a redirect or an earlier reader lost it"
_WITH_BODY = (b"POST", b"PUT", b"PATCH")
_BODILESS = (b"/rotate-secret", b"/replay", b"/callback-url", b"/low-balance-threshold")


def body_flaw(facts: Facts) -> str:
    """Return what is wrong with the body itself, which the client probably signed as JSON; empty if nothing is."""
    body = facts.body
    if not body:
        return _LOST if facts.method in _WITH_BODY and not facts.path.endswith(_BODILESS) else ""
    if _IS_FORM.match(body):
        return "the body was sent as a form: the service reads JSON, so sign and send one JSON text"
    try:
        msgspec.json.decode(body if len(body) <= TEXT_BYTES_MAX else b"{}", type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return "the body that arrived is not JSON: sign one JSON text, and send the same bytes"
    return ""


_LAYOUTS: tuple[dict[str, Any], ...] = (
    {"separators": (",", ":")}, {}, *({"indent": indent} for indent in (2, 4, "\t", 3, 1)),
    {"separators": (", ", ":")}, {"separators": (",", ": ")},
)  # fmt: skip
_ESCAPES = (("/", r"\/"), ("[<>&]", r"\u{:04x}"), ("[<>&'+`]|[^\x00-\x7f]", r"\u{:04X}"))
"""Of PHP, Go and System.Text.Json: the escaped characters, and how each is written."""


def _encodings(value: object, *, is_sorted: bool = False) -> Iterator[bytes]:
    """Yield a value in every layout, the likeliest first, then with the escapes of each encoder."""
    texts = []
    for layout, is_ascii in product(_LAYOUTS, (False, True)):
        texts.append(json.dumps(value, ensure_ascii=is_ascii, sort_keys=is_sorted, **layout))
        yield texts[-1].encode("utf-8", "replace")
    for text, (signs, form) in product(texts, _ESCAPES):
        escapes = {ord(sign): form.format(ord(sign)) for sign in set(re.findall(signs, text))}
        yield text.translate(escapes).encode("utf-8", "replace")


def _value(r: Facts) -> Any:
    """Return the value of the body. Raises ValueError, also for a body with many brackets: the size of its indented
    text could grow with the square of the depth."""
    if r.text.count(b"[") + r.text.count(b"{") > 4 * PARTS_MAX:
        raise ValueError
    return json.loads(r.text)


def _serialised(r: Facts) -> Iterator[bytes]:
    """Yield the body without whitespace, as JavaScript writes it, and as Python does; then in all layouts."""
    yield from (msgspec.json.format(r.text, indent=indent) for indent in (-1, 0) if r.text)
    yield from _encodings(_value(r))


def _sorted(r: Facts) -> Iterator[bytes]:
    value = _value(r)
    is_changed = json.dumps(value) != json.dumps(value, sort_keys=True)
    return _encodings(value, is_sorted=True) if is_changed else iter(())


Members = dict[str, bytes]
"""The members of an object, each with the JSON text of its value."""
_ABSENT = (b"null", b'""', b"{}", b"[]", b"0", b"false")


def _of_members(change: Callable[[Members, frozenset[str]], Iterable[tuple[Members, str]]]) -> Transformation:
    """Return the transformation that signs each changed object without whitespace, and as Python writes it."""

    def ways(r: Facts) -> Shown:
        sent = msgspec.json.decode(r.text, type=dict[str, msgspec.Raw])
        if len(sent) > PARTS_MAX:
            return
        for changed, shown in change({name: bytes(value) for name, value in sent.items()}, r.fields):
            text = msgspec.json.encode({name: msgspec.Raw(value) for name, value in changed.items()})
            yield from ((msgspec.json.format(text, indent=indent), shown) for indent in (-1, 0))

    return ways


def _with_absent(members: Members, fields: frozenset[str]) -> Iterator[tuple[Members, str]]:
    """Yield an object with one or two adjacent members added that have no value, at each place."""
    items, names = [*members.items()], sorted(fields - members.keys())
    together = [*permutations(names, 1), *permutations(names, 2)]
    for added, absent, at in product(together, _ABSENT, range(len(items), -1, -1)):
        yield dict([*items[:at], *((name, absent) for name in added), *items[at:]]), " and ".join(added)


_N = rb"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?"
_REWRITES: tuple[tuple[bytes, Any], ...] = (
    (_N + rb"|true|false", rb'"\g<0>"'), (rb"-?\d+", rb"\g<0>.0"), (rb'("?)(-?\d+)\.0*("?)', rb"\2"),
    (rb"(-?\d+\.\d+?)0+", rb"\1"), (_N, lambda found: b"%.2f" % float(found[0])),
    (rb'"(' + _N + rb'|true|false|null)"', rb"\1"), (b"null", b'""'), (b'""', b"null"), (b"{}", b"[]"),
    (rb"\[\]", b"{}"), (_N, lambda found: b'"%.2f"' % float(found[0])), (rb'"\s*(.*?)\s*"', rb'"\1"'),
)  # fmt: skip


def _revalued(members: Members, _: frozenset[str]) -> Iterator[tuple[Members, str]]:
    """Yield an object with the values that a rewrite fits rewritten: all of them, then each alone."""
    for pattern, replacement in _REWRITES:
        each = {name: re.sub(b"^(?:%b)$" % pattern, replacement, text) for name, text in members.items()}
        changed = {name: text for name, text in each.items() if text != members[name]}
        for some in (changed, *({name: text} for name, text in changed.items())) if changed else ():
            yield members | some, one_line(shortened(next(iter(some.values())).decode(), 40))


_CONVENTIONS: dict[str, Callable[[str], str]] = {
    "PascalCase": lambda name: "".join(word.capitalize() for word in name.split("_")),
    "camelCase": lambda name: re.sub("_(.)", lambda found: found[1].upper(), name),
    "snake_case": lambda name: re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower(),
}


def printed(value: Any) -> Shown:
    """Yield a value as programming languages print it."""
    yield b"[object Object]", "[object Object]"
    yield repr(value).encode(), "Python prints it"
    if isinstance(value, dict):
        yield "{{{}}}".format(", ".join(f"{name}={each}" for name, each in value.items())).encode(), "Java prints it"


def forms(value: Any) -> Iterator[bytes]:
    """Yield a JSON object as the form that common libraries write."""
    for encode in (quote_plus, quote) if isinstance(value, dict) else ():
        yield urlencode(value, quote_via=encode).encode()


_LITERAL = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|true|false|null", re.IGNORECASE)


def _of_form(r: Facts) -> Iterator[bytes]:
    """Yield the flat object that may have been sent as a form: with numbers and literals where a value looks like one,
    then with strings alone."""
    if r.text.lstrip()[:1] not in (b"", b"{", b"["):
        sent = dict(parse_qsl(r.text.decode(), keep_blank_values=True))
        typed = {name: json.loads(text.lower()) if _LITERAL.fullmatch(text) else text for name, text in sent.items()}
        yield from chain(_encodings(typed), _encodings(sent))


def _charsets_signed(r: Facts) -> Shown:
    if not r.text.isascii():
        yield r.text.decode("latin-1").encode(), "UTF-8 twice"
    text = r.text.decode("utf-8", "replace")
    yield from ((text.encode(charset, "replace"), shown) for charset, shown in _CHARSETS.items())


def _charsets_sent(r: Facts) -> Shown:
    is_other = b"\0" in r.text or not is_utf8(r.text)  # else Latin-1 is tried by `_charsets_signed`: UTF-8 twice
    for charset, shown in _CHARSETS.items() if is_other else ():
        with suppress(ValueError):
            yield r.text.decode(charset).encode("utf-8", "replace"), shown
    yield r.text.decode().encode("latin-1").decode().encode(), "UTF-8 twice"


def _unpacked(r: Facts) -> Iterator[bytes]:
    with suppress(zlib.error):
        yield zlib.decompressobj(47).decompress(r.text, TEXT_BYTES_MAX)  # gzip or zlib


def _string_in_string(r: Facts) -> Iterator[bytes]:
    yield from (json.dumps(r.text.decode(), ensure_ascii=is_ascii).encode() for is_ascii in (True, False))
    if isinstance(value := json.loads(r.text), str):
        yield value.encode()


def _hexadecimal(digest: bytes) -> bytes:
    return digest.hex().encode()


def _other_algorithms(r: Facts) -> Shown:
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
         always(lambda digest: b64encode(hashlib.sha256(digest).digest()),
                lambda digest: b64encode(hashlib.sha256(_hexadecimal(digest)).digest()))),
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
         _of_members(_revalued)),
        ("body-form-sent", "JSON was signed, and the body was sent as a form",
         "send the JSON that you sign: `data=text` for `data=dict` in requests, json_encode for http_build_query or an "
         "array in PHP",
         _of_form, 2),
        ("body-compressed", "the body was compressed after signing",
         "send the bytes that you sign; the service does not support Content-Encoding", _unpacked),
        ("body-sent-in-other-charset", "the body was signed in UTF-8, and sent in {}", _UTF8, _charsets_sent),
        ("body-encoded-twice", "the body was signed or sent as a JSON string that has the JSON in it", _ONCE,
         _string_in_string),
        ("body-other-charset", "the body was signed in {}", "sign the bytes of UTF-8 that are sent", _charsets_signed),
        ("body-as-form", "the body was signed as a form, and sent as JSON", _ONCE,
         lambda r: forms(json.loads(r.text))),
        ("body-line-ends", "the line ends of the body were changed after signing", _HASH,
         lambda r: [r.text.replace(b"\r\n", b"\n"), re.sub(rb"\r?\n", b"\r\n", r.text)]),
        ("body-absent-members", "members without a value were sent, and not signed", _ONCE,
         _of_members(lambda members, _: (
             ({name: value for name, value in members.items() if value not in absent}, "")
             for absent in (_ABSENT[:1], _ABSENT[:2], _ABSENT)))),
        ("body-normalized", "the letters of the body are signed in another form of Unicode ({})", _ONCE,
         lambda r: ((normalize(form, r.text.decode("utf-8", "replace")).encode("utf-8", "replace"), form)
                           for form in ("NFD", "NFC", "NFKC"))),
        ("body-sorted", "the members of the body were sorted for signing", _ONCE, _sorted),
        ("body-reordered", "the members of the body were signed in another order", _ONCE,
         _of_members(lambda members, _: (
             (dict(items), "") for items in chain([[*members.items()][::-1]], permutations(members.items()))))),
        ("body-member-added", "added to the body after signing: {}", "sign the body when it is complete",
         _of_members(lambda members, _: (
             ({name: members[name] for name in members if name != added}, added) for added in members))),
        ("body-member-not-sent", "signed without a value, and not sent: {}", _ONCE,
         _of_members(_with_absent)),
        ("body-letters-lost", "the body was signed with letters that were sent as ?", _UTF8,
         lambda r: (r.text.replace(lost, letter.encode()) for lost in (b"?", b"\xef\xbf\xbd")
                           if lost in r.text for letter in _LETTERS)),
        ("body-object-printed", "the body was signed as {}", _ONCE,
         lambda r: chain([(repr(r.text).encode(), "Python prints bytes, b'...'")],
                         printed(json.loads(r.text)))),
        ("body-in-base64", "the body was signed or sent in Base64", _ONCE,
         lambda r: [b64encode(r.text), lenient(r.text)]),
        ("body-percent-encoded", "the body was percent-encoded before it was signed", _ONCE,
         lambda r: [quote(r.text, safe="").encode(), quote_plus(r.text).encode(), quote(r.text, "!*'()").encode()]),
        ("body-escaped-for-html", "the body was escaped for HTML before it was signed", _ONCE,
         lambda r: [escape(r.text.decode("utf-8", "replace"), quote=quotes).encode("utf-8", "replace")
                           for quotes in (False, True)]),
        ("body-wrapped", "the body was signed inside of {}", _ONCE,
         lambda r: [(b'{"data":%b}' % r.text, "another object"), (b"[%b]" % r.text, "a list")]),
        ("body-members-renamed", "the members of the body are signed with names in {}", _ONCE,
         _of_members(lambda members, _: (
             ({convention(name): value for name, value in members.items()}, shown)
             for shown, convention in _CONVENTIONS.items()))),
    ),
)  # fmt: skip
