"""Indexes of secrets that grow with their sources, and evict the oldest."""

from collections.abc import Collection, Iterable
from math import inf

from simulator.domain.model.resellers import FORMER_MAX, SecretLog
from simulator.redaction import Secrets


class FormerSecrets:
    """The secrets of former lives of sandboxes: at least the latest `FORMER_MAX`, in two `generations`. The older one
    is evicted whenever the newer is full, or has `chars_max` characters."""

    def __init__(self, chars_max: float = inf) -> None:
        self._chars_max = chars_max
        self.generations = Secrets(), Secrets()

    def add(self, secrets: Iterable[str]) -> None:
        """Add secrets to redact."""
        _, newer = self.generations
        newer.add(secrets)
        if len(newer) >= FORMER_MAX or newer.chars >= self._chars_max:
            self.generations = newer, Secrets()


def followed(index: Secrets, secrets: Collection[str]) -> Secrets:
    """Return the index with these secrets added; a new index when it has more than `FORMER_MAX` others."""
    if len(index) > len(secrets) + FORMER_MAX:
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
