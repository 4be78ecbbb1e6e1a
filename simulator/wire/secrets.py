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
from itertools import accumulate, chain, takewhile
from sys import byteorder
from typing import Final
from urllib.parse import quote

from simulator.wire.unescaped import Unescaped

MASKED = "(not shown)"
FOUND_CHARS_MIN = 8
STRONG_CHARS_MIN = 24  # of letters alone, or digits alone
CUT_CHARS_MIN = 12  # a diagnosis may have cut the rest of a longer secret off

_BLOCK: Final = 4
_SOUGHT_MAX: Final = 20
_PLAIN: Final = re.compile(r"[!-$&-~]+")
_ISSUED_BY_US: Final = b"eyJpc3MiOiJyZXNlbGxlci1zaW0i"  # how every payload begins: {"iss":"reseller-sim"
# A run is looked at once, whole: begun anew at each `eyJ`, a text of them would take the square of its length.
_TOKEN: Final = re.compile(rb"(?<![\w-])([\w-]++)\.%b[\w-]*+(\.[\w-]*+)?" % _ISSUED_BY_US)
_TOKEN_BEGINNING: Final = re.compile(rb"eyJ[\w-]{8}")
_WORD: Final = re.compile(rb"\w")
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{11,}")  # the shortest secret in Base64
_FROM_URL: Final = bytes.maketrans(b"-_", b"+/")

Span = tuple[int, int]


class Secrets:
    """Secrets that can be added to, but for the shortest; those that were removed or replaced are still hidden."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._by_beginning: dict[bytes, list[bytes]] = {}  # needles by their first FOUND_CHARS_MIN bytes
        self._blocks: set[int] = set()  # the blocks that begin at the first places of a needle
        self.add(secrets)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these, too."""
        blocks = []
        new = set(secrets) - self._known
        self._known |= new
        for needle in chain.from_iterable(map(_needles, new)):
            beginning = needle[:FOUND_CHARS_MIN]
            needles = self._by_beginning.setdefault(beginning, [])
            if len(beginning) == FOUND_CHARS_MIN and needle not in needles:
                needles.append(needle)
                blocks += [needle[at : at + _BLOCK] for at in range(_BLOCK)]
        self._blocks.update(memoryview(b"".join(blocks)).cast("I"))

    def spans(self, text: bytes, *, strong_only: bool = False) -> list[Span]:
        """Where secrets and tokens begin and end in a text without escapes, ordered. Base64 may have lost its padding,
        which belongs to the secret. `strong_only` leaves weak secrets out."""
        return sorted((*self._plain(text, strong_only=strong_only), *self._in_base64(text), *_tokens(text)))

    def _plain(self, text: bytes, *, strong_only: bool = False) -> Iterator[Span]:
        blocks = memoryview(text[: len(text) // _BLOCK * _BLOCK]).cast("I")
        hits = self._blocks.intersection(blocks)
        for place in _places(text, blocks, hits):
            for start in range(max(0, (place - 1) * _BLOCK + 1), place * _BLOCK + 1):
                for needle in self._by_beginning.get(text[start : start + FOUND_CHARS_MIN], ()):
                    if _is_there(text, start, needle, strong_only=strong_only):
                        yield start, _end(text, start, needle)

    def _in_base64(self, text: bytes) -> Iterator[Span]:
        """The runs of Base64 that have a secret in them, at whichever of their characters it was begun."""
        runs = list(_BASE64.finditer(text))
        if not runs:
            return
        # Zero bytes come between the runs when they are decoded.
        parts = [run[0][skipped:] for run in runs for skipped in range(_BLOCK)]
        padded = [part + b"A" * (_BLOCK + -len(part) % _BLOCK) for part in parts]
        decoded = b64decode(b"".join(padded).translate(_FROM_URL))
        hits = [*self._plain(decoded), *_tokens(decoded)]
        starts = list(accumulate((len(part) // 4 * 3 for part in padded), initial=0)) if hits else []
        for at, _ in hits:
            run = runs[(bisect_right(starts, at) - 1) // _BLOCK]
            yield run.start(), _padded(text, run.end())


def _is_weak(needle: bytes) -> bool:
    """True for what might be a word or a number of somebody else's."""
    return len(needle) < STRONG_CHARS_MIN and (needle.isalpha() or needle.isdigit())


def _is_there(text: bytes, start: int, needle: bytes, *, strong_only: bool) -> bool:
    """True when a needle, or enough of a strong one, is in the text at `start`; a weak one as a word of its own."""
    if not _is_weak(needle):
        beginning = needle[:CUT_CHARS_MIN]
        is_word = beginning.isalpha() or beginning.isdigit()
        return text.startswith(needle if is_word else beginning, start)
    if strong_only or not text.startswith(needle, start):
        return False
    end = start + len(needle)
    return not (_WORD.match(text, end) or (start and _WORD.match(text, start - 1)))


def _tokens(text: bytes) -> Iterator[Span]:
    for token in _TOKEN.finditer(text) if b"eyJ" in text else ():
        beginning = _TOKEN_BEGINNING.search(text, token.start(), token.end(1))
        if beginning is not None:
            yield beginning.start(), token.end()


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


def _end(text: bytes, start: int, needle: bytes) -> int:
    """Where the part of a needle that the text has at `start` ends."""
    end = start + len(needle)
    if not text.startswith(needle, start):
        equal = takewhile(lambda pair: pair[0] == pair[1], zip(needle, text[start:end], strict=False))
        end = start + sum(1 for _ in equal)
    return _padded(text, end)


def _padded(text: bytes, end: int) -> int:
    while text[end : end + 1] == b"=":
        end += 1
    return end


def _needles(secret: str) -> Iterator[bytes]:
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
