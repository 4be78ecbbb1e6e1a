"""Bodies of the token endpoints without credentials, and tokens of others. There it is not told by names what is one:
all but what is known to be harmless may be a password in the wrong place."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Container
from typing import Final
from urllib.parse import quote_plus, unquote_plus

import msgspec

from simulator.contract.body import BadJson, decode_object
from simulator.contract.query import has_too_many
from simulator.wire.tokens import FORM_NAMES, HARMLESS_MEMBERS, MEMBERS, form_parameters

Text = Callable[[str], str]
Form = Callable[[bytes], bytes]

CLAIMS: Final = frozenset({"iss", "aud", "reseller", "token_use"})
"""Of a token, what an answer may quote."""

_PART: Final = re.compile(rb'("(?:[^"\\]|\\.)*+")(\s*+:)?|[^\s,:{}\[\]"]++', re.DOTALL)
_LITERALS: Final = (b"true", b"false", b"null")
_DIGITS: Final = re.compile(rb"[0-9]+")
_TOKEN_PARTS: Final = 3


def token_body_with(body: bytes, text: Text, form: Form, users: Container[str] = ()) -> bytes:
    """The body with each of its credentials replaced: a text by what `text` answers, other things by `form`. Names of
    these `users` stay."""
    try:
        decode_object(body)
    except BadJson:
        return token_form_with(body, text, form, users)
    return _members_with(body, HARMLESS_MEMBERS, MEMBERS, text, form)


def token_form_with(query: bytes, text: Text, form: Form, users: Container[str] = ()) -> bytes:
    """The same of a form, or of a query. Beside a name that is not known, which may be the rest of a password, the
    known ones stay, so that it is answered as before."""
    if has_too_many(query):
        return form(query)
    parts = [part.partition(b"=") for part in query.split(b"&")]
    if not any(name in FORM_NAMES for name, _, _ in parts):
        return form(query)
    is_form = form_parameters(query) is not None

    def value_of(name: bytes, value: bytes) -> bytes:
        if name not in FORM_NAMES:
            return form(value)
        plain = unquote_plus(value.decode("latin-1"), "utf-8")
        is_kept = name == b"username" and (is_form or plain in users)
        return value if is_kept else quote_plus(text(plain)).encode()

    return b"&".join(
        (name if name in FORM_NAMES else form(name)) + sign + value_of(name, value) for name, sign, value in parts
    )


def token_with(token: str, form: Form) -> str | None:
    """A JSON Web Token with what it claims and its signature replaced, but for what says why it is refused; None for
    any other text."""
    parts = token.split(".")
    if len(parts) != _TOKEN_PARTS or not _object(parts[0]) or not (payload := _object(parts[1])):
        return None
    made = _members_with(payload, CLAIMS, None, lambda value: form(value.encode()).decode(), form)
    signature = form(parts[2].encode())
    if _encoded(_bytes(parts[2].encode())) == parts[2].encode():
        signature = _encoded(_bytes(signature))  # it ends as encoders end it
    written = _encoded(made).decode()
    return f"{parts[0]}.{written}{'=' * (len(parts[1]) - len(written))}.{signature.decode()}"


def _object(part: str) -> bytes:
    """The JSON object that a part of a token is; empty for anything else."""
    text = part.rstrip("=").encode()
    decoded = _bytes(text)
    try:
        is_object = isinstance(msgspec.json.decode(decoded), dict)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return b""
    return decoded if is_object and _encoded(decoded) == text else b""


def _bytes(text: bytes) -> bytes:
    """What Base64 without padding says; empty for what is none."""
    try:
        return urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    except ValueError:
        return b""


def _encoded(content: bytes) -> bytes:
    return urlsafe_b64encode(content).rstrip(b"=")


def _members_with(body: bytes, harmless: frozenset[str], names: frozenset[str] | None, text: Text, form: Form) -> bytes:
    """A JSON object with the values replaced of all members that are not harmless, and names that are not known; all
    names stay where none are given."""
    name = ""

    def part(found: re.Match[bytes]) -> bytes:
        nonlocal name
        written, colon = found[1], found[2]
        if written is None:
            is_kept = name in harmless or found[0] in _LITERALS or names is None
            return found[0] if is_kept else _DIGITS.sub(lambda digits: form(digits[0]), found[0])
        decoded = _decoded(written)
        if colon:
            name = decoded
            return found[0] if names is None or name in names else form(written) + colon
        if name in harmless:
            return written
        if (names is None or name in names) and decoded:
            made = text(decoded)
            return written if made == decoded else msgspec.json.encode(made)
        return form(written)

    return _PART.sub(part, body)


def _decoded(written: bytes) -> str:
    try:
        return msgspec.json.decode(written, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
