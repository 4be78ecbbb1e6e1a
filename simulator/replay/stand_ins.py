"""Stand-ins for secrets: of the same length, the same for the same secret, and found in whatever spelling it has."""

from base64 import b64decode, b64encode
from collections.abc import Container
from hashlib import sha256
from itertools import count
from string import hexdigits

from simulator.wire.secrets import FOUND_CHARS_MIN, Secrets
from simulator.wire.unescaped import Unescaped

_TOKENS = Secrets()  # finds tokens of our own alone, which every tape makes again


class StandIns:
    """What stands for each secret that was given. Those with fewer than `FOUND_CHARS_MIN` characters are replaced only
    where a whole value is one of them (`of`)."""

    def __init__(self, known: Container[str] = ()) -> None:
        """`known` are credentials that everybody knows."""
        self._known = known
        self._by_secret: dict[str, str] = {}
        self._by_credential: dict[str, str] = {}
        self._indexes: list[tuple[Secrets, bytes, bytes]] = []
        self._all = Secrets()
        self._numbers = count(1)

    def __len__(self) -> int:
        return len(self._by_secret)

    def add(self, secret: str) -> None:
        """Let something stand for this secret."""
        if not secret or secret in self._by_secret:
            return
        made = _stand_in(secret, next(self._numbers))
        self._by_secret[secret] = made
        if len(secret) >= FOUND_CHARS_MIN:
            self._all.add([secret])
            self._indexes.append((Secrets([secret]), secret.encode(), made.encode()))

    @property
    def has_short(self) -> bool:
        """True when one is so short that it is replaced only as a whole value."""
        return len(self._indexes) < len(self._by_secret)

    def of(self, value: str) -> str:
        """What stands for a value that is a secret as a whole; any other one as it is."""
        return self._by_secret.get(value, value)

    def of_credential(self, value: str) -> str:
        """What stands for a credential where it was found; elsewhere a text that is like it stays as it is."""
        if not value or value in self._known:
            return value
        found = self._by_secret.get(value) or self._by_credential.get(value)
        if found is None:
            found = self._by_credential[value] = _stand_in(value, next(self._numbers))
        return found

    def is_in(self, text: bytes) -> bool:
        """True when one of them may be in a text."""
        return bool(_spans(self._all, text) or _spans(self._all, Unescaped(text).text))

    def replaced(self, text: bytes) -> bytes:
        """A text with all of them replaced."""
        if not self.is_in(text):
            return text
        for index, secret, made in self._indexes:
            text = _without(text, Unescaped(text, is_plain=True), index, secret, made)
            if b"%" in text or b"\\" in text:
                text = _without(text, Unescaped(text), index, secret, made)
        return text


def _spans(index: Secrets, text: bytes) -> list[tuple[int, int]]:
    found = index.spans(text)
    return found and sorted(set(found).difference(_TOKENS.spans(text)))


def _without(raw: bytes, unescaped: Unescaped, index: Secrets, secret: bytes, made: bytes) -> bytes:
    """The text with the secret replaced, with or without its padding; another secret may begin as it does."""
    parts, end = [], 0
    for start, stop in _spans(index, unescaped.text):
        found = unescaped.text[start:stop]
        if start >= end and found.rstrip(b"=") == secret.rstrip(b"="):
            parts += [raw[unescaped.place(end) : unescaped.place(start)], made[: len(found)]]
            end = stop
    return b"".join((*parts, raw[unescaped.place(end) :])) if parts else raw


def _is_hexadecimal(text: str) -> bool:
    return all(each in hexdigits for each in text)


def _stand_in(secret: str, number: int) -> str:
    """A text of the same length that can stand wherever the secret does: Base64 for Base64, hexadecimal for that."""
    digest = sha256(b"stand-in %d" % number).hexdigest()
    drawn = digest * (len(secret) // len(digest) + 1)
    if _is_hexadecimal(secret):
        return drawn[: len(secret)]
    try:
        size = len(b64decode(secret, validate=True))
    except ValueError:
        return f"masked{number}{drawn}"[: len(secret)]
    return b64encode(bytes.fromhex(drawn + drawn)[:size]).decode()
