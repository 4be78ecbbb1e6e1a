"""Redaction: hides secrets in everything that the program shows, writes down or logs. No other module does.

A secret is recognized in three ways:

- by its value: `Secrets` holds the known ones, `redact` hides them, and tokens that we issued, in a text. A value is
  found in plain, percent-encoded, JSON-escaped and Base64 form; two encodings on top of each other are not undone;
- by the name of its header, member or parameter: `redact_header`, `redact_members`, `redact_query`;
- as the userinfo of a URL: `redact_urls`.

`control.masking.Mask` applies all of them to a request. Each function takes `put`, which returns the text to show
instead of a secret, so a caller can replace secrets with stand-ins. `spellings` lists the forms of a value in a fixed
order: `zip` the forms of a secret with the forms of its stand-in. `Secrets.find` says which form stands where.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from os.path import commonprefix
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus, unquote_plus, unquote_to_bytes, urlsplit

import msgspec

from simulator.wire.money import encode

MASKED: Final = "(not shown)"
MASKED_IN_URL: Final = quote(MASKED, safe="()")
FOUND_CHARS_MIN: Final = 8
"""A shorter secret, such as the password `1234`, would be found in harmless text."""
CUT_CHARS_MIN: Final = 12
"""The length of a longer secret's beginning that is recognized, since a message may have cut off the rest."""
STRONG_CHARS_MIN: Final = 24
"""A secret of letters alone, or of digits alone, is weak below this length: it is found only as a separate word."""
BODY_BYTES_MAX: Final = 256 * 1024
"""The maximum size of a body that is shown. The rest is neither decoded nor searched."""
SECRET_BYTES_MAX: Final = 16 * 1024
FOREIGN_KEY_CHARS_SHOWN: Final = 8
"""The number of characters of an unknown `X-Api-Key` that are shown. The key may be a misplaced secret."""

SECRET_MEMBERS: Final = (
    "password", "passwd", "secret", "api_secret", "client_secret", "webhook_secret", "refresh_token", "access_token",
    "id_token", "access_key", "jwt", "bearer", "hmac", "passphrase", "passcode", "user_pass", "webhook_key",
    "shared_key", "signing_key", "private_key", "auth_key",
)  # fmt: skip
"""Members of a body, in any case, with or without the underscore. `token` and `key` are business data there."""
HARMLESS_HEADERS: Final = frozenset({"x-api-key", "x-signature", "idempotency-key"})
"""The first two are useless without the secret; the last one opens nothing."""
_SECRET_PART: Final = re.compile(
    r"token|passw|pass[_.-]?(?:phrase|code)|pwd|secret|signature|authori[sz]|credential|cookie|bearer|hmac"
    r"|(?:api|access|webhook|shared|signing|private|auth)[_.-]?key"
    r"|(?:^|[_.-])(?:key|sig|auth|jwt|pass)$|^(?:o?auth[_.-]?)?code$",
    re.IGNORECASE,
)
_CAMEL_WORD: Final = re.compile(r"(?<=[a-z0-9])(?:Key|Sig|Auth|Jwt|Pass)$")

_BLOCK: Final = 4
_WORD: Final = re.compile(rb"\w")
_PERCENT: Final = re.compile(r"%[0-9A-F]{2}")
_PADDING: Final = re.compile(rb"(?:=|%3[Dd])*")
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
# The payload of every token of ours begins with {"iss":"reseller-sim
_TOKEN: Final = re.compile(rb"(?<![\w-])[\w-]++\.eyJpc3MiOiJyZXNlbGxlci1zaW0i[\w-]*+(?:\.[\w-]*+)?")
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NAMES: Final = "|".join(name.replace("_", "_?") for name in SECRET_MEMBERS)
_MEMBER: Final = re.compile(
    rf"""("(?:{_NAMES})"\s*+:\s*+)(?!null\b|"\*{{8}})("(?:[^"\\]|\\.)*+"?|[^\s,{{}}\[\]"]++)""".encode(), re.I | re.S
)
_PARAMETER: Final = re.compile(rf"((?:^|(?<=&))(?:{_NAMES})=)([^&]++)".encode(), re.I)
_URL: Final = re.compile(r"""(?:[a-z][a-z0-9+.-]{0,19}:)?//[^\s"'<>]++""", re.I)
_URL_VALUE: Final = re.compile(r"""((?:[?&]|(;))([^=&;#?"\s<>/]{1,100}+)=)((?(2)[^&#?"\s<>]++|[^&#"\s<>]++))""")
_ENCODED: Final = re.compile("%2F%2F|%3F|%3D", re.I)
"""Parts of a URL in a parameter; a client may encode them all, or only the last two."""

Put = Callable[[str], str]


def _mask(_: str) -> str:
    return MASKED


def _mask_in_url(_: str) -> str:
    return MASKED_IN_URL


class Found(NamedTuple):
    """A spelling of a secret in a text, with its start and end; the text may have cut it off."""

    start: int
    end: int
    spelling: bytes

    @property
    def is_whole(self) -> bool:
        """Return whether the text contains the whole secret."""
        return self.end - self.start == len(self.spelling)


class Secrets:
    """Known secrets, including replaced ones. Secrets can be added.

    The search time does not depend on the number of secrets: four bytes at every fourth place of a text are looked up
    among the beginnings of all spellings. (`re` takes 26 s to compile an alternation of 5,000 secrets.)
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._secret_of: dict[bytes, str] = {}
        self._by_beginning: dict[bytes, list[bytes]] = {}
        self._weak: set[bytes] = set()
        self._blocks: set[int] = set()
        self.add(secrets)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these, too."""
        for secret in dict.fromkeys(secrets):
            if secret in self._known:
                continue
            self._known.add(secret)
            plain = secret.encode("utf-8", "surrogatepass")
            if len(plain) < STRONG_CHARS_MIN and (plain.isalpha() or plain.isdigit()):
                self._weak.add(plain)
            for spelling in spellings(secret):
                if spelling not in self._secret_of and len(spelling) >= FOUND_CHARS_MIN:
                    self._secret_of[spelling] = secret
                    self._by_beginning.setdefault(spelling[:FOUND_CHARS_MIN], []).append(spelling)
                    beginning = b"".join(spelling[at : at + _BLOCK] for at in range(_BLOCK))
                    self._blocks.update(memoryview(beginning).cast("I"))

    def find(self, text: bytes, *, strong_only: bool = False) -> Iterator[Found]:
        """Yield the secrets in a text, in order; cut ones may overlap. With `strong_only` only strong ones."""
        blocks = memoryview(text[: len(text) // _BLOCK * _BLOCK]).cast("I")
        hits = self._blocks.intersection(blocks)
        end = 0
        for place in (place for place, block in enumerate(blocks) if block in hits) if hits else ():
            for start in range(max(end, place * _BLOCK - _BLOCK + 1), place * _BLOCK + 1):
                alike = self._by_beginning.get(text[start : start + FOUND_CHARS_MIN])
                found = [self._found(text, start, one, strong_only=strong_only) for one in alike or ()]
                longest = max(found, key=lambda one: (one.is_whole, one.end), default=None)
                if longest and longest.end > start:
                    end = longest.end if longest.is_whole else start + 1  # a whole secret may begin within a cut one
                    yield longest

    def _found(self, text: bytes, start: int, spelling: bytes, *, strong_only: bool) -> Found:
        """Return a spelling at a place; it ends there when the text differs."""
        end = start + len(spelling)
        is_whole = text.startswith(spelling, start)
        if is_whole and spelling in self._weak:
            is_part = _WORD.match(text, end) or (start and _WORD.match(text, start - 1))
            end = start if is_part or strong_only else end
        elif not is_whole:
            beginning = spelling[:CUT_CHARS_MIN]
            is_word = beginning.isalpha() or beginning.isdigit()
            is_cut = text.startswith(beginning, start) and not is_word
            end = start + (len(commonprefix([spelling, text[start:end]])) if is_cut else 0)  # noqa: RUF071 - no paths
        return Found(start, end, spelling)

    def all_in(self, text: bytes) -> list[str]:
        """Return the strong secrets that are in a text, sorted."""
        return sorted({self._secret_of[found.spelling] for found in self.find(text, strong_only=True)})


def spellings(secret: str) -> tuple[bytes, ...]:
    """Return the searched forms of a secret, in a fixed number and order; empty for a short secret. The padding of
    Base64 may be missing in a text, so it is left out."""
    if len(secret) < FOUND_CHARS_MIN:
        return ()
    core = secret.rstrip("=")
    plain = core if len(core) >= FOUND_CHARS_MIN else secret
    percent, form, written = quote(plain, safe=""), quote_plus(plain), json.dumps(plain)[1:-1]
    in_utf8 = json.dumps(plain, ensure_ascii=False)[1:-1]
    raw = plain.encode("utf-8", "surrogatepass")
    texts = (
        percent, _PERCENT.sub(lambda code: code[0].lower(), percent), form, plain.replace(" ", "+"),
        raw.decode("latin-1"), written, written.replace("/", "\\/"), in_utf8, in_utf8.replace("/", "\\/"),
    )  # fmt: skip
    return (raw, *(text.encode("utf-8", "surrogatepass") for text in texts), *_in_base64(raw))


def _in_base64(raw: bytes) -> Iterator[bytes]:
    """Yield the Base64 text that does not depend on the bytes before and after, in both alphabets."""
    for before in range(3):
        whole = b64encode(b"\0" * before + raw)
        inner = whole[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        yield from (inner, inner.translate(_TO_URL))


def redact(text: str, secrets: Iterable[Secrets], *, strong_only: bool = False, put: Put = _mask) -> str:
    """Return a text without known secrets and without tokens of ours; `strong_only` leaves weak secrets in it."""
    raw = text.encode("utf-8", "surrogatepass")
    found = [(one.start, one.end) for each in secrets for one in each.find(raw, strong_only=strong_only)]
    if b"eyJpc3M" in raw:
        found += [token.span() for token in _TOKEN.finditer(raw)]
    if not found:
        return text
    shown, end = [], 0
    for start, stop in sorted(found):
        stop = _PADDING.match(raw, stop).end()  # type: ignore[union-attr]  # it matches nothing, too
        if start >= end:
            shown += [raw[end:start], put(raw[start:stop].decode("utf-8", "replace")).encode()]
        end = max(end, stop)
    return b"".join((*shown, raw[end:])).decode("utf-8", "replace")


def is_token(text: str) -> bool:
    """Return whether a text is a token that we issued."""
    return _TOKEN.fullmatch(text.encode("utf-8", "surrogatepass")) is not None


def redact_strings(body: bytes, change: Callable[[str, bool], str]) -> bytes:
    """Change the strings of a JSON text, which may be cut or broken. `change` gets a string, and whether it names a
    member."""

    def string(found: re.Match[bytes]) -> bytes:
        try:
            text = msgspec.json.decode(found[0], type=str)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return found[0]
        shown = change(text, found.string[found.end() : found.end() + 1] == b":")
        return found[0] if shown == text else encode(shown)

    return _STRING.sub(string, body)


def is_secret_name(name: str) -> bool:
    """Return whether the value of a parameter or header of this name is a secret."""
    return bool(_SECRET_PART.search(name) or _CAMEL_WORD.search(name))


def is_secret_header(name: str) -> bool:
    """Return whether the whole value of a header of this name is a secret."""
    return is_secret_name(name) and name.lower() not in HARMLESS_HEADERS


def redact_members(body: bytes, put: Put = _mask) -> bytes:
    """Return a body without the values of secret members and parameters: texts and numbers, not lists or objects. It
    may be cut, broken, or sent to a path that has no such member."""
    body = _MEMBER.sub(lambda found: found[1] + encode(put(_text_of(found[2]))), body)
    return _PARAMETER.sub(lambda found: found[1] + put(_form_value(found[2])).encode(), body)


def members_in(body: bytes) -> Iterator[str]:
    """Yield the values that `redact_members` hides."""
    yield from (_text_of(found[2]) for found in _MEMBER.finditer(body))
    yield from (_form_value(found[2]) for found in _PARAMETER.finditer(body))


def _text_of(value: bytes) -> str:
    try:
        return msgspec.json.decode(value, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return value.strip(b'"').decode("utf-8", "replace")


def _form_value(value: bytes) -> str:
    return unquote_to_bytes(value.replace(b"+", b" ")).decode("utf-8", "replace")


def redact_urls(text: str, put: Put = _mask_in_url) -> str:
    """Return a text whose URLs have neither userinfo nor the values of secret parameters."""
    return _URL.sub(lambda found: _redact_url(found[0], put), text) if "//" in text else text


def _redact_url(url: str, put: Put) -> str:
    try:
        userinfo, sign, _ = urlsplit(url).netloc.rpartition("@")
    except ValueError:  # such as an unterminated IPv6 address
        userinfo, sign, _ = re.split("[/?#]", url.partition("//")[2], maxsplit=1)[0].rpartition("@")
    if sign:
        before, _, rest = url.partition("//")
        url = f"{before}//{put(userinfo)}{rest[len(userinfo) :]}"
    return redact_parameters(url, put) if "=" in url else url


def redact_parameters(url: str, put: Put = _mask_in_url) -> str:
    """Return a URL or path without the values of secret parameters, including URLs in a parameter."""

    def value(found: re.Match[str]) -> str:
        before, _, name, sent = found.groups()
        if is_secret_name(unquote_plus(name)):
            return found[0] if sent.startswith(MASKED[:4]) else before + put(sent)
        if _ENCODED.search(sent):
            plain = unquote_plus(sent)
            if (shown := redact_urls(plain, _mask)) != plain:
                return before + quote(shown, safe="()")
        return before + redact_parameters(sent, put) if "=" in sent else found[0]

    return _URL_VALUE.sub(value, url)


def redact_query(query: str, put: Put = _mask) -> str:
    """Return a query or form without the values of secret parameters."""
    return "&".join(redact_parameters("?" + redact_urls(part, put), put)[1:] for part in query.split("&"))
