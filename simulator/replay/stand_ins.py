"""Stand-ins for secrets: of the same length, the same for the same secret, and found in whatever spelling it has."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Container, Iterable, Iterator
from hashlib import sha256
from itertools import count
from string import hexdigits
from typing import Final

from simulator.replay.disguise import disguised
from simulator.wire.secrets import Secrets, is_token, key_of, spellings, spellings_of_key, tokens
from simulator.wire.unescaped import Unescaped

STAND_INS_MAX: Final = 100_000
"""Of one tape. Each takes memory while it is masked, and no client that is tried out has so many."""

IN_ENTRY_MAX: Final = 50_000
"""Of one entry, however many of them are the same: an entry is masked in one go, in less than a second."""

_BLOCK: Final = 4
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
_FROM_URL: Final = bytes.maketrans(b"-_", b"+/")
_ATTEMPTS: Final = 8
_TOLD_CHARS_MIN: Final = 16  # a shorter one does not say that it is a stand-in: others might be cut to the same
_NOWHERE: Final = (-1, -1)

Span = tuple[int, int]
Piece = tuple[int, int, bytes]
"""A place, and what is to stand there."""


class TooManyStandIns(Exception):
    """More secrets and credentials than `STAND_INS_MAX`, or `IN_ENTRY_MAX`; the text says which."""


class StandIns:
    """What stands for each secret that was given. Those with fewer than `FOUND_CHARS_MIN` characters are replaced only
    where a whole value is one of them (`of`)."""

    def __init__(self, known: Container[str] = ()) -> None:
        """`known` are credentials that everybody knows."""
        self._known = known
        self._by_secret: dict[str, str] = {}
        self._by_credential: dict[str, str] = {}
        self._disguises: dict[bytes, int] = {}
        self._by_needle: dict[bytes, bytes] = {}
        self._index = Secrets()
        self._numbers = count(1)
        self._in_entry = 0

    def __len__(self) -> int:
        return len(self._by_secret) + len(self._by_credential) + len(self._disguises)

    def begin_entry(self) -> None:
        """What follows is of the next entry."""
        self._in_entry = 0

    def add(self, secret: str) -> None:
        """Let something stand for this secret. Raises `TooManyStandIns`."""
        if not secret or secret in self._by_secret:
            return
        made, made_key = _stand_in(secret, self._next())
        self._by_secret[secret] = made
        self._index.add([secret])
        for needle in spellings(secret):
            self._by_needle.setdefault(needle, made.encode())
        key = key_of(secret)
        for needle in spellings_of_key(key):
            self._by_needle.setdefault(needle, made_key.encode())
        if made_key:
            self._by_credential.setdefault(key.decode("utf-8", "replace"), made_key)

    def of(self, value: str) -> str:
        """What stands for a value that is a secret as a whole; any other one as it is."""
        return self._by_secret.get(value, value)

    def of_credential(self, value: str) -> str:
        """What stands for a credential where it was found; elsewhere a text that is like it stays as it is. Tokens that
        we issued stay, too: every tape makes them again."""
        self._count()
        if not value or value in self._known or is_token(value):
            return value
        found = self._by_secret.get(value) or self._by_credential.get(value)
        if found is None:
            found = self._by_credential[value] = _stand_in(value, self._next())[0]
        return found

    def of_form(self, raw: bytes) -> bytes:
        """The same for one that is not simply a text, such as cookies, or a part of a broken body: its signs stay,
        and so do tokens that we issued in it."""
        self._count()
        if raw.decode("utf-8", "replace") in self._known:
            return raw
        number = self._disguises.get(raw)
        if number is None:
            number = self._disguises[raw] = self._next()
        made = disguised(raw, number)
        for start, stop in tokens(raw):
            made = made[:start] + raw[start:stop] + made[stop:]
        return made

    def is_in(self, text: bytes) -> bool:
        """True when one of them may be in a text."""
        return any(self._is_in(each) for each in (text, Unescaped(text).text)) if self._by_needle else False

    def replaced(self, text: bytes) -> bytes:
        """A text with all of them replaced, in one pass for all."""
        if not self.is_in(text):
            return text
        for find in (self._plain, self._in_base64):
            text = _replaced(text, Unescaped(text, is_plain=True), find)
            if b"%" in text or b"\\" in text:
                text = _replaced(text, Unescaped(text), find)
        return text

    def _next(self) -> int:
        if len(self) >= STAND_INS_MAX:
            raise TooManyStandIns(f"it has more than {STAND_INS_MAX} secrets and credentials")
        return next(self._numbers)

    def _count(self) -> None:
        self._in_entry += 1
        if self._in_entry > IN_ENTRY_MAX:
            raise TooManyStandIns(f"one of its entries has more than {IN_ENTRY_MAX} secrets and credentials")

    def _is_in(self, text: bytes) -> bool:
        return any(True for _ in self._index.found(text)) or any(True for _ in self._index.base64(text))

    def _plain(self, text: bytes) -> Iterator[Piece]:
        """Where they stand as they are, each with what stands for it; another one may begin as one does."""
        for start, found in self._index.found(text):
            self._count()
            made = self._by_needle[found.needle]
            yield start, found.end, made if found.end - start == len(found.needle) else made[: found.end - start]

    def _in_base64(self, text: bytes) -> Iterator[Piece]:
        """Where they stand in Base64, at whichever of its characters that was begun."""
        for start, end in sorted(set(self._index.base64(text))):
            self._count()
            run = text[start:end].rstrip(b"=")
            made = run
            for skipped in range(_BLOCK):
                made = made[:skipped] + self._run(made[skipped:])
            if made != run:
                differing = [at for at, (one, other) in enumerate(zip(run, made, strict=True)) if one != other]
                first, last = differing[0], differing[-1] + 1
                yield start + first, start + last, made[first:last]

    def _run(self, run: bytes) -> bytes:
        padding = _BLOCK + -len(run) % _BLOCK
        decoded = b64decode((run + b"A" * padding).translate(_FROM_URL))
        made = b""
        end = 0
        for start, stop, stand_in in _in_order(self._plain(decoded)):
            made += decoded[end:start] + stand_in[: stop - start].ljust(stop - start, b"x")
            end = stop
        if not end:
            return run
        written = b64encode(made + decoded[end:])[: len(run)]
        return written.translate(_TO_URL) if b"-" in run or b"_" in run else written


def _replaced(raw: bytes, unescaped: Unescaped, find: Callable[[bytes], Iterable[Piece]]) -> bytes:
    parts, end = [], 0
    for start, stop, made in _outside(tokens(unescaped.text), _in_order(find(unescaped.text))):
        parts += [raw[unescaped.place(end) : unescaped.place(start)], made]
        end = stop
    return b"".join((*parts, raw[unescaped.place(end) :])) if parts else raw


def _in_order(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Those that do not begin within another one."""
    end = 0
    for piece in pieces:
        if piece[0] >= end:
            end = piece[1]
            yield piece


def _outside(kept: Iterable[Span], pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces that are not in what is kept; both are in order."""
    spans = iter(kept)
    begins, ends = next(spans, _NOWHERE)
    for piece in pieces:
        while ends <= piece[0] and (begins, ends) != _NOWHERE:
            begins, ends = next(spans, _NOWHERE)
        if not begins <= piece[0] < ends:
            yield piece


def _stand_in(secret: str, number: int) -> tuple[str, str]:
    """A text of the same length that can stand wherever the secret does, Base64 for Base64, hexadecimal for that; and
    what stands for the key that it is in Base64."""
    key = key_of(secret)
    if not key:
        return _drawn(secret, number), ""
    made_key = _drawn("-" * len(key), number)
    prefix = secret[: len(secret) - len(b64encode(key))]
    return prefix + b64encode(made_key.encode()).decode(), made_key


def _drawn(secret: str, number: int) -> str:
    for attempt in range(_ATTEMPTS):  # a short one may be drawn as it is
        digest = sha256(b"stand-in %d %d" % (number, attempt)).hexdigest()
        drawn = digest * (len(secret) // len(digest) + 1)
        is_told = len(secret) >= _TOLD_CHARS_MIN and not all(each in hexdigits for each in secret)
        made = f"masked{number}{drawn}"[: len(secret)] if is_told else drawn[: len(secret)]
        if made != secret:
            break
    return made
