"""Redaction: hides secrets in everything that the program shows, writes down or logs. No other module does.

A secret is recognized in three ways:

- by its value: `Secrets` holds the known secrets. A value is found in plain and Base64 form, each of them also
  percent-encoded, and so are tokens that we issued; other double encodings only in strings of JSON;
- by the name of its header, member or parameter;
- as the userinfo of a URL.

`Mask` applies all of them to a request. Each function takes `put`, which returns the text to show instead of a secret,
so a tape can have stand-ins.
"""

import re
from base64 import b64encode
from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from os.path import commonprefix
from typing import Any, Final
from urllib.parse import quote, unquote_plus, unquote_to_bytes

import msgspec

from simulator.domain.model.resellers import FORMER_MAX, SecretLog
from simulator.wire.formats import encode
from simulator.wire.token_answers import HARMLESS_MEMBERS, MEMBERS, is_token_path

MASKED: Final = "(not shown)"
FOUND_CHARS_MIN: Final = 8  # a shorter secret, such as the password `1234`, would be found in harmless text
WORD_CHARS_MIN: Final = 24  # the same for a secret of letters alone, or of digits alone
CUT_CHARS_MIN: Final = 12  # of a secret's beginning that is recognized, since a message may have cut off the rest
BODY_BYTES_MAX: Final = 256 * 1024  # of a body that is shown; the rest is neither decoded nor searched
FORMER_CHARS_MAX: Final = 4 * 1024 * 1024
URL_DEPTH: Final = 4  # of URLs in the parameters of URLs; a value within more of them is hidden whole
FOREIGN_KEY_CHARS_SHOWN: Final = 8  # of an unknown `X-Api-Key`, which may be a misplaced secret

SECRET_MEMBERS: Final = (
    "password", "passwd", "secret", "api_secret", "client_secret", "webhook_secret", "refresh_token", "access_token",
    "id_token", "access_key", "jwt", "bearer", "hmac", "passphrase", "passcode", "user_pass", "webhook_key",
    "shared_key", "signing_key", "private_key", "auth_key",
)  # fmt: skip
"""Members of a body, in any case, with or without the underscore. `token` and `key` are business data there."""
HARMLESS_HEADERS: Final = frozenset({"x-api-key", "x-signature", "idempotency-key"})
"""The first two are useless without the secret; the last one opens nothing."""
_SECRET_NAME: Final = re.compile(
    r"(?i:token|passw|pass[_.-]?(?:phrase|code)|pwd|secret|signature|authori[sz]|credential|cookie|bearer|hmac"
    r"|(?:api|access|webhook|shared|signing|private|auth)[_.-]?key"
    r"|(?:^|[_.-])(?:key|sig|auth|jwt|pass)$|^(?:o?auth[_.-]?)?code$)|[a-z0-9](?:Key|Sig|Auth|Jwt|Pass)$"
)

_BLOCK: Final = 4
_ESCAPE: Final = re.compile(rb"%[0-9A-Fa-f]{2}")
_PADDING: Final = re.compile(rb"(?:=|%3[Dd])*")
_REST_OF_CHARACTER: Final = re.compile(rb"[\x80-\xbf]*")
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
# The payload of every token of ours begins with {"iss":"reseller-sim
_TOKEN: Final = re.compile(rb"(?<![\w-])[\w-]++\.eyJpc3MiOiJyZXNlbGxlci1zaW0i[\w-]*+(?:\.[\w-]*+)?")
_TOKEN_PART: Final = b"eyJpc3M"
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NAMES: Final = "|".join(name.replace("_", "_?") for name in SECRET_MEMBERS)
_MEMBER: Final = re.compile(
    rf"""("(?:{_NAMES})"\s*+:\s*+)(?!null\b|0(?![\d.])|"\*{{8}})("(?:[^"\\]|\\.)*+"?|[^\s,{{}}\[\]"]++)""".encode(),
    re.I | re.S,
)
_PARAMETER: Final = re.compile(rf"((?:^|(?<=&))(?:{_NAMES})=)([^&]++)".encode(), re.I)
_URL: Final = re.compile(r"""((?:[a-z][a-z0-9+.-]{0,19}:)?//)(?:([^\s"'<>/?#]*)@)?([^\s"'<>]*+)""", re.I)
_URL_VALUE: Final = re.compile(r"""((?:[?&]|(;))([^=&;#?"\s<>/]{1,100}+)=)((?(2)[^&#?"\s<>]++|[^&#"\s<>]++))""")

Put = Callable[[str], str]


def _mask(_: str) -> str:
    return MASKED


class Secrets:
    """The `known` secrets, including replaced secrets. Secrets can be added.

    The search time does not depend on the number of secrets: four bytes at every fourth place of a text are looked up
    among the beginnings of all spellings. (`re` takes 26 s to compile an alternation of 5,000 secrets.)
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.known: dict[str, None] = {}
        self.chars = 0  # of all of them
        self._by_beginning: dict[bytes, list[bytes]] = {}
        self._blocks: set[int] = set()
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these, too."""
        for secret in secrets:
            if secret in self.known:
                continue
            self.known[secret] = None
            self.chars += len(secret)
            for spelling in _spellings(secret):
                self._by_beginning.setdefault(spelling[:FOUND_CHARS_MIN], []).append(spelling)
                beginning = b"".join(spelling[at : at + _BLOCK] for at in range(_BLOCK))
                self._blocks.update(memoryview(beginning).cast("I"))

    def spans(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield where secrets begin and end in a text, also within percent-encoding; they may overlap."""
        yield from self._plain_spans(text)
        if _ESCAPE.search(text):
            escapes: list[int] = []  # their places in the decoded text
            for start, stop in self._plain_spans(unquote_to_bytes(text)):
                escapes = escapes or [found.start() - 2 * n for n, found in enumerate(_ESCAPE.finditer(text))]
                yield start + 2 * bisect_left(escapes, start), stop + 2 * bisect_left(escapes, stop)

    def _plain_spans(self, text: bytes) -> Iterator[tuple[int, int]]:
        blocks = memoryview(text[: len(text) // _BLOCK * _BLOCK]).cast("I")
        hits = self._blocks.intersection(blocks)
        end = 0  # of the last whole one; a whole secret may begin within a cut one
        for place in [place for place, block in enumerate(blocks) if block in hits] if hits else ():
            for start in range(max(end, place * _BLOCK - _BLOCK + 1), place * _BLOCK + 1):
                for spelling in self._by_beginning.get(text[start : start + FOUND_CHARS_MIN], ()):
                    stop = _end_of(spelling, text, start)
                    end = max(end, stop) if stop - start == len(spelling) else end
                    if stop > start:
                        yield start, stop


class FormerSecrets:
    """The secrets of former lives of sandboxes: at least the latest `FORMER_MAX`, in two `generations`. The older one
    is evicted whenever the newer is full, or has `FORMER_CHARS_MAX` characters."""

    def __init__(self) -> None:
        self.generations = Secrets(), Secrets()

    def add(self, secrets: Iterable[str]) -> None:
        """Add secrets to redact."""
        _, newer = self.generations
        newer.add(secrets)
        if len(newer.known) >= FORMER_MAX or newer.chars >= FORMER_CHARS_MAX:
            self.generations = newer, Secrets()


def followed(index: Secrets, secrets: Collection[str]) -> Secrets:
    """Return the index with these secrets added; a new index when it has more than `FORMER_MAX` others."""
    if len(index.known) > len(secrets) + FORMER_MAX:
        index = Secrets()
    index.add(secrets)
    return index


class OwnSecrets:
    """An index of the secrets of a sandbox's life, which follows their log."""

    def __init__(self, log: SecretLog) -> None:
        self._log = log
        self._index = Secrets()
        self._version = 0

    def index(self) -> Secrets:
        """Return the index of the secrets."""
        if self._version != self._log.version:
            self._index, self._version = followed(self._index, tuple(self._log)), self._log.version
        return self._index


def _end_of(spelling: bytes, text: bytes, start: int) -> int:
    """Return where a spelling at a place ends: there when the text differs."""
    end, beginning = start + len(spelling), spelling[:CUT_CHARS_MIN]
    if text.startswith(spelling, start):
        return end
    if not text.startswith(beginning, start) or beginning.isalpha() or beginning.isdigit():
        return start
    same = commonprefix([spelling, text[start:end]])  # noqa: RUF071 - no paths
    return _REST_OF_CHARACTER.match(text, start + len(same)).end()  # type: ignore[union-attr]  # it also matches no bytes


def _spellings(secret: str) -> set[bytes]:
    """Return the searched forms of a secret; none for a short secret. The padding of Base64 may be missing in a text,
    so it is left out."""
    core = secret.rstrip("=")
    plain = core if len(core) >= FOUND_CHARS_MIN else secret
    raw = plain.encode("utf-8", "surrogatepass")
    if len(plain) < (WORD_CHARS_MIN if raw.isalpha() or raw.isdigit() else FOUND_CHARS_MIN):
        return set()
    forms = raw, raw.replace(b" ", b"+"), raw.replace(b"+", b" "), *_in_base64(raw)  # + is a blank in queries
    return {form for form in forms if len(form) >= FOUND_CHARS_MIN}


def _in_base64(raw: bytes) -> Iterator[bytes]:
    """Yield the Base64 text that does not depend on the bytes before and after, in both alphabets."""
    for before in range(3):
        whole = b64encode(b"\0" * before + raw)
        inner = whole[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        yield from (inner, inner.translate(_TO_URL))


def redact(text: str, secrets: Iterable[Secrets], put: Put = _mask) -> str:
    """Return a text without known secrets and without tokens of ours."""
    raw = text.encode("utf-8", "surrogatepass")
    found = [span for each in secrets if each.chars for span in each.spans(raw)]
    if _TOKEN_PART in raw:
        found += [token.span() for token in _TOKEN.finditer(raw)]
    if not found:
        return text
    shown, end = [], 0
    for start, stop in sorted(found, key=lambda span: (span[0], -span[1])):  # the longest first, of equal starts
        stop = _PADDING.match(raw, stop).end()  # type: ignore[union-attr]  # it also matches no bytes
        if start >= end:
            shown += [raw[end:start], put(raw[start:stop].decode("utf-8", "replace")).encode()]
        end = max(end, stop)
    return b"".join((*shown, raw[end:])).decode("utf-8", "surrogatepass")


def redact_strings(body: bytes, change: Put) -> bytes:
    """Change the strings of a JSON text, which may be cut or broken."""

    def string(found: re.Match[bytes]) -> bytes:
        try:
            text = msgspec.json.decode(found[0], type=str)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return found[0]
        return found[0] if (shown := change(text)) == text else encode(shown)

    return _STRING.sub(string, body)


def redact_members(body: bytes, put: Put = _mask) -> bytes:
    """Return a body without the values of secret members and parameters: texts and numbers, not lists or objects. It
    may be cut, broken, or sent to a path that has no such member."""
    body = _MEMBER.sub(lambda found: found[1] + encode(put(_text_of(found[2]))), body)
    return _PARAMETER.sub(lambda found: found[1] + put(unquote_plus(str(found[2], "utf-8", "replace"))).encode(), body)


def _text_of(value: bytes) -> str:
    try:
        return msgspec.json.decode(value, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return value.strip(b'"').decode("utf-8", "replace")


def redact_urls(text: str, put: Put = _mask, depth: int = URL_DEPTH) -> str:
    """Return a text whose URLs have neither userinfo nor the values of secret parameters."""
    if "//" not in text:
        return text

    def url(found: re.Match[str]) -> str:
        start, userinfo, rest = found.groups()
        return redact_parameters(start + ("" if userinfo is None else put(userinfo) + "@") + rest, put, depth)

    return _URL.sub(url, text)


def redact_parameters(url: str, put: Put = _mask, depth: int = URL_DEPTH) -> str:
    """Return a URL or path without the values of secret parameters, including URLs in a parameter, up to `depth`."""
    if "=" not in url:
        return url

    def value(found: re.Match[str]) -> str:
        before, _, name, sent = found.groups()
        if not depth or _SECRET_NAME.search(unquote_plus(name)):
            return found[0] if sent.startswith(MASKED[:4]) else before + put(sent)
        plain = unquote_plus(sent)
        if (shown := redact_urls(plain, put, depth - 1)) != plain:
            return before + (shown if plain == sent else quote(shown, safe="()"))
        return before + redact_parameters(sent, put, depth - 1)

    return _URL_VALUE.sub(value, url)


class Mask:
    """Hides secrets in the parts of a request. An X-Api-Key that is not in `keys` may be a misplaced secret."""

    def __init__(self, secrets: Iterable[Secrets] = (), keys: Container[str] = (), put: Put = _mask) -> None:
        self.secrets, self.keys, self._put = tuple(secrets), keys, put

    def text(self, text: str) -> str:
        """Return a text without secrets, tokens, and the credentials in URLs."""
        return redact_urls(self._known(text), self._put) if text else text

    def _known(self, text: str) -> str:
        return redact(text, self.secrets, self._put)

    def has_secret(self, text: bytes) -> bool:
        """Return whether a text has a known secret or a token of ours in it."""
        return _TOKEN_PART in text or any(True for each in self.secrets if each.chars for _ in each.spans(text))

    def answer(self, body: bytes) -> bytes:
        """Return a JSON text with every secret in its strings hidden."""
        return redact_strings(body, self._known) if b"\\" in body or self.has_secret(body) else body

    def header(self, name: str, value: str) -> str:
        """Return a header's value without secrets."""
        if name.lower() == "x-api-key" and value not in self.keys and len(value) > FOREIGN_KEY_CHARS_SHOWN:
            rest = value[FOREIGN_KEY_CHARS_SHOWN:]
            return value[:FOREIGN_KEY_CHARS_SHOWN] + (f"... {MASKED}" if self._put is _mask else self._put(rest))
        is_secret = _SECRET_NAME.search(name) and name.lower() not in HARMLESS_HEADERS
        return self._put(value) if is_secret else self.text(value)

    def path(self, path: str) -> str:
        """Return a path without credentials, including those in its parameters and in URLs in it."""
        return redact_parameters(self.text(path), self._put)

    def query(self, path: str, query: bytes | str) -> str:
        """Return a query without credentials, including those in URLs in it."""
        query = query if isinstance(query, str) else query.decode("latin-1")
        if is_token_path(path):
            query = "&".join(map(self._token_parameter, query.split("&")))
        parts = self._known(query).split("&")  # a URL ends there, too
        return "&".join(redact_parameters("?" + redact_urls(part, self._put), self._put)[1:] for part in parts)

    def body(self, path: str, body: bytes) -> str:
        """Return a body as text; a long body is truncated, with its full length."""
        if len(body) <= BODY_BYTES_MAX:
            return self.whole_body(path, body.decode("utf-8", "replace"))
        note = f"... (the beginning of {len(body)} bytes)"
        if is_token_path(path):  # secrets are only found in a completely decoded body
            return MASKED + note
        return self.whole_body(path, body[:BODY_BYTES_MAX].decode("utf-8", "ignore")) + note

    def whole_body(self, path: str, body: str) -> str:
        """Return a body of any length without secrets. A body that is no text comes and goes with `surrogateescape`."""
        body = self._known(self._token_body(body) if is_token_path(path) else body)
        shown = redact_members(body.encode("utf-8", "surrogateescape"), self._put)
        if b"\\" in shown:
            shown = redact_strings(shown, self.text)
        return redact_urls(shown.decode("utf-8", "surrogateescape"), self._put)

    def _token_body(self, body: str) -> str:
        """Return a body of a token endpoint: any part that is not known to be harmless may be a password."""
        try:
            members = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            members = None
        if isinstance(members, dict):
            return encode(self._members(members)).decode()
        return "&".join(map(self._token_parameter, body.split("&")))  # a form, or any other text

    def _members(self, members: dict[str, Any]) -> dict[str, Any]:
        """Return members without secrets, including unknown names: a password may have been sent as a name."""
        return {
            name if name in MEMBERS else self._put(name): value if name in HARMLESS_MEMBERS else self._member(value)
            for name, value in members.items()
        }

    def _member(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._members(value)
        return self._put(value) if isinstance(value, str) else value and 0

    def _token_parameter(self, parameter: str) -> str:
        name, sign, value = parameter.partition("=")
        if value and name not in HARMLESS_MEMBERS:
            value = quote(self._put(unquote_plus(value)), safe="() ")
        return (name if not name or name in MEMBERS else self._put(name)) + sign + value
