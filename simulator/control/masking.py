"""Masks secrets in the journal: passwords and tokens at the token endpoints (SPEC 4.2, 4.3), and secrets elsewhere.

A value is masked when its name is that of a secret, when it equals a secret of the sandbox, and when it looks like a
token. Masking happens when the journal is read, so requests pay nothing for it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

from simulator.auth import headers as names
from simulator.contract.decode import BadJson, decode_object
from simulator.domain.state import State
from simulator.wire.json import encode
from simulator.wire.tokens import PATHS

MASKED = "(not shown)"
PARTS_MAX = 20
FORM_NAMES = (b"username", b"password", b"refresh_token")
HARMLESS_MEMBERS = frozenset({"username", "ExpiresIn", "TokenType", "message", "errors", "error"})
TOKENS = {"refresh_token", "AuthenticationResult", "AccessToken", "RefreshToken", "IdToken"}
NAMES = HARMLESS_MEMBERS | TOKENS | {"password"}
HARMLESS_HEADERS = frozenset({names.API_KEY.decode(), names.SIGNATURE.decode()})  # useless without the secret

BODY_BYTES_MAX = 1024 * 1024
SECRET_CHARS_MIN = 8  # a shorter secret would be found in harmless text

_SECRET_NAME: Final = re.compile(
    r"token|passw|pwd|secret|signature|authori[sz]|credential|cookie|api.?key", re.IGNORECASE
)
_KEY_NAME: Final = re.compile(r"(^|[_-])key$", re.IGNORECASE)
_TOKEN: Final = re.compile(r"eyJ[\w-]{8,}(\.[\w-]*)*")


class Mask:
    """Masks the journal of one sandbox, with the secrets that the sandbox has now."""

    def __init__(self, state: State) -> None:
        found = {secret for secret in _secrets(state) if len(secret) >= SECRET_CHARS_MIN}
        escaped = {json.dumps(secret)[1:-1] for secret in found}
        self._secrets = found | escaped | {secret.replace("/", "\\/") for secret in escaped}

    def text(self, text: str) -> str:
        """A text without secrets and tokens."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASKED)
        return _TOKEN.sub(MASKED, text) if "eyJ" in text else text

    def header(self, name: str, value: str) -> str:
        """A header's value."""
        is_secret = _SECRET_NAME.search(name) is not None and name.lower() not in HARMLESS_HEADERS
        return MASKED if is_secret else self.text(value)

    def path(self, path: str) -> str:
        """A path; it is shown decoded when it has a percent-encoded secret."""
        plain = unquote(path)
        return path if self.text(plain) == plain else self.text(plain)

    def query(self, path: str, query: bytes) -> str:
        """A query; percent-encoded secrets are masked, too."""
        return "&".join(map(self._part, masked_query(path, query).decode("latin-1").split("&")))

    def body(self, path: str, body: bytes) -> str:
        """The beginning of a body as text."""
        start = masked_body(path, body)[: 2 * BODY_BYTES_MAX].decode("utf-8", "replace")
        return self.text(start)[:BODY_BYTES_MAX]

    def _part(self, part: str) -> str:
        name, has_value, value = part.partition("=")
        if self.text(plain := unquote_plus(name)) != plain:
            return MASKED
        if value and value != MASKED and (_SECRET_NAME.search(plain) or _KEY_NAME.search(plain)):
            return f"{name}={MASKED}"
        plain = unquote_plus(value)
        return name + has_value + (value if self.text(plain) == plain else MASKED)


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
    """The same for a query or form; masked completely if it has another name, since it may not be a form."""
    if path not in PATHS or not query:
        return query
    parts = [part.partition(b"=") for part in query.split(b"&", PARTS_MAX)]
    if len(parts) > PARTS_MAX or not all(name in FORM_NAMES for name, _, _ in parts):
        return MASKED.encode()
    return b"&".join(name + b"=" + (value if name == b"username" else MASKED.encode()) for name, _, value in parts)


def _masked(members: dict[str, Any]) -> dict[str, Any]:
    """Unknown names are masked as well: a password may have been sent as one."""
    return {name if name in NAMES else MASKED: _value(name, value) for name, value in members.items()}


def _value(name: str, value: Any) -> Any:
    if name in HARMLESS_MEMBERS or value is None:
        return value
    return _masked(value) if isinstance(value, dict) else MASKED
