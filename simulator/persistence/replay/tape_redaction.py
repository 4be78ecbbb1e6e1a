"""Replaces the secrets of a tape with stand-ins: known ones wherever they stand, others by their names.

A stand-in is as long as its secret, and the same wherever that secret stands. `simulator.redaction` says what a secret
is, so that a tape shows none that the journal hides.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Container, Iterator
from hashlib import sha256
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
"""Of one tape. Each takes memory while the tape is written."""

OWN_WORDS: Final = frozenset(
    {"tape", "version", "sandbox", "started", "seed", "clock", "entries", "entry", "now", "wall", "method", "mode",
     "how", "job", "attempt", "due", "drawn_for", "ended"}
)  # fmt: skip
"""Members of lines that only the simulator writes."""

DOCUMENTS: Final = ("scenario", "command", "document")
_API_KEY: Final = API_KEY.decode()
_SCHEME: Final = re.compile(r"(?:bearer|basic|digest|token|negotiate)(?:[ \t]+|$)", re.IGNORECASE)
_KEY_PREFIX: Final = "whsec_"  # of Standard Webhooks
_TOLD_CHARS_MIN: Final = 16
_ATTEMPTS: Final = 8
_OTHER: Final = re.compile(rb'("(?:[^"\\]|\\.)*+)("?)|[0-9]++', re.DOTALL)

Line = dict[str, Any]


class TooManyStandIns(Exception):
    """The tape has more secrets than `STAND_INS_MAX`."""


class StandIns:
    """The stand-ins of one tape. `published` are secrets that everybody knows, and that stay."""

    def __init__(self, published: Container[str] = ()) -> None:
        self._published = published
        self._made: dict[str, str] = {}  # each stand-in stands for itself, too
        self._count = 0
        self._index = Secrets()
        self._by_spelling: dict[bytes, bytes] = {}

    def add(self, secret: str) -> None:
        """Replace a secret wherever it stands. Raises `TooManyStandIns`."""
        if (made := self.of(secret)) != secret:
            self._index.add([secret])
            for spelling, other in zip(spellings(secret), spellings(made), strict=True):
                self._by_spelling.setdefault(spelling, other)

    def of(self, value: str) -> str:
        """Return what stands for a value that is a secret as a whole. A token of ours stays: a replay issues it again.
        Raises `TooManyStandIns`."""
        if not value or value in self._published or is_token(value):
            return value
        if value not in self._made:
            if self._count >= STAND_INS_MAX:
                raise TooManyStandIns(f"it has more than {STAND_INS_MAX} secrets and credentials")
            self._count += 1
            self._made[value] = made = _stand_in(value, self._count)
            self._made.setdefault(made, made)
        return self._made[value]

    def replaced(self, text: bytes) -> bytes:
        """Return a text with all known secrets replaced."""
        parts, end = [], 0
        for found in self._index.find(text):
            made, length = self._by_spelling[found.spelling], found.end - found.start
            parts += [text[end : found.start], made if length == len(found.spelling) else made[:length]]
            end = found.end
        return b"".join((*parts, text[end:])) if parts else text


def _stand_in(secret: str, number: int) -> str:
    """Return as many bytes, Base64 for Base64 and hexadecimal for hexadecimal."""
    core = secret.removeprefix(_KEY_PREFIX).rstrip("=") or secret
    prefix, _, padding = secret.partition(core)
    length = len(core.encode("utf-8", "surrogatepass"))
    is_told = length >= _TOLD_CHARS_MIN and not all(sign in hexdigits for sign in core)
    for attempt in range(_ATTEMPTS):  # a short one may be drawn as it is
        digest = sha256(b"stand-in %d %d" % (number, attempt)).hexdigest()
        drawn = f"masked{number}x" * is_told + digest * (length // len(digest) + 1)
        made = prefix + (drawn[: length - 1] + "A" if padding and length else drawn[:length]) + padding
        if made != secret:
            break
    return made


def texts_in(document: Any, members: Container[str] = SECRET_MEMBERS) -> Iterator[str]:
    """Yield the texts in members of these names, wherever they are in a document."""
    if isinstance(document, list | tuple):
        for value in document:
            yield from texts_in(value, members)
    elif isinstance(document, dict):
        for name, value in document.items():
            if name in members and isinstance(value, str):
                yield value
            else:
                yield from texts_in(value, members)


class TapeRedaction:
    """Redacts the lines of one tape, as decoded JSON. `names` are the users and API keys of the sandbox, no secrets."""

    def __init__(self, stand_ins: StandIns, names: Container[str] = ()) -> None:
        self._stand_ins = stand_ins
        self._names = names
        self._put = stand_ins.of

    def redacted(self, line: Line) -> Line:
        """Return a line without secrets. Raises `TooManyStandIns`."""
        shown = self._by_name(line)
        return {name: value if name in OWN_WORDS else self._known(value) for name, value in shown.items()}

    def _by_name(self, line: Line) -> Line:
        kind = line.get("entry")
        if kind not in ("request", "inbox_message"):
            return {name: self._document(value) if name in DOCUMENTS else value for name, value in line.items()}
        # A signature is useless without its secret, and says whether a message is genuine.
        shown = self._message(line, keeps_signatures=kind == "inbox_message")
        if (answer := line.get("answer")) is not None:
            shown["answer"] = self._message(answer) if line.get("shown") else self._verdict(answer)
        return shown

    def _message(self, line: Line, *, keeps_signatures: bool = False) -> Line:
        shown = dict(line)
        is_foreign = line.get("answer", {}).get("error") == "invalid_api_key"
        if headers := line.get("headers"):
            shown["headers"] = [
                [name, value if keeps_signatures and _is_signature(name) else self._header(name, value, is_foreign)]
                for name, value in headers
            ]
        for name in ("path", "target"):
            if isinstance(line.get(name), str):
                shown[name] = redact_parameters(self._urls(line[name]), self._in_url)
        if query := line.get("query"):
            shown["query"] = self._query(query)
        if body := line.get("body"):
            is_for_tokens = is_token_path(str(line.get("path", "")))
            shown["body"] = _changed(body, self._token_body if is_for_tokens else self._body)
        return shown

    def _verdict(self, answer: Line) -> Line:
        """What is not made again by a replay: the verdict on a signature, which may quote the request."""
        quoted = {name: self._urls(answer[name]) for name in ("diagnosis", "told") if isinstance(answer.get(name), str)}
        return answer | quoted

    def _header(self, name: str, value: str, is_foreign: bool = False) -> str:
        if name.lower() == _API_KEY:
            shown, rest = value[:FOREIGN_KEY_CHARS_SHOWN], value[FOREIGN_KEY_CHARS_SHOWN:]
            return shown + self._put(rest) if is_foreign and value not in self._names else value
        if not is_secret_header(name):
            return self._urls(value)
        scheme = found[0] if (found := _SCHEME.match(value)) else ""
        return scheme + self._put(value[len(scheme) :])

    def _query(self, query: str) -> str:
        return "&".join(map(self._parameter, query.split("&")))

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
        """Return a body of a token endpoint, where what is not known to be harmless may be a password."""
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
        """Replace a number outside of texts, and a text that is cut off."""
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

    def _document(self, value: Any) -> Any:
        """Return a part of a scenario or a command without the secrets in its headers, bodies, URLs and members."""
        if isinstance(value, str):
            return self._urls(value)
        if isinstance(value, list):
            return [self._document(one) for one in value]
        return {name: self._member(name, one) for name, one in value.items()} if isinstance(value, dict) else value

    def _member(self, name: str, value: Any) -> Any:
        if name in SECRET_MEMBERS and isinstance(value, str):
            return self._put(value)
        if name == "headers" and isinstance(value, dict):
            return {each: self._document_header(each, one) for each, one in value.items()}
        if name == "headers" and isinstance(value, list):
            return [[each, self._document_header(each, one)] for each, one in value]
        if name == "body" and isinstance(value, str):
            return _changed(value, self._body)
        return self._document(value)

    def _document_header(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._document_header(name, one) for one in value]
        return self._header(name, value) if isinstance(value, str) else self._document(value)

    def _known(self, value: Any) -> Any:
        if isinstance(value, str) or (isinstance(value, dict) and value.keys() == {"base64"}):
            return _changed(value, self._stand_ins.replaced)
        if isinstance(value, list):
            return [self._known(one) for one in value]
        return {name: self._known(one) for name, one in value.items()} if isinstance(value, dict) else value


def _is_signature(name: str) -> bool:
    return name.lower().endswith("signature")


def _changed(value: Any, change: Any) -> Any:
    """Change bytes as a tape spells them: as text, or in Base64."""
    if isinstance(value, str):
        return change(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    return {"base64": b64encode(change(b64decode(value["base64"]))).decode()}
