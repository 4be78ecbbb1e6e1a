"""Masks secrets in the journal: passwords and tokens at the token endpoints (SPEC 4.2, 4.3), and wherever they came.

Masked is what has the name of a secret, and what equals a secret of the sandbox or looks like one of its tokens. All of
it happens when the journal is read; a request pays nothing for it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import quote, unquote_plus

from simulator.contract.decode import BadJson, decode_object
from simulator.control.unescaped import Unescaped
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
_TOKEN: Final = re.compile(rb"eyJ[\w-]{8,}(\.[\w-]*)*")


class Mask:
    """What is masked in the journal of one sandbox, by its secrets."""

    def __init__(self, secrets: Iterable[str]) -> None:
        long_enough = {secret for secret in secrets if len(secret) >= SECRET_CHARS_MIN}
        self._needles = {needle for secret in long_enough for needle in _needles(secret)}

    def text(self, text: str) -> str:
        """A text without secrets and tokens, also where they are percent-encoded or escaped as in JSON."""
        raw = text.encode("utf-8", "surrogatepass")
        shown = self._masked(raw, Unescaped(raw, is_plain=True))
        if b"%" in shown or b"\\" in shown:
            shown = self._masked(shown, Unescaped(shown))
        return text if shown == raw else shown.decode("utf-8", "replace")

    def _masked(self, raw: bytes, unescaped: Unescaped) -> bytes:
        shown, end = [], 0
        for start, stop in sorted(self._found(unescaped.text)):
            if start >= end:
                shown += [raw[unescaped.place(end) : unescaped.place(start)], NOT_SHOWN.encode()]
            end = max(end, stop)
        return b"".join((*shown, raw[unescaped.place(end) :]))

    def _found(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where secrets and tokens begin and end. Base64 may have lost its padding, which belongs to the secret."""
        for needle in self._needles:
            start = text.find(needle)
            while start >= 0:
                end = start + len(needle)
                while text[end : end + 1] == b"=":
                    end += 1
                yield start, end
                start = text.find(needle, end)
        if b"eyJ" in text:
            yield from (token.span() for token in _TOKEN.finditer(text))

    def header(self, name: str, value: str) -> str:
        """A header's value."""
        is_told = _TELLING.search(name) is not None and name.lower() not in SHOWN_HEADERS
        return NOT_SHOWN if is_told else self.text(value)

    def query(self, path: str, query: bytes) -> str:
        """A query."""
        return "&".join(map(_part, self.text(masked_query(path, query).decode("latin-1")).split("&")))

    def body(self, path: str, body: bytes) -> str:
        """The beginning of a body as text."""
        begun = masked_body(path, body)[: 2 * BODY_SHOWN_BYTES_MAX].decode("utf-8", "replace")
        return self.text(begun)[:BODY_SHOWN_BYTES_MAX]


def _part(part: str) -> str:
    """A parameter, its value hidden if its name is that of a secret."""
    name, _, value = part.partition("=")
    plain = unquote_plus(name)
    is_told = value and (_TELLING.search(plain) or _KEY.search(plain))
    return f"{name}={NOT_SHOWN}" if is_told else part


def secrets_of(state: State) -> Iterator[str]:
    """The secrets that a sandbox has now."""
    for reseller in state.resellers.values():
        yield from (key.secret for key in reseller.keys)
        yield from (user.password for user in reseller.users)
        yield reseller.webhook.secret


def _needles(secret: str) -> Iterator[bytes]:
    """What to find in a text: a secret as it is, in a form, and as a header, whose bytes are read as Latin-1; also with
    what looks like percent-encoding in it undone."""
    core = secret.rstrip("=")
    kept = core if len(core) >= SECRET_CHARS_MIN else secret
    for spelling in (kept, kept.replace(" ", "+"), kept.encode().decode("latin-1")):
        yield spelling.encode()
        yield Unescaped(quote(spelling, safe="%").encode()).text


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
