"""The secrets that the proxy knows: those given to it, and those that went by. They are hidden in all that it shows."""

import re
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final
from urllib.parse import quote, unquote_plus

import msgspec

from simulator.control.masking import Mask
from simulator.redaction import Secrets, members_in, redact, redact_strings
from simulator.runtime.known_secrets import FormerSecrets
from simulator.staging.proxy.facts import members
from simulator.wire.traffic import Call, Notification

WEBHOOK_PATH: Final = "/v2/balance-webhook"
_WEBHOOKS_MAX: Final = 20
CHARS_MAX: Final = 4096  # tokens are shorter; of a longer text the beginning is recognized
OF_BODY_MAX: Final = 50
SEARCHED_BYTES_MAX: Final = 64 * 1024  # a longer body is none that logs somebody in
SEEN_CHARS_MAX: Final = 4 * 1024 * 1024


class SeenSecrets:
    """`given` are those of the operator; `keys` are API keys, which may be shown whole. `webhooks` are the latest
    secrets that the service gave out for webhooks."""

    def __init__(self, given: Iterable[str] = (), keys: Iterable[str] = ()) -> None:
        self.webhooks: deque[str] = deque(maxlen=_WEBHOOKS_MAX)
        self._given = Secrets(given)
        self._keys = frozenset(keys)
        self._seen = FormerSecrets(SEEN_CHARS_MAX)

    @property
    def mask(self) -> Mask:
        """What hides them all."""
        return Mask((), self._keys, self.secrets)

    @property
    def secrets(self) -> tuple[Secrets, ...]:
        """Their indexes."""
        return (self._given, *self._seen.generations)

    def learn(self, path: str, body: bytes, answer: bytes) -> None:
        """Take those of a call: webhook secrets, tokens and passwords, wherever they were sent."""
        if path.startswith(WEBHOOK_PATH):
            secret = members(answer).get("webhook_secret")
            if isinstance(secret, str) and secret[:CHARS_MAX] == secret != "" and secret not in self.webhooks:
                self.webhooks.append(secret)
        for part in (body, answer):
            found = members_in(part[:SEARCHED_BYTES_MAX])
            self._seen.add(text[:CHARS_MAX] for text in islice(found, OF_BODY_MAX))


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
