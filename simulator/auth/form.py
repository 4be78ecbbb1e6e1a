"""The form of X-Signature (SPEC 5.1): `v1=` and the Base64 of 32 bytes; in words, what is wrong with another form.

The check of the headers, the diagnosis and the autopsy use the same words. They repeat only what the request itself
shows, so every client may read them.
"""

import binascii
import re

from simulator.auth.canonical import decoded

PREFIX = b"v1="
DIGEST_BYTES = 32
FIX = "send v1= and the 44 characters of the Base64 of the HMAC, and nothing else"
"""The fix for every wrong form."""
NO_PREFIX = "the signature does not begin with v1="

_is_hexadecimal = re.compile(rb"[0-9a-fA-F]{64}").fullmatch
_SHA1_BYTES = 20
_FLAWS = tuple((re.compile(form, re.DOTALL).fullmatch, hint) for form, hint in (
    (rb"v1=.*", "v1= stands there twice"),
    (rb"-?\d+(?:, ?-?\d+)+|[\[<].*|undefined|null|None",
     "it is printed: encode the bytes of the digest in Base64, in JavaScript after `await`"),
    (rb"[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2}){31}", "it is hexadecimal with dashes, as BitConverter writes it"),
    (rb".*, .*", "it contains blanks; the header was sent more than once, or with a comma"),
    (rb".*[ \t\r\n].*", "it contains blanks"),
    (rb".*[-_].*", "it has - or _ of the URL-safe alphabet; use + and /"),
    (rb".*[^a-zA-Z0-9+/=].*", "it has characters that are not in Base64"),
))  # fmt: skip
"""What follows v1= instead of Base64, the most specific form first."""


def wrong_form(signature: bytes) -> str:
    """Return the mistake in the form of a value of X-Signature; empty when only its bytes can be wrong."""
    if not signature.startswith(PREFIX):
        return NO_PREFIX
    text = signature.removeprefix(PREFIX)
    raw = decoded(text)
    return misspelling(text) if raw is None else wrong_digest(raw)


def misspelling(text: bytes) -> str:
    """Return why what follows v1= is not Base64."""
    flaw = next((hint for has_form, hint in _FLAWS if has_form(text)), "")
    flaw = flaw or _one_case(text) or "its padding (=) is wrong, or the bits after its last byte are not zero"
    return f"what follows v1= is not Base64: {flaw}"


def wrong_digest(raw: bytes) -> str:
    """Return why the bytes of a signature are no HMAC-SHA256, as far as their form shows; empty when they may be
    one."""
    if not raw:
        return "nothing follows v1="
    text = binascii.b2a_base64(raw, newline=False)
    if len(raw) > DIGEST_BYTES and not raw.isascii() and is_utf8(raw):
        return "the digest was made a text before it was encoded in Base64; encode the raw digest"
    if len(raw) == DIGEST_BYTES:
        return f"the signature is changed: {_one_case(text)}" if _one_case(text) else ""
    size = f"{len(raw)} byte{'s' if len(raw) > 1 else ''}"
    said = f"the signature decodes to {size}, an HMAC-SHA256 has {DIGEST_BYTES}"
    if _is_hexadecimal(raw) or _is_hexadecimal(text):
        return f"{said}: is it hexadecimal?"
    return f"{said}: was it made with SHA-1?" if len(raw) == _SHA1_BYTES else said


def is_utf8(raw: bytes) -> bool:
    """Return whether bytes are a text in UTF-8."""
    try:
        return bool(raw.decode())
    except UnicodeDecodeError:
        return False


def repeated(value: bytes) -> str:
    """Return a hint for a value with a comma, which joins the values of a repeated header; else empty."""
    return "; the header was sent more than once, or with a comma" if b", " in value else ""


def _one_case(text: bytes) -> str:
    """Return a hint that all letters of a text have the same case, which does not happen to Base64 by chance; empty for
    other texts."""
    is_one = text.isupper() or text.islower()
    if not is_one or len(text) < 40 or len(set(text)) < 10:  # which it may be by chance, or is no digest
        return ""
    return f"all its letters are {'capitals' if text.isupper() else 'small'}; Base64 has both"
