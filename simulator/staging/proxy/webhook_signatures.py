"""Whether a webhook's signature fits the secret that the service gave out, where its scheme is one that we know.

SPEC 6.3 leaves the scheme open: the headers of Standard Webhooks are tried, and a plain HMAC-SHA256 in any header.
"""

import binascii
import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator

from simulator.wire.signing import STANDARD_HEADERS
from simulator.wire.traffic import Headers

RIGHT, WRONG, UNKNOWN = "right", "wrong", "unknown"
_WORDS = ("sign", "hmac", "digest")


def judged(headers: Headers, body: bytes, secrets: Iterable[str]) -> str:
    """`right`, `wrong`, `unknown` when no secret was seen, or empty when no header looks like a signature."""
    fields = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in headers}
    given = {name: value for name, value in fields.items() if any(word in name for word in _WORDS)}
    if not given:
        return ""
    expected = {text for secret in secrets for text in _expected(secret, fields, body)}
    if not expected:
        return UNKNOWN
    values = {part for value in given.values() for part in _parts(value)}
    return RIGHT if any(hmac.compare_digest(a.encode(), b.encode()) for a in values for b in expected) else WRONG


def _parts(value: str) -> Iterator[str]:
    """The signatures in a header: several are divided by blanks, and each may have a scheme's name in front."""
    for one in value.split()[:10]:
        yield one
        for divider in (",", "="):
            _, found, rest = one.partition(divider)
            if found:
                yield rest


def _expected(secret: str, fields: dict[str, str], body: bytes) -> Iterator[str]:
    id_, stamp, _ = (fields.get(name, "") for name in STANDARD_HEADERS)
    signed = [body, b".".join((id_.encode(), stamp.encode(), body))] if id_ else [body]
    for key in _keys(secret):
        for text in signed:
            digest = hmac.digest(key, text, "sha256")
            yield digest.hex()
            yield b64encode(digest).decode()


def _keys(secret: str) -> Iterator[bytes]:
    """A secret as text, as hexadecimal digits and as Base64."""
    yield secret.encode()
    for decode in (bytes.fromhex, b64decode):
        try:
            yield decode(secret.removeprefix("whsec_"))
        except (ValueError, binascii.Error):
            continue
