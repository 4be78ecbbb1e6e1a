"""Replaces the secrets of a tape with stand-ins: known secrets anywhere, others by the names of their members.

A stand-in is as long as its secret, and the same at each occurrence. `simulator.redaction` defines the secrets, so that
a tape shows no secret that the journal hides.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Container, Iterator
from hashlib import sha256
from itertools import count
from string import hexdigits
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote_plus

from simulator.auth.headers import API_KEY
from simulator.redaction import (
    FOREIGN_KEY_CHARS_SHOWN,
    SECRET_MEMBERS,
    Secrets,
    is_secret_header,
    is_token,
    redact_members,
    redact_parameters,
    redact_strings,
    redact_urls,
    spellings,
)
from simulator.wire.tokens import FORM_NAMES, HARMLESS_MEMBERS, MEMBERS, form_parameters, is_token_path

STAND_INS_MAX: Final = 100_000
"""The limit for a tape. Each stand-in takes memory while the tape is written."""

OWN_WORDS: Final = frozenset(
    {"tape", "version", "sandbox", "started", "seed", "clock", "entries", "entry", "now", "wall", "method", "mode",
     "how", "job", "attempt", "due", "drawn_for", "ended"}
)  # fmt: skip
"""Members of lines that only the simulator writes."""
DOCUMENTS: Final = ("scenario", "command", "document")
VERDICT: Final = ("diagnosis", "told")

_API_KEY: Final = API_KEY.decode()
_SCHEME: Final = re.compile(r"(?:bearer|basic|digest|token|negotiate)(?:[ \t]+|$)", re.IGNORECASE)
_KEY_PREFIX: Final = "whsec_"  # of Standard Webhooks
_OTHER: Final = re.compile(rb'("(?:[^"\\]|\\.)*+)("?)|[0-9]++', re.DOTALL)

Line = dict[str, Any]


class TooManyStandIns(Exception):
    """The tape has more secrets than `STAND_INS_MAX`."""


class StandIns:
    """The stand-ins of a tape. `published` are well-known secrets, which stay."""

    def __init__(self, published: Container[str] = ()) -> None:
        self._published = published
        self._made: dict[str, str] = {}  # each stand-in stands for itself, too
        self._numbers = count(1)
        self._index = Secrets()
        self._by_spelling: dict[bytes, bytes] = {}

    def add(self, secret: str) -> None:
        """Replace a secret at each occurrence. Raises `TooManyStandIns`."""
        if (made := self.of(secret)) != secret:
            self._index.add([secret])
            for spelling, other in zip(spellings(secret), spellings(made), strict=True):
                self._by_spelling.setdefault(spelling, other)

    def of(self, value: str) -> str:
        """Return the stand-in for a value that is entirely secret. Tokens of the simulator stay: a replay issues them
        again. Raises `TooManyStandIns`."""
        if not value or value in self._published or is_token(value):
            return value
        if value not in self._made:
            if len(self._made) >= 2 * STAND_INS_MAX:
                raise TooManyStandIns(f"it has more than {STAND_INS_MAX} secrets and credentials")
            drawn = (_stand_in(value, number) for number in self._numbers)
            self._made[value] = made = next(text for text in drawn if text != value)
            self._made.setdefault(made, made)
        return self._made[value]

    def replaced(self, text: bytes) -> bytes:
        """Return a text with all known secrets replaced."""
        parts, end = [], 0
        for found in self._index.find(text):
            made, length = self._by_spelling[found.spelling], found.end - found.start
            parts += [text[end : found.start], made[max(0, end - found.start) : length]]
            end = max(end, found.end)
        return b"".join((*parts, text[end:])) if parts else text


def _stand_in(secret: str, number: int) -> str:
    """Return a stand-in of the same length, in Base64 for Base64 and in hexadecimal for hexadecimal."""
    core = secret.removeprefix(_KEY_PREFIX).rstrip("=") or secret
    prefix, _, padding = secret.partition(core)
    length = len(core.encode("utf-8", "surrogatepass"))
    drawn = sha256(b"stand-in %d" % number).hexdigest() * (length // 64 + 1)
    if not all(sign in hexdigits for sign in core):
        drawn = f"masked{number}x{drawn}"
    return prefix + (drawn[: length - 1] + "A" if padding else drawn[:length]) + padding


def texts_in(document: Any, members: Container[str] = SECRET_MEMBERS) -> Iterator[str]:
    """Yield the texts in members of these names, at any depth of a document."""
    for name, value in document.items() if isinstance(document, dict) else ():
        if name in members and isinstance(value, str):
            yield value
    if isinstance(document, list | tuple | dict):
        for value in document.values() if isinstance(document, dict) else document:
            yield from texts_in(value, members)


class TapeRedaction:
    """Redacts the lines of a tape, as decoded JSON. `names` are the users and API keys of the sandbox, which are not
    secret."""

    def __init__(self, stand_ins: StandIns, names: Container[str] = ()) -> None:
        self._stand_ins = stand_ins
        self._names = names
        self._put = stand_ins.of
        self._keeps_signatures = self._is_foreign = self._is_for_tokens = self._is_shown = False

    def redacted(self, line: Line) -> Line:
        """Return a line without secrets. Raises `TooManyStandIns`."""
        # A signature is useless without its secret, and says whether a message is genuine.
        self._keeps_signatures = line.get("entry") == "inbox_message"
        answer = line.get("answer")
        self._is_foreign = isinstance(answer, dict) and answer.get("error") == "invalid_api_key"
        self._is_shown = bool(line.get("shown"))
        self._is_for_tokens = line.get("entry") == "request" and is_token_path(str(line.get("path", "")))
        is_message = line.get("entry") in ("request", "inbox_message")
        shown = {name: self._member(name, line[name]) for name in line if is_message or name in DOCUMENTS}
        return {
            name: value if name in OWN_WORDS else self._known(shown.get(name, value)) for name, value in line.items()
        }

    def _member(self, name: str, value: Any, header: str = "") -> Any:
        """Return the member of a line, a scenario or a command, or the value of a `header` in them."""
        if name == "body" and (isinstance(value, str) or _is_encoded(value)):
            return _changed(value, self._token_body if self._is_for_tokens else self._body)
        if name == "headers" and isinstance(value, list):
            return [[each, self._header(each, text)] for each, text in value]
        if isinstance(value, list):
            return [self._member(name, item, header) for item in value]
        if name == "answer" and not self._is_shown:  # a replay makes it again, but for the verdict on a signature
            return value | {each: self._urls(value[each]) for each in VERDICT if isinstance(value.get(each), str)}
        if isinstance(value, dict):
            return {each: self._member(each, one, each if name == "headers" else "") for each, one in value.items()}
        if not isinstance(value, str):
            return value
        if header:
            return self._header(header, value)
        if name in SECRET_MEMBERS:
            return self._put(value)
        if name == "query":
            return "&".join(map(self._parameter, value.split("&")))
        return redact_parameters(self._urls(value), self._in_url) if name in ("path", "target") else self._urls(value)

    def _header(self, name: str, value: str) -> str:
        if name.lower() == _API_KEY and self._is_foreign and value not in self._names:
            return value[:FOREIGN_KEY_CHARS_SHOWN] + self._put(value[FOREIGN_KEY_CHARS_SHOWN:])
        if self._keeps_signatures and name.lower().endswith("signature"):
            return value
        if not is_secret_header(name):
            return self._urls(value)
        scheme = found[0] if (found := _SCHEME.match(value)) else ""
        return scheme + self._put(value[len(scheme) :])

    def _parameter(self, parameter: str) -> str:
        name, sign, value = parameter.partition("=")
        plain = unquote_plus(value, errors="surrogateescape")
        if (shown := self._urls(plain)) != plain:
            return f"{name}{sign}{quote(shown, safe='', errors='surrogateescape')}"
        return redact_parameters(f"?{parameter}", self._in_url)[1:]

    def _body(self, body: bytes) -> bytes:
        shown = redact_members(body, self._put)
        if b"\\" in shown:
            shown = redact_strings(shown, lambda text, _: self._urls(text))
        return self._urls(shown.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _token_body(self, body: bytes) -> bytes:
        """Return a body of a token endpoint; any part that is not known to be harmless may be a password."""
        if body.lstrip()[:1] != b"{":
            is_form = form_parameters(body) is not None
            return b"&".join(self._token_parameter(part, is_form) for part in body.split(b"&"))
        name = ""

        def change(text: str, is_name: bool) -> str:
            nonlocal name
            name = text if is_name else name
            is_harmless = text in MEMBERS if is_name else name in HARMLESS_MEMBERS
            return text if is_harmless else self._put(text)

        return _OTHER.sub(self._other, redact_strings(body, change))

    def _other(self, found: re.Match[bytes]) -> bytes:
        """Replace a number outside of texts, or a truncated text."""
        if found[1] is None:
            return str(int(sha256(found[0]).hexdigest(), 16))[: len(found[0])].encode()
        return found[0] if found[2] else b'"' + self._put(found[1][1:].decode("utf-8", "replace")).encode()

    def _token_parameter(self, parameter: bytes, is_form: bool) -> bytes:
        name, sign, value = parameter.partition(b"=")
        plain = unquote_plus(value.decode("latin-1"))
        if name != b"username" or not (is_form or plain in self._names):
            value = quote_plus(self._put(plain)).encode()
        return (name if name in FORM_NAMES else self._put(name.decode("latin-1")).encode()) + sign + value

    def _urls(self, text: str) -> str:
        return redact_urls(text, self._in_url)

    def _in_url(self, value: str) -> str:
        plain = unquote_plus(value)
        return value if (made := self._put(plain)) == plain else made

    def _known(self, value: Any) -> Any:
        if isinstance(value, str) or _is_encoded(value):
            return _changed(value, self._stand_ins.replaced)
        if isinstance(value, list):
            return [self._known(item) for item in value]
        return {name: self._known(item) for name, item in value.items()} if isinstance(value, dict) else value


def _is_encoded(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"base64"}


def _changed(value: Any, change: Callable[[bytes], bytes]) -> Any:
    """Change bytes in a tape's spelling: text, or Base64."""
    if isinstance(value, str):
        return change(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    return {"base64": b64encode(change(b64decode(value["base64"]))).decode()}
