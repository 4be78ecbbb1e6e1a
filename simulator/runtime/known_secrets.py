"""Indexes of secrets that grow with what they follow, and forget the oldest."""

from collections.abc import Collection, Iterable
from itertools import chain
from math import inf
from typing import NamedTuple

from simulator.domain.model.resellers import FORMER_MAX, SecretLog
from simulator.redaction import Secrets


class FormerSecrets:
    """The secrets of former lives of sandboxes: at least the latest `FORMER_MAX`, in two generations. The older one is
    forgotten whenever the newer one is full; with `chars_max` also when its secrets have so many characters."""

    def __init__(self, chars_max: float = inf) -> None:
        self._older = Secrets()
        self._newer = Secrets()
        self._chars, self._chars_max = 0, chars_max

    @property
    def generations(self) -> tuple[Secrets, ...]:
        """The indexes to search, those without a secret left out."""
        return tuple(each for each in (self._older, self._newer) if len(each))

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these from now on."""
        for secret in secrets:
            before = len(self._newer)
            self._newer.add([secret])
            self._chars += len(secret) if len(self._newer) > before else 0
        if len(self._newer) >= FORMER_MAX or self._chars >= self._chars_max:
            self._older, self._newer, self._chars = self._newer, Secrets(), 0


class Strangers(NamedTuple):
    """The secrets of former lives, as they are looked for in what came to another life; its `own` are none of them."""

    generations: tuple[Secrets, ...] = ()
    own: Collection[str] = ()

    @classmethod
    def to(cls, own: SecretLog, former: FormerSecrets) -> "Strangers":
        """Those that are no secrets of this life, as of now."""
        return cls(former.generations, frozenset(own)) if former.generations else cls()

    def in_text(self, text: bytes) -> list[str]:
        """Those that are in a text, in whatever spelling."""
        found = chain.from_iterable(each.all_in(text) for each in self.generations)
        return [one for one in dict.fromkeys(found) if one not in self.own]


def followed(index: Secrets, secrets: Collection[str]) -> Secrets:
    """The index with these secrets in it; a new one when it has more than `FORMER_MAX` that are not among them."""
    if len(index) > len(secrets) + FORMER_MAX:
        index = Secrets()
    index.add(secrets)
    return index


class ServerSecrets:
    """The tokens of a server's control API, and those that it had before, which all of its sandboxes hide."""

    def __init__(self) -> None:
        self.index = Secrets()
        self.all: tuple[str, ...] = ()

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these, too."""
        self.all = tuple(dict.fromkeys((*self.all, *secrets)))
        self.index.add(self.all)


class OwnSecrets:
    """An index of the secrets of one life of a sandbox, which follows their log."""

    def __init__(self, log: SecretLog) -> None:
        self._log = log
        self._index = Secrets()
        self._version = 0
        self._others: Collection[str] = ()

    def index(self, others: Collection[str]) -> Secrets:
        """The index of them and of `others`, the same collection until others are given."""
        if self._version != self._log.version or self._others is not others:
            self._index = followed(self._index, (*self._log, *others))
            self._version, self._others = self._log.version, others
        return self._index
