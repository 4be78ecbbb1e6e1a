"""Traffic as it may be recorded: secrets are hidden in the values that messages have, not in the file made of them.

There a secret such as the password `resellers` would be found in what is the scenario's own. A value that is a weak
secret as a whole stays for the same reason: it is a status, a product or an account far more often.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote_plus

import msgspec

from simulator.redaction import Secrets, redact, redact_strings
from simulator.wire.traffic import Call, Notification

_WORD: Final = re.compile(r"\w*")


def without_secrets(one: Call | Notification, secrets: Iterable[Secrets]) -> Call | Notification:
    """The message with secrets hidden in its query, body and answer; those of a recording read nothing else."""
    known = tuple(secrets)
    body, answer = _body(one.body, known), _body(one.answer, known)
    if isinstance(one, Call):
        query = _query(one.query.decode("latin-1"), known).encode("latin-1")
        return msgspec.structs.replace(one, query=query, body=body, answer=answer)
    address, mark, rest = one.url.partition("?")
    return msgspec.structs.replace(one, url=address + mark + _query(rest, known), body=body, answer=answer)


def _body(body: bytes, secrets: tuple[Secrets, ...]) -> bytes:
    """A JSON text; what is none has nothing that a recording reads."""
    text = body.decode("utf-8", "replace")
    if redact(text, secrets) == text and "\\" not in text:
        return body
    return redact_strings(body, lambda value, _: _value(value, secrets))


def _value(text: str, secrets: tuple[Secrets, ...]) -> str:
    return redact(text, secrets, strong_only=_WORD.fullmatch(text) is not None)


def _query(query: str, secrets: tuple[Secrets, ...]) -> str:
    return "&".join(_parameter(part, secrets) for part in query.split("&")) if query else query


def _parameter(part: str, secrets: tuple[Secrets, ...]) -> str:
    name, mark, value = part.partition("=")
    plain = unquote_plus(value)
    shown = _body(plain.encode(), secrets).decode() if plain[:1] == "{" else _value(plain, secrets)
    return part if shown == plain else name + mark + quote(shown)
