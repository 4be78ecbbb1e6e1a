"""Mistakes in the key of the HMAC, in its algorithm, and in the value of X-Signature, which each mistake decodes in
another way.

A digest that was cut is compared with the beginning of the right digest. It must be long enough not to be guessed:
otherwise a client could learn a signature byte by byte by asking often enough.
"""

import hashlib
import hmac
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from urllib.parse import quote, unquote_to_bytes

from simulator.auth.autopsy.signing_steps import Facts, always, rows
from simulator.auth.canonical import decoded
from simulator.auth.form import DIGEST_BYTES, PREFIX

DIGEST_BYTES_MIN = 16
_OTHER_PREFIX = re.compile(rb"^(?!(?-i:v1=))(?:v\d+|sha256|hmac-sha256|hmac|signature|bearer|t=\d+,v1)[=: ]+", re.I)
_TWICE = re.compile(rb"(?s)(.+?)(?:, ?v1=)?\1")

_LITERALS = ("undefined", "None", "null", "YOUR_SECRET", "your_secret", "secret")
_STANDARD = bytes.maketrans(b"-_", b"+/")

Keyed = Callable[[bytes, bytes], bytes]


def lenient(text: bytes) -> bytes:
    """Decode Base64 as a decoder that drops what it does not know and asks for no padding."""
    kept = re.sub(rb"[^A-Za-z0-9+/]", b"", text)
    kept = kept[: len(kept) - (len(kept) % 4 == 1)]
    return b64decode(kept + b"=" * (-len(kept) % 4))


def _other_secrets(facts: Facts, *, has_name: bool) -> Iterator[tuple[bytes, str]]:
    for name, secret in facts.others:
        if secret != facts.secret and bool(name) == has_name:
            yield from ((secret, name), (b64encode(secret), name))


def _plain_hash(mixed: Keyed) -> Keyed:
    return lambda key, text: hashlib.sha256(mixed(key, text)).digest()


def _hexadecimal(text: bytes | None) -> bytes | None:
    """Return the bytes of hexadecimal digits in one case; None of another text."""
    is_hexadecimal = re.fullmatch(rb"(?:[0-9a-f]{2})+|(?:[0-9A-F]{2})+", text or b"")
    return bytes.fromhex(text.decode()) if text and is_hexadecimal else None


def _without_padding(text: bytes) -> bytes | None:
    return decoded(text + b"=" * (-len(text) % 4)) if len(text) % 4 else None


def _cut(beginning: bytes | None) -> tuple[bytes, Callable[[bytes], bytes]] | None:
    """Return the beginning of a digest, and how it is made of a digest."""
    if beginning is None or len(beginning) >= DIGEST_BYTES:
        return None
    return beginning, lambda digest: digest[: len(beginning)]


def _twice(text: bytes) -> bytes | None:
    half = _TWICE.fullmatch(text) or _TWICE.fullmatch(decoded(text) or b"")
    return half and (half[1] if len(half[1]) == DIGEST_BYTES else decoded(half[1]))


_ONLY = "send the 44 characters of the signature and nothing else"
_KEY = "the key of the HMAC is the API key's secret, decoded from Base64"
_DECODE = "decode the secret from Base64 first"
_BYTES = "use the secret's bytes themselves"
_DIGEST = "encode the raw digest in Base64"

MISTAKES = (
    *rows(
        "key",
        ("secret-not-decoded", "the secret was used as text", _DECODE, lambda r: [b64encode(r.secret)], 1),
        ("secret-with-blanks", "the secret was used with a blank or line end",
         "strip the secret and decode it from Base64",
         lambda r: [made for text in [b64encode(r.secret)] for blank in (b"\n", b" ", b"\r\n")
                    for made in (text + blank, blank + text, r.secret + blank)]),
        ("secret-hexadecimal", "the secret's bytes were used as hexadecimal text", _BYTES,
         lambda r: [r.secret.hex().encode()]),
        ("secret-as-characters", "the secret's bytes were converted to text and encoded again", _BYTES,
         lambda r: [r.secret.decode("utf-8", "replace").encode(), r.secret.decode("latin-1").encode()]
                   if not r.secret.isascii() else [], 1),
        ("secret-url-safe", "the secret's text was decoded with the wrong alphabet, or changed to - and _",
         "decode the secret as standard Base64",
         lambda r: [urlsafe_b64encode(r.secret), lenient(b64encode(r.secret).translate(None, b"+/"))]),
        ("secret-without-padding", "the secret was used as text without its =", _DECODE,
         lambda r: [b64encode(r.secret).rstrip(b"=")]),
        ("secret-in-quotes", "the secret was used with quotes around it",
         "strip the quotes and decode the secret from Base64",
         lambda r: [quote + b64encode(r.secret) + quote for quote in (b'"', b"'")]),
        ("secret-decoded-twice", "the secret was decoded from Base64 twice", "decode the secret once",
         lambda r: [lenient(r.secret)]),
        ("secret-lower-case", "the secret was changed to lower or upper case", "use the secret as it was shown",
         lambda r: [made for text in (b64encode(r.secret).lower(), b64encode(r.secret).upper())
                    for made in (text, lenient(text))]),
        ("secret-hashed", "the secret was hashed before use", _KEY,
         lambda r: [made for text in (b64encode(r.secret), r.secret) for digest in [hashlib.sha256(text)]
                    for made in (digest.digest(), digest.hexdigest().encode())]),
        ("secret-with-key", "the API key and the secret together were used as the key", _KEY,
         lambda r: [sign.join(pair) for sign in (b"", b":") for secret in (b64encode(r.secret), r.secret)
                    for pair in ((r.api_key, secret), (secret, r.api_key))] if r.api_key else []),
        ("secret-is-api-key", "the API key was used as the secret", _KEY,
         lambda r: [r.api_key, lenient(r.api_key)] if r.api_key else []),
        ("secret-is-empty", "the secret is empty", "check where your client takes the secret from", always(b"")),
        ("secret-of-another", "the secret belongs to {}", "use the secret that belongs to the key",
         lambda r: _other_secrets(r, has_name=True)),
        ("secret-replaced", "the secret was replaced, or belongs to no API key",
         "use the current secret of the key", lambda r: _other_secrets(r, has_name=False)),
        ("secret-with-prefix", "the secret was used as text with something added or escaped", _DECODE,
         lambda r: [b"whsec_" + b64encode(r.secret), quote(b64encode(r.secret), safe="").encode()]),
        ("secret-after-byte-order-mark", "the secret was used as text with a byte order mark before it",
         _DECODE, lambda r: [b"\xef\xbb\xbf" + b64encode(r.secret)]),
        ("secret-encoded-again", "the secret was encoded once more", _DECODE,
         lambda r: [b64encode(b64encode(r.secret)), b64encode(r.secret).decode().encode("utf-16-le")]),
        ("secret-is-literal", "the secret is the text {}", "check where your client takes the secret from",
         lambda r: ((text.encode(), text) for text in _LITERALS)),
    ),
    *rows(
        "algorithm",
        *((id_, f"the signature was made with {shown}", "use HMAC-SHA256",
           always(lambda key, text, name=name: hmac.digest(key, text, name))) for id_, shown, name in (
            ("sha-1", "SHA-1", "sha1"), ("sha-512", "SHA-512", "sha512"), ("sha-384", "SHA-384", "sha384"),
            ("md5", "MD5", "md5"), ("sha3-256", "SHA3-256", "sha3_256"))),
        ("key-and-string-swapped", "the string is the key of the HMAC, and the secret its message",
         "make the secret the key and the string the message",
         always(lambda key, text: hmac.digest(text, key, "sha256")), 1),
        ("hash-without-hmac", "secret and string were hashed together, without HMAC", "use HMAC-SHA256",
         lambda r: map(_plain_hash, (lambda key, text: key + text, lambda key, text: text + key,
                                     lambda key, text: key + b":" + text, lambda key, text: text + b":" + key))),
        ("hash-without-secret", "the string was hashed without the secret", "use HMAC-SHA256 with the secret",
         always(_plain_hash(lambda _, text: text))),
    ),
    *rows(
        "encoding",
        ("signature-hexadecimal", "the signature is hexadecimal", _DIGEST, always(_hexadecimal)),
        ("signature-base64-of-hex", "the signature is hexadecimal text in Base64", _DIGEST,
         always(lambda text: _hexadecimal(decoded(text)))),
        ("signature-without-padding", "the signature has lost its padding", "keep the = at the end of the signature",
         always(_without_padding)),
        ("signature-url-safe", "the signature is in the URL-safe alphabet", "use + and / in the signature",
         always(lambda text: lenient(text.translate(_STANDARD)) if re.search(rb"[-_]", text) else None)),
        ("signature-encoded-twice", "the signature was encoded in Base64 twice", "encode the signature once",
         always(lambda text: decoded((decoded(text) or b"").removeprefix(PREFIX)))),
        ("signature-cut", "only a part of the signature is sent", _ONLY,
         always(lambda text: _cut(lenient(text)), lambda text: _cut(_hexadecimal(text[: len(text) // 2 * 2])))),
        ("signature-twice", "the signature is written twice", _ONLY, always(_twice)),
        ("signature-too-long", "something follows the signature", _ONLY,
         always(lambda text: lenient(text)[:DIGEST_BYTES] if len(lenient(text)) > DIGEST_BYTES else None)),
        ("signature-case-changed", "the letters of the signature were changed to a single case",
         "send the signature as Base64 writes it",
         always(lambda text: (text, lambda digest: b64encode(digest).lower()) if text.islower() else None,
                lambda text: (text, lambda digest: b64encode(digest).upper()) if text.isupper() else None)),
    ),
    *rows(
        "prefix",
        ("signature-v1-twice", "X-Signature begins with v1= twice", "put v1= before the signature once",
         always(lambda text: text.removeprefix(PREFIX * 2) if text.startswith(PREFIX * 2) else None)),
        ("signature-other-prefix", "X-Signature begins with something other than v1=", "put v1= before the signature",
         always(lambda text: _OTHER_PREFIX.sub(b"", text) if _OTHER_PREFIX.match(text) else None)),
        ("signature-without-v1", "X-Signature does not begin with v1=", "put v1= before the signature",
         always(lambda text: None if PREFIX in text[:8] or _OTHER_PREFIX.match(text) else text)),
    ),
    *rows(
        "wrapping",
        ("signature-with-blanks", "the signature has blanks or line ends", _ONLY,
         always(lambda text: text.translate(None, b" \t\r\n"), lambda text: text.strip().replace(b" ", b"+"))),
        ("signature-as-python-bytes", "the signature is written as Python prints bytes, b'...'",
         "decode the Base64 bytes to text before you set the header",
         always(lambda text: re.sub(rb"""b['"]([^'"]*)['"]""", rb"\1", text))),
        ("signature-in-quotes", "the signature has quotes around it", _ONLY,
         always(lambda text: text.translate(None, b"\"'"))),
        ("signature-percent-encoded", "the signature is percent-encoded", "send the signature unencoded",
         always(unquote_to_bytes)),
    ),
)  # fmt: skip
