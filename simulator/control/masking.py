"""Masks secrets in the journal: passwords and tokens at the token endpoints (SPEC 4.2, 4.3), and wherever they came.

A value is masked when its name is that of a secret, when it equals a secret of the sandbox, and when it looks like a
token. Masking happens when the journal is read, so requests pay nothing for it.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any, Final
from urllib.parse import quote, unquote_plus

from simulator.auth import headers as names
from simulator.contract.body import BadJson, decode_object
from simulator.control.unescaped import Unescaped
from simulator.domain.state import State
from simulator.wire.json import encode
from simulator.wire.tokens import PATHS

MASKED = "(not shown)"
PARTS_MAX = 20
FORM_NAMES = (b"username", b"password", b"refresh_token")
HARMLESS_MEMBERS = frozenset({"username", "ExpiresIn", "TokenType", "message", "errors", "error"})
NAMES = HARMLESS_MEMBERS | {
    "password",
    "refresh_token",
    "AuthenticationResult",
    "AccessToken",
    "RefreshToken",
    "IdToken",
}
_API_KEY: Final = names.API_KEY.decode()
HARMLESS_HEADERS = frozenset({_API_KEY, names.SIGNATURE.decode()})  # useless without the secret

BODY_BYTES_MAX = 1024 * 1024
SECRET_CHARS_MIN = 8  # a shorter secret would be found in harmless text
FOREIGN_KEY_CHARS_SHOWN = 8  # enough to recognize a key by
CUT_SECRET_CHARS_MIN = 12  # the same for the beginning of a longer one

_SECRET_NAME: Final = re.compile(
    r"token|passw|pwd|secret|signature|authori[sz]|credential|cookie|api.?key", re.IGNORECASE
)
_KEY_NAME: Final = re.compile(r"(^|[_-])key$", re.IGNORECASE)
_TOKEN: Final = re.compile(rb"eyJ[\w-]{8,}(\.[\w-]*)*")


class Mask:
    """Masks the journal of one sandbox, with its secrets. An X-Api-Key that is not one of its `keys` may be a secret in
    the wrong place."""

    def __init__(self, secrets: Iterable[str], keys: Iterable[str] = ()) -> None:
        self._keys = frozenset(keys)
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
                shown += [raw[unescaped.place(end) : unescaped.place(start)], MASKED.encode()]
            end = max(end, stop)
        return b"".join((*shown, raw[unescaped.place(end) :]))

    def _found(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where secrets and tokens begin and end. Base64 may have lost its padding, which belongs to the secret; a
        diagnosis that quotes a long value may have cut the secret's end off."""
        for needle in self._needles:
            beginning = needle[:CUT_SECRET_CHARS_MIN]
            start = text.find(beginning)
            while start >= 0:
                equal = takewhile(
                    lambda pair: pair[0] == pair[1], zip(needle, text[start : start + len(needle)], strict=False)
                )
                end = start + sum(1 for _ in equal)
                while text[end : end + 1] == b"=":
                    end += 1
                yield start, end
                start = text.find(beginning, end)
        if b"eyJ" in text:
            yield from (token.span() for token in _TOKEN.finditer(text))

    def header(self, name: str, value: str) -> str:
        """A header's value."""
        if name.lower() == _API_KEY and value not in self._keys and len(value) > FOREIGN_KEY_CHARS_SHOWN:
            return f"{value[:FOREIGN_KEY_CHARS_SHOWN]}... {MASKED}"
        is_secret = _SECRET_NAME.search(name) is not None and name.lower() not in HARMLESS_HEADERS
        return MASKED if is_secret else self.text(value)

    def query(self, path: str, query: bytes) -> str:
        """A query."""
        return "&".join(map(_part, self.text(masked_query(path, query).decode("latin-1")).split("&")))

    def body(self, path: str, body: bytes) -> str:
        """The beginning of a body as text."""
        start = masked_body(path, body)[: 2 * BODY_BYTES_MAX].decode("utf-8", "replace")
        return self.text(start)[:BODY_BYTES_MAX]


def _part(part: str) -> str:
    """A parameter, its value hidden if its name is that of a secret."""
    name, _, value = part.partition("=")
    plain = unquote_plus(name)
    is_secret = value and (_SECRET_NAME.search(plain) or _KEY_NAME.search(plain))
    return f"{name}={MASKED}" if is_secret else part


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
    """The same for a query or form; masked completely if it has another name, since it may not be a form."""
    if path not in PATHS or not query:
        return query
    parts = [part.partition(b"=") for part in query.split(b"&", PARTS_MAX)]
    if len(parts) > PARTS_MAX or not all(name in FORM_NAMES for name, _, _ in parts):
        return MASKED.encode()
    return b"&".join(name + b"=" + (value if name == b"username" else MASKED.encode()) for name, _, value in parts)


def _masked(members: dict[str, Any]) -> dict[str, Any]:
    """Unknown names are masked as well: a password may have been sent as one."""
    return {name if name in NAMES else MASKED: _shown(name, value) for name, value in members.items()}


def _shown(name: str, value: Any) -> Any:
    if name in HARMLESS_MEMBERS or value is None:
        return value
    return _masked(value) if isinstance(value, dict) else MASKED
