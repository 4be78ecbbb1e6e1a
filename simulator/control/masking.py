"""Masks secrets in the journal: passwords and tokens at the token endpoints (SPEC 4.2, 4.3), and wherever they came.

Masked is what has the name of a secret, and what equals a secret of the sandbox or looks like one of its tokens. All of
it happens when the journal is read; a request pays nothing for it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

from simulator.contract.decode import BadJson, decode_object
from simulator.domain.state import State
from simulator.wire.json import encode
from simulator.wire.tokens import PATHS

NOT_SHOWN = "(not shown)"
PARTS_MAX = 20
FORM_NAMES = (b"username", b"password", b"refresh_token")
SHOWN_MEMBERS = frozenset({"username", "ExpiresIn", "TokenType", "message", "errors", "error"})
NAMES = SHOWN_MEMBERS | {"password", "refresh_token", "AuthenticationResult", "AccessToken", "RefreshToken", "IdToken"}
SHOWN_HEADERS = frozenset({"x-api-key", "x-signature"})  # where they belong, they are of no use to a reader

BODY_SHOWN_BYTES_MAX = 1024 * 1024
SECRET_CHARS_MIN = 8  # a shorter one would be found in what is none

_TELLING: Final = re.compile(r"token|passw|pwd|secret|signature|authori[sz]|credential|cookie|api.?key", re.IGNORECASE)
_KEY: Final = re.compile(r"(^|[_-])key$", re.IGNORECASE)
_TOKEN: Final = re.compile(r"eyJ[\w-]{8,}(\.[\w-]*)*")


class Mask:
    """What is masked in the journal of one sandbox, by the secrets that it has now."""

    def __init__(self, state: State) -> None:
        found = {secret for secret in _secrets(state) if len(secret) >= SECRET_CHARS_MIN}
        escaped = {json.dumps(secret)[1:-1] for secret in found}
        self._secrets = found | escaped | {secret.replace("/", "\\/") for secret in escaped}

    def text(self, text: str) -> str:
        """A text without secrets and tokens."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, NOT_SHOWN)
        return _TOKEN.sub(NOT_SHOWN, text) if "eyJ" in text else text

    def header(self, name: str, value: str) -> str:
        """A header's value."""
        is_told = _TELLING.search(name) is not None and name.lower() not in SHOWN_HEADERS
        return NOT_SHOWN if is_told else self.text(value)

    def path(self, path: str) -> str:
        """A path; one with something percent-encoded to mask is shown decoded."""
        plain = unquote(path)
        return path if self.text(plain) == plain else self.text(plain)

    def query(self, path: str, query: bytes) -> str:
        """A query; what is percent-encoded is found, too."""
        return "&".join(map(self._part, masked_query(path, query).decode("latin-1").split("&")))

    def body(self, path: str, body: bytes) -> str:
        """The beginning of a body as text."""
        begun = masked_body(path, body)[: 2 * BODY_SHOWN_BYTES_MAX].decode("utf-8", "replace")
        return self.text(begun)[:BODY_SHOWN_BYTES_MAX]

    def _part(self, part: str) -> str:
        name, has_value, value = part.partition("=")
        if self.text(plain := unquote_plus(name)) != plain:
            return NOT_SHOWN
        if value and value != NOT_SHOWN and (_TELLING.search(plain) or _KEY.search(plain)):
            return f"{name}={NOT_SHOWN}"
        plain = unquote_plus(value)
        return name + has_value + (value if self.text(plain) == plain else NOT_SHOWN)


def _secrets(state: State) -> Iterator[str]:
    for reseller in state.resellers.values():
        yield from (key.secret for key in reseller.keys)
        yield from (user.password for user in reseller.users)
        yield reseller.webhook.secret


def masked_body(path: str, body: bytes) -> bytes:
    """A body for the journal: for a token endpoint, only the values of members without secrets."""
    if path not in PATHS or not body:
        return body
    try:
        return encode(_masked(decode_object(body)))
    except BadJson:
        return masked_query(path, body)


def masked_query(path: str, query: bytes) -> bytes:
    """The same for a query or form; hidden completely if it has any other name, since it may not be a form."""
    if path not in PATHS or not query:
        return query
    parts = [part.partition(b"=") for part in query.split(b"&", PARTS_MAX)]
    if len(parts) > PARTS_MAX or not all(name in FORM_NAMES for name, _, _ in parts):
        return NOT_SHOWN.encode()
    return b"&".join(name + b"=" + (value if name == b"username" else NOT_SHOWN.encode()) for name, _, value in parts)


def _masked(members: dict[str, Any]) -> dict[str, Any]:
    """Only known names, too: a password may have been sent as one."""
    return {name if name in NAMES else NOT_SHOWN: _shown(name, value) for name, value in members.items()}


def _shown(name: str, value: Any) -> Any:
    if name in SHOWN_MEMBERS or value is None:
        return value
    return _masked(value) if isinstance(value, dict) else NOT_SHOWN
