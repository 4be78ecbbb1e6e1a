"""Mistakes in the key of the HMAC, in its algorithm, and in the value of X-Signature; and the ways to read that value.

What is left of a signature that was cut or changed is compared with the same part of the right one. So much has to be
left that nobody could have guessed it: otherwise who asks often enough would learn a signature byte by byte.
"""

import hashlib
import hmac
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from binascii import hexlify
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from simulator.auth.autopsy.facts import Facts, Found, Step, rows, ways_of
from simulator.auth.form import DIGEST_BYTES, PREFIX, decoded

SIGNATURE_BYTES_MAX = 2048
SIZES = frozenset({DIGEST_BYTES, 16, 20, 48, 64})
"""The bytes of the digests that are known."""
LEFT_BYTES_MIN, _LEFT_CHARACTERS_MIN = 16, 22
_CHARACTERS = 44  # of the Base64 of a digest

_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]+={0,2}")
_URL_SAFE = re.compile(rb"[A-Za-z0-9_-]+={0,2}")
_HEXADECIMAL = re.compile(rb"(?:[0-9a-fA-F]{2})+")
_PYTHON_BYTES = re.compile(rb"""^b['"]([^'"]*)['"]$""")
_PREFIXES = rb"^(?!(?-i:v1=))(?:v\d+|sha256|hmac-sha256|hmac|signature|bearer|t=\d+,v1)[=: ]+"
_OTHER_PREFIX = re.compile(_PREFIXES, re.IGNORECASE)

Written = Callable[[bytes], bytes]
Digests = Iterator[tuple[bytes, Any]]


class Reading(NamedTuple):
    """What X-Signature may stand for: something that a digest is `written` as, and the mistakes that this supposes."""

    found: tuple[Found, ...]
    wanted: bytes
    written: Written


def readings(facts: Facts) -> list[Reading]:
    """Every way to read the header with at most two mistakes, those with the fewest first."""
    signature = facts.signature[:SIGNATURE_BYTES_MAX]
    found: dict[tuple[bytes, Written], Reading] = {}
    for prefix, text in _undone(facts, Step.PREFIX, signature):
        for wrapping, bare in _undone(facts, Step.WRAPPING, text):
            for encoding, read in _undone(facts, Step.ENCODING, bare):
                for wanted, written in read:
                    how = (*encoding, *wrapping, *prefix)
                    found.setdefault((wanted, written), Reading(how, wanted, written))
    return sorted((one for one in found.values() if len(one.found) <= 2), key=lambda one: len(one.found))


def _undone(facts: Facts, step: Step, value: bytes) -> Iterator[tuple[tuple[Found, ...], Any]]:
    """The value before a step, done rightly and in each wrong way that it shows."""
    right: dict[Step, Any] = {Step.PREFIX: _without_v1, Step.WRAPPING: bytes, Step.ENCODING: _base64}
    if (made := right[step](value)) is not None:
        yield (), made
    for mistake in MISTAKES:
        for way in ways_of(mistake, mistake.ways(facts)) if mistake.step is step else ():
            made = way.make(value)
            if made is not None and (made != value or step is not Step.WRAPPING):
                yield (way.found,), made


def _without_v1(signature: bytes) -> bytes | None:
    """What follows v1=, also behind blanks and quotes, which are another mistake."""
    bare = signature.strip(b" \t\"'")
    is_right = bare.startswith(PREFIX) and not bare.startswith(PREFIX * 2)
    return signature.replace(bare, bare.removeprefix(PREFIX)) if is_right else None


def _base64(text: bytes) -> Digests:
    raw = decoded(text)
    if raw is not None and len(raw) in SIZES:
        yield raw, bytes


def _hexadecimal(text: bytes) -> Digests:
    if _HEXADECIMAL.fullmatch(text) and len(text) // 2 in SIZES:
        yield bytes.fromhex(text.decode()), bytes


def _lenient(text: bytes) -> bytes:
    """What a decoder makes of a text that drops what it does not know, and asks for no padding."""
    kept = bytes(each for each in text if each in _ALPHABET)
    kept = kept[: len(kept) - (len(kept) % 4 == 1)]
    return b64decode(kept + b"=" * (-len(kept) % 4))


def _twice(text: bytes) -> Digests:
    inner = decoded(text)
    yield from _base64(inner) if inner else ()


def _hexadecimal_in_base64(text: bytes) -> Digests:
    inner = decoded(text)
    yield from _hexadecimal(inner) if inner else ()


def _unpadded(text: bytes) -> Digests:
    if _BASE64.fullmatch(text) and len(text) % 4 > 1:
        raw = _lenient(text)
        yield from ((raw, bytes),) if len(raw) in SIZES else _hexadecimal(raw)


def _url_safe(text: bytes) -> Digests:
    if _URL_SAFE.fullmatch(text) and not _BASE64.fullmatch(text):
        raw = _lenient(text.translate(bytes.maketrans(b"-_", b"+/")))
        yield from ((raw, bytes),) if len(raw) in SIZES else ()


def _first(count: int, written: Written) -> Written:
    return lambda digest: written(digest)[:count]


def _cut(text: bytes) -> Digests:
    bare, raw = text.rstrip(b"="), decoded(text)
    if 2 * LEFT_BYTES_MIN <= len(text) < 2 * DIGEST_BYTES and re.fullmatch(rb"[0-9a-fA-F]+", text):
        yield text.lower(), _first(len(text), hexlify)
    if raw is not None and LEFT_BYTES_MIN <= len(raw) < DIGEST_BYTES:
        yield raw, _first(len(raw), bytes)
    elif _BASE64.fullmatch(bare) and _LEFT_CHARACTERS_MIN <= len(bare) < _CHARACTERS - 1:
        yield bare, _first(len(bare), b64encode)


def _longer(text: bytes, *, is_twice: bool) -> Digests:
    raw = decoded(text)
    if raw is not None and len(raw) > DIGEST_BYTES:
        first, rest = raw[:DIGEST_BYTES], raw[DIGEST_BYTES:]
    else:
        first = decoded(text[:_CHARACTERS]) or b""
        rest = decoded(text[_CHARACTERS:].strip(b", ").removeprefix(PREFIX)) or text[_CHARACTERS:]
    if len(first) == DIGEST_BYTES and rest and (rest == first) == is_twice:
        yield first, bytes


def _one_case(text: bytes) -> Digests:
    for change in (bytes.upper, bytes.lower):
        if len(text) == _CHARACTERS and _BASE64.fullmatch(text) and change(text) == text:
            yield text, lambda digest, change=change: change(b64encode(digest))


def _hashed(mixed: Callable[[bytes, bytes], bytes]) -> Callable[[bytes, bytes], bytes]:
    return lambda key, text: hashlib.sha256(mixed(key, text)).digest()


def _hmac(name: str) -> list[Callable[[bytes, bytes], bytes]]:
    return [lambda key, text: hmac.digest(key, text, name)]


def _hashes(text: bytes) -> list[bytes]:
    digest = hashlib.sha256(text)
    return [digest.digest(), digest.hexdigest().encode()]


def _with_blanks(secret: bytes) -> Iterator[bytes]:
    text = b64encode(secret)
    yield text + b"\n"
    for blank in (b" ", b"\r\n", b"\r", b"\t"):
        yield from (text + blank, blank + text)
    yield from (secret + blank for blank in (b"\n", b" ", b"\r\n"))


def _url_safe_secrets(secret: bytes) -> Iterator[bytes]:
    text = urlsafe_b64encode(secret)
    yield from (text, text.rstrip(b"="))
    yield _lenient(b64encode(secret).translate(None, b"+/"))  # as decoders that drop what is not of their alphabet


def _with_api_key(facts: Facts) -> Iterator[bytes]:
    for separator in (b"", b":") if facts.api_key else ():
        for secret in (b64encode(facts.secret), facts.secret):
            yield from (facts.api_key + separator + secret, secret + separator + facts.api_key)


def _others(facts: Facts, *, has_name: bool) -> Iterator[tuple[bytes, str]]:
    for name, secret in facts.others:
        if secret != facts.secret and bool(name) == has_name:
            yield from ((secret, name), (b64encode(secret), name))


_ONLY = "send the 44 characters of the signature and nothing else"
_KEY = "the key of the HMAC is the API key's secret, decoded from Base64"
_DIGEST = "encode the raw digest in Base64"

MISTAKES = (
    *rows(
        Step.KEY,
        ("secret-not-decoded", "the secret was used as text", "decode the secret from Base64 first",
         lambda r: [b64encode(r.secret)]),
        ("secret-with-blanks", "the secret was used with a blank or line end",
         "strip the secret and decode it from Base64", lambda r: _with_blanks(r.secret)),
        ("secret-hexadecimal", "the secret's bytes were used as hexadecimal text", "use the secret's bytes themselves",
         lambda r: [r.secret.hex().encode(), r.secret.hex().upper().encode()]),
        ("secret-as-characters", "the secret's bytes were made a text and encoded again",
         "use the secret's bytes themselves",
         lambda r: [r.secret.decode("utf-8", "replace").encode(), r.secret.decode("latin-1").encode(),
                    r.secret.decode("ascii", "ignore").encode()]),
        ("secret-url-safe", "the secret's text was decoded with the wrong alphabet, or changed to - and _",
         "decode the secret as standard Base64", lambda r: _url_safe_secrets(r.secret)),
        ("secret-without-padding", "the secret was used as text without its =", "decode the secret from Base64 first",
         lambda r: [b64encode(r.secret).rstrip(b"=")]),
        ("secret-in-quotes", "the secret was used with quotes around it",
         "strip the quotes and decode the secret from Base64",
         lambda r: [quote + b64encode(r.secret) + quote for quote in (b'"', b"'")]),
        ("secret-decoded-twice", "the secret was decoded from Base64 twice", "decode the secret once",
         lambda r: [_lenient(r.secret)]),
        ("secret-lower-case", "the secret was changed to lower or upper case", "use the secret as it was shown",
         lambda r: [made for text in (b64encode(r.secret).lower(), b64encode(r.secret).upper())
                    for made in (text, _lenient(text))]),
        ("secret-hashed", "the secret was hashed before use", _KEY,
         lambda r: _hashes(b64encode(r.secret)) + _hashes(r.secret)),
        ("secret-with-key", "the API key and the secret together were used as the key", _KEY, _with_api_key),
        ("secret-is-api-key", "the API key was used as the secret", _KEY,
         lambda r: [r.api_key, _lenient(r.api_key)] if r.api_key else []),
        ("secret-is-empty", "the secret is empty", "check where your client takes the secret from", lambda r: [b""]),
        ("secret-of-another", "the secret is that of {}", "use the secret that belongs to the key",
         lambda r: _others(r, has_name=True)),
        ("secret-replaced", "the secret was replaced by a newer one, or is not that of an API key",
         "use the present secret of the key", lambda r: _others(r, has_name=False)),
    ),
    *rows(
        Step.ALGORITHM,
        ("sha-1", "the signature was made with SHA-1", "use HMAC-SHA256", lambda r: _hmac("sha1")),
        ("sha-512", "the signature was made with SHA-512", "use HMAC-SHA256", lambda r: _hmac("sha512")),
        ("sha-384", "the signature was made with SHA-384", "use HMAC-SHA256", lambda r: _hmac("sha384")),
        ("md5", "the signature was made with MD5", "use HMAC-SHA256", lambda r: _hmac("md5")),
        ("sha3-256", "the signature was made with SHA3-256", "use HMAC-SHA256", lambda r: _hmac("sha3_256")),
        ("key-and-string-swapped", "the string is the key of the HMAC, and the secret its message",
         "make the secret the key and the string the message",
         lambda r: [lambda key, text: hmac.digest(text, key, "sha256")]),
        ("hash-without-hmac", "secret and string were hashed together, without HMAC", "use HMAC-SHA256",
         lambda r: map(_hashed, (lambda key, text: key + text, lambda key, text: text + key,
                                 lambda key, text: key + b":" + text, lambda key, text: text + b":" + key))),
        ("hash-without-secret", "the string was hashed without the secret", "use HMAC-SHA256 with the secret",
         lambda r: [_hashed(lambda _, text: text)]),
    ),
    *rows(
        Step.ENCODING,
        ("signature-hexadecimal", "the signature is hexadecimal", _DIGEST, lambda r: [_hexadecimal]),
        ("signature-base64-of-hex", "the signature is hexadecimal text in Base64", _DIGEST,
         lambda r: [_hexadecimal_in_base64]),
        ("signature-url-safe", "the signature is in the URL-safe alphabet", "use + and / in the signature",
         lambda r: [_url_safe]),
        ("signature-without-padding", "the signature has lost its padding", "keep the = at the end of the signature",
         lambda r: [_unpadded]),
        ("signature-encoded-twice", "the signature was encoded in Base64 twice", "encode the signature once",
         lambda r: [_twice]),
        ("signature-cut", "only a part of the signature is sent", _ONLY, lambda r: [_cut]),
        ("signature-too-long", "something follows the signature", _ONLY,
         lambda r: [lambda text: _longer(text, is_twice=False)]),
        ("signature-twice", "the signature is written twice", _ONLY,
         lambda r: [lambda text: _longer(text, is_twice=True)]),
        ("signature-case-changed", "the letters of the signature were changed to one case",
         "send the signature as Base64 writes it", lambda r: [_one_case]),
    ),
    *rows(
        Step.WRAPPING,
        ("signature-with-blanks", "the signature has blanks or line ends", _ONLY,
         lambda r: [lambda text: text.translate(None, b" \t\r\n"), lambda text: text.strip().replace(b" ", b"+")]),
        ("signature-as-python-bytes", "the signature is written as Python prints bytes, b'...'",
         "decode the bytes of the Base64 to a text before they are put into the header",
         lambda r: [lambda text: _PYTHON_BYTES.sub(rb"\1", text)]),
        ("signature-in-quotes", "the signature has quotes around it", _ONLY,
         lambda r: [lambda text: text.strip(b"\"'")]),
        ("signature-percent-encoded", "the signature is percent-encoded", "send the signature as it is",
         lambda r: [unquote_to_bytes]),
    ),
    *rows(
        Step.PREFIX,
        ("signature-v1-twice", "X-Signature begins with v1= twice", "put v1= before the signature once",
         lambda r: [lambda text: text.removeprefix(PREFIX * 2) if text.startswith(PREFIX * 2) else None]),
        ("signature-other-prefix", "X-Signature begins otherwise than with v1=", "put v1= before the signature",
         lambda r: [lambda text: _OTHER_PREFIX.sub(b"", text) if _OTHER_PREFIX.match(text) else None]),
        ("signature-without-v1", "X-Signature does not begin with v1=", "put v1= before the signature",
         lambda r: [lambda text: None if PREFIX in text[:8] or _OTHER_PREFIX.match(text) else text]),
    ),
)  # fmt: skip
