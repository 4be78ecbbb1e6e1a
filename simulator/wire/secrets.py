"""Finds secrets in any text, in whatever spelling they were sent, and hides them.

A secret is found by an index of beginnings. Four bytes at each fourth place of a text are looked up in it, so that a
text takes the same time for one secret and for twenty thousand. `FOUND_CHARS_MIN` is the shortest secret that is looked
for: a shorter one, such as the password `1234`, would be found in harmless text. A weak one, such as `12345678` or
`callback`, is found only where it stands alone.
"""

import re
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain
from sys import byteorder
from typing import Final
from urllib.parse import quote

from simulator.wire.needles import BEGINNING_BYTES, CUT_BYTES_MIN, Found, Needles
from simulator.wire.unescaped import Unescaped

MASKED = "(not shown)"
FOUND_CHARS_MIN = BEGINNING_BYTES
CUT_CHARS_MIN = CUT_BYTES_MIN

_BLOCK: Final = 4
_SOUGHT_MAX: Final = 20
_PLAIN: Final = re.compile(r"[!-$&-~]+")
_ISSUED_BY_US: Final = b"eyJpc3MiOiJyZXNlbGxlci1zaW0i"  # how every payload begins: {"iss":"reseller-sim"
# A run is looked at once, whole: begun anew at each `eyJ`, a text of them would take the square of its length.
_TOKEN: Final = re.compile(rb"(?<![\w-])([\w-]++)\.%b[\w-]*+(\.[\w-]*+)?" % _ISSUED_BY_US)
_TOKEN_BEGINNING: Final = re.compile(rb"eyJ[\w-]{8}")
_KEY_CHARS_MIN: Final = 16
_KEY: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_KEY_PREFIX: Final = "whsec_"  # of Standard Webhooks
_HEXADECIMAL: Final = re.compile(r"[0-9A-Fa-f]+")
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{11,}")  # the shortest secret in Base64
_FROM_URL: Final = bytes.maketrans(b"-_", b"+/")

Span = tuple[int, int]


class Secrets:
    """Secrets that can be added to, but for the shortest; those that were removed or replaced are still hidden."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._needles = Needles()
        self._blocks: set[int] = set()  # the blocks that begin at the first places of a needle
        self._by_needle: dict[bytes, str] = {}  # of all that were known when somebody asked
        self.add(secrets)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these, too."""
        blocks = []
        new = set(secrets) - self._known
        self._known |= new
        for needle in chain.from_iterable(map(_needles, new)):
            if self._needles.add(needle):
                blocks += [needle[at : at + _BLOCK] for at in range(_BLOCK)]
        self._blocks.update(memoryview(b"".join(blocks)).cast("I"))

    def spans(self, text: bytes, *, strong_only: bool = False) -> list[Span]:
        """Where secrets and tokens begin and end in a text without escapes, ordered. Base64 may have lost its padding,
        which belongs to the secret. `strong_only` leaves weak secrets out."""
        plain = self.found(text, strong_only=strong_only)
        return sorted((*((start, _padded(text, one.end)) for start, one in plain), *self.base64(text), *tokens(text)))

    def found(self, text: bytes, *, strong_only: bool = False) -> Iterator[tuple[int, Found]]:
        """The secrets that stand in a text as they are, each with its place; in order, and one may begin within another
        one."""
        blocks = memoryview(text[: len(text) // _BLOCK * _BLOCK]).cast("I")
        hits = self._blocks.intersection(blocks)
        for place in _places(text, blocks, hits):
            for start in range(max(0, (place - 1) * _BLOCK + 1), place * _BLOCK + 1):
                if found := self._needles.at(text, start, strong_only=strong_only):
                    yield start, found

    def base64(self, text: bytes) -> Iterator[Span]:
        """The runs of Base64 that have a secret in them, at whichever of their characters it was begun."""
        runs = list(_BASE64.finditer(text))
        if not runs:
            return
        padded = _padded_parts(runs)
        decoded = _decoded(padded)
        hits = [*self.found(decoded), *tokens(decoded)]
        starts = list(accumulate((len(part) // 4 * 3 for part in padded), initial=0)) if hits else []
        for at, _ in hits:
            run = runs[(bisect_right(starts, at) - 1) // _BLOCK]
            yield run.start(), _padded(text, run.end())

    def all_in(self, text: bytes) -> list[str]:
        """Which of the secrets are in a text, in whatever spelling, weak ones left out. It takes no longer for
        thousands than for a few. Callable beside the thread that adds to them."""
        needles: set[bytes] = set()
        for each in {Unescaped(text, is_plain=True).text, Unescaped(text).text}:
            parts = _padded_parts(_BASE64.finditer(each))
            for spelled in (each, _decoded(parts)):
                needles.update(one.needle for _, one in self.found(spelled, strong_only=True))
        if not needles <= self._by_needle.keys():
            self._by_needle = {needle: one for one in list(self._known) for needle in _needles(one)}
        return sorted({self._by_needle[one] for one in needles})


def _padded_parts(runs: "Iterable[re.Match[bytes]]") -> list[bytes]:
    """Runs of Base64, each begun at any of its first characters. Zero bytes come between them when they are decoded."""
    parts = (run[0][skipped:] for run in runs for skipped in range(_BLOCK))
    return [part + b"A" * (_BLOCK + -len(part) % _BLOCK) for part in parts]


def _decoded(parts: list[bytes]) -> bytes:
    return b64decode(b"".join(parts).translate(_FROM_URL))


def tokens(text: bytes) -> Iterator[Span]:
    """Where tokens of this simulator are."""
    for token in _TOKEN.finditer(text) if b"eyJ" in text else ():
        beginning = _TOKEN_BEGINNING.search(text, token.start(), token.end(1))
        if beginning is not None:
            yield beginning.start(), token.end()


def is_token(text: str) -> bool:
    """True when it is one of them as a whole."""
    raw = text.encode("utf-8", "surrogatepass")
    return next(tokens(raw), None) == (0, len(raw))


def _places(text: bytes, blocks: "memoryview[int]", hits: set[int]) -> Iterable[int]:
    """Which of the blocks are among the `hits`. A few are sought one by one, which is faster."""
    if len(hits) > _SOUGHT_MAX:
        return [place for place, block in enumerate(blocks) if block in hits]
    return sorted(place for hit in hits for place in _places_of(text, hit.to_bytes(_BLOCK, byteorder)))


def _places_of(text: bytes, block: bytes) -> Iterator[int]:
    at = text.find(block)
    while at >= 0:
        if at % _BLOCK == 0:
            yield at // _BLOCK
        at = text.find(block, at + 1)


def _padded(text: bytes, end: int) -> int:
    while text[end : end + 1] == b"=":
        end += 1
    return end


def _needles(secret: str) -> Iterator[bytes]:
    yield from spellings(secret)
    yield from spellings_of_key(key_of(secret))


def spellings(secret: str) -> Iterator[bytes]:
    """What to find in a text: a secret as it is, in a form, and as a header, whose bytes are read as Latin-1; also with
    what looks like percent-encoding in it undone."""
    if len(secret) < FOUND_CHARS_MIN:
        return
    core = secret.rstrip("=")
    kept = core if len(core) >= FOUND_CHARS_MIN else secret
    if _PLAIN.fullmatch(kept):  # all its spellings are one
        yield kept.encode()
        return
    for spelling in (kept, kept.replace(" ", "+"), kept.encode().decode("latin-1")):
        yield spelling.encode()
        yield Unescaped(quote(spelling, safe="%").encode()).text


def key_of(secret: str) -> bytes:
    """The key that a secret in Base64 is, which signs as well as the secret does; empty for any other."""
    text = secret.removeprefix(_KEY_PREFIX)
    is_key = len(text) >= _KEY_CHARS_MIN and len(text) % 4 == 0 and _KEY.fullmatch(text) is not None
    return b64decode(text) if is_key and not _HEXADECIMAL.fullmatch(text) else b""


def spellings_of_key(key: bytes) -> Iterator[bytes]:
    """The bytes of a key as they are in a body, and in a header, whose bytes are read as Latin-1."""
    if len(key) >= FOUND_CHARS_MIN:
        yield key
        if not key.isascii():
            yield key.decode("latin-1").encode()


def hidden(text: str, secrets: Iterable[Secrets], *, strong_only: bool = False) -> str:
    """A text without secrets and tokens, also where they are percent-encoded or escaped as in JSON; with `strong_only`,
    weak secrets are left in it."""
    raw = text.encode("utf-8", "surrogatepass")
    all_secrets = tuple(secrets)
    shown = _without(raw, Unescaped(raw, is_plain=True), all_secrets, strong_only)
    if b"%" in shown or b"\\" in shown:
        shown = _without(shown, Unescaped(shown), all_secrets, strong_only)
    return text if shown == raw else shown.decode("utf-8", "replace")


def _without(raw: bytes, unescaped: Unescaped, secrets: tuple[Secrets, ...], strong_only: bool) -> bytes:
    found = sorted(span for each in secrets for span in each.spans(unescaped.text, strong_only=strong_only))
    if not found:
        return raw
    shown, end = [], 0
    for start, stop in found:
        if start >= end:
            shown += [raw[unescaped.place(end) : unescaped.place(start)], MASKED.encode()]
        end = max(end, stop)
    return b"".join((*shown, raw[unescaped.place(end) :]))
