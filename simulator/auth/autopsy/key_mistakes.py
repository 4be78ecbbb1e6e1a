"""Mistakes in the key of the HMAC, in its algorithm, and in the value of X-Signature.

The rest of a signature that was cut is compared with the same part of the right signature. It must be long enough not
to be guessed: otherwise a client could learn a signature byte by byte by asking often enough.
"""

import hashlib
import hmac
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from simulator.auth.autopsy.signing_steps import Facts, always, rows
from simulator.auth.form import DIGEST_BYTES, DIGEST_CHARACTERS, PREFIX

LEFT_BYTES_MIN, _LEFT_CHARACTERS_MIN = 16, 22
_OTHER_PREFIX = re.compile(rb"^(?!(?-i:v1=))(?:v\d+|sha256|hmac-sha256|hmac|signature|bearer|t=\d+,v1)[=: ]+", re.I)

_LITERALS = ("undefined", "None", "null", "YOUR_SECRET", "your_secret", "secret", "$RESELLER_API_SECRET")

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


def _url_safe(digest: bytes, sent: bytes) -> bytes:
    return urlsafe_b64encode(digest) if b"-" in sent or b"_" in sent else b""


def _cut(_: Facts) -> Iterator[Any]:
    def of_bytes(digest: bytes, sent: bytes) -> bytes:
        count = len(lenient(sent))
        return b64encode(digest[:count]) if LEFT_BYTES_MIN <= count < DIGEST_BYTES else b""

    yield of_bytes
    yield lambda digest, sent: b64encode(digest)[: len(sent)] if _LEFT_CHARACTERS_MIN <= len(sent) < 43 else b""
    yield (
        lambda digest, sent: (
            digest.hex().encode()[: len(sent)] if 2 * LEFT_BYTES_MIN <= len(sent) < 2 * DIGEST_BYTES else b""
        )
    )


_ONLY = "send the 44 characters of the signature and nothing else"
_KEY = "the key of the HMAC is the API key's secret, decoded from Base64"
_DECODE = "decode the secret from Base64 first"
_BYTES = "use the secret's bytes themselves"
_DIGEST = "encode the raw digest in Base64"

MISTAKES = (
    *rows(
        "key",
        ("secret-not-decoded", "the secret was used as text", _DECODE, lambda r: [b64encode(r.secret)]),
        ("secret-with-blanks", "the secret was used with a blank or line end",
         "strip the secret and decode it from Base64",
         lambda r: [made for text in [b64encode(r.secret)] for blank in (b"\n", b" ", b"\r\n", b"\r", b"\t")
                    for made in (text + blank, blank + text, r.secret + blank)]),
        ("secret-hexadecimal", "the secret's bytes were used as hexadecimal text", _BYTES,
         lambda r: [r.secret.hex().encode(), r.secret.hex().upper().encode()]),
        ("secret-as-characters", "the secret's bytes were converted to text and encoded again", _BYTES,
         lambda r: [r.secret.decode("utf-8", "replace").encode(), r.secret.decode("latin-1").encode(),
                    r.secret.decode("ascii", "ignore").encode()]),
        ("secret-url-safe", "the secret's text was decoded with the wrong alphabet, or changed to - and _",
         "decode the secret as standard Base64",
         lambda r: [urlsafe_b64encode(r.secret), urlsafe_b64encode(r.secret).rstrip(b"="),
                    lenient(b64encode(r.secret).translate(None, b"+/"))]),
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
         always(lambda key, text: hmac.digest(text, key, "sha256"))),
        ("hash-without-hmac", "secret and string were hashed together, without HMAC", "use HMAC-SHA256",
         lambda r: map(_plain_hash, (lambda key, text: key + text, lambda key, text: text + key,
                                     lambda key, text: key + b":" + text, lambda key, text: text + b":" + key))),
        ("hash-without-secret", "the string was hashed without the secret", "use HMAC-SHA256 with the secret",
         always(_plain_hash(lambda _, text: text))),
    ),
    *rows(
        "encoding",
        ("signature-hexadecimal", "the signature is hexadecimal", _DIGEST,
         always(lambda digest, sent: digest.hex().encode() if sent.islower() else digest.hex().upper().encode())),
        ("signature-base64-of-hex", "the signature is hexadecimal text in Base64", _DIGEST,
         always(lambda digest, _: b64encode(digest.hex().encode()),
                    lambda digest, _: b64encode(digest.hex().upper().encode()))),
        ("signature-without-padding", "the signature has lost its padding", "keep the = at the end of the signature",
         always(lambda digest, _: b64encode(digest).rstrip(b"="))),
        ("signature-url-safe", "the signature is in the URL-safe alphabet", "use + and / in the signature",
         always(_url_safe, lambda digest, sent: _url_safe(digest, sent).rstrip(b"="))),
        ("signature-encoded-twice", "the signature was encoded in Base64 twice", "encode the signature once",
         always(lambda digest, _: b64encode(b64encode(digest)),
                    lambda digest, _: b64encode(PREFIX + b64encode(digest)))),
        ("signature-cut", "only a part of the signature is sent", _ONLY, _cut),
        ("signature-twice", "the signature is written twice", _ONLY,
         always(lambda digest, _: b64encode(digest) * 2, lambda digest, _: b64encode(digest * 2),
                    *(lambda digest, _, joint=joint: b64encode(digest) + joint + PREFIX + b64encode(digest)
                      for joint in (b",", b", ")))),
        ("signature-too-long", "something follows the signature", _ONLY,
         always(lambda digest, sent: b64encode(digest) + sent[DIGEST_CHARACTERS:],
                    lambda digest, sent: b64encode(digest + lenient(sent)[DIGEST_BYTES:]))),
        ("signature-case-changed", "the letters of the signature were changed to a single case",
         "send the signature as Base64 writes it",
         always(lambda digest, sent: b64encode(digest).lower() if sent.islower()
                    else b64encode(digest).upper() if sent.isupper() else b"")),
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
    *rows(
        "prefix",
        ("signature-v1-twice", "X-Signature begins with v1= twice", "put v1= before the signature once",
         always(lambda text: text.removeprefix(PREFIX * 2) if text.startswith(PREFIX * 2) else None)),
        ("signature-other-prefix", "X-Signature begins with something other than v1=", "put v1= before the signature",
         always(lambda text: _OTHER_PREFIX.sub(b"", text) if _OTHER_PREFIX.match(text) else None)),
        ("signature-without-v1", "X-Signature does not begin with v1=", "put v1= before the signature",
         always(lambda text: None if PREFIX in text[:8] or _OTHER_PREFIX.match(text) else text)),
    ),
)  # fmt: skip
