"""Mistakes in the key of the HMAC: the secret used otherwise than decoded from Base64, or another secret."""

import hashlib
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterator

from simulator.auth.autopsy import often
from simulator.auth.autopsy.facts import Facts, Variant, variant

_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def keys(facts: Facts) -> Iterator[Variant]:
    """What costs little."""
    yield from often.keys(facts.secret)
    yield variant("secret-url-safe", urlsafe_b64encode(facts.secret))
    yield variant("secret-without-padding", b64encode(facts.secret).rstrip(b"="))


def rare_keys(facts: Facts) -> Iterator[Variant]:
    """What fewer clients do, and secrets that show no owner."""
    secret = facts.secret
    text = b64encode(secret)
    for blank in (b" ", b"\r\n", b"\r", b"\t"):
        yield variant("secret-with-blanks", text + blank)
        yield variant("secret-with-blanks", blank + text)
    for blank in (b"\n", b" ", b"\r\n"):
        yield variant("secret-with-blanks", secret + blank)
    for quoted in (b'"' + text + b'"', b"'" + text + b"'"):
        yield variant("secret-in-quotes", quoted)
    yield variant("secret-hexadecimal", secret.hex().upper().encode())
    yield variant("secret-as-characters", secret.decode("latin-1").encode())
    yield variant("secret-as-characters", secret.decode("ascii", "ignore").encode())
    yield variant("secret-url-safe", urlsafe_b64encode(secret).rstrip(b"="))
    # Lenient decoders drop what is not of the URL-safe alphabet.
    yield variant("secret-url-safe", _lenient(text.translate(None, b"+/")))
    yield variant("secret-decoded-twice", _lenient(secret))
    for wrong in (text.lower(), text.upper()):
        yield variant("secret-lower-case", wrong)
        yield variant("secret-lower-case", _lenient(wrong))
    for hashed in (text, secret):
        digest = hashlib.sha256(hashed)
        yield variant("secret-hashed", digest.digest())
        yield variant("secret-hashed", digest.hexdigest().encode())
    key = facts.api_key
    for separator in (b"", b":"):
        for one in (text, secret):
            yield variant("secret-with-key", key + separator + one)
            yield variant("secret-with-key", one + separator + key)
    yield variant("secret-is-api-key", key)
    yield variant("secret-is-api-key", _lenient(key))
    yield variant("secret-is-empty", b"")


def other_keys(facts: Facts) -> Iterator[Variant]:
    """The secrets that others have, or that were replaced: decoded, and as text."""
    for name, secret in facts.others:
        if secret == facts.secret:
            continue
        mistake = "secret-of-another" if name else "secret-replaced"
        yield variant(mistake, secret, name)
        yield variant(mistake, b64encode(secret), name)


def _lenient(text: bytes) -> bytes:
    """What a decoder makes of a text that drops what it does not know, and asks for no padding."""
    kept = bytes(each for each in text if each in _ALPHABET)
    kept = kept[: len(kept) - (len(kept) % 4 == 1)]
    return b64decode(kept + b"=" * (-len(kept) % 4))
