"""Indexes of secrets that grow with their sources, and evict the oldest."""

from collections.abc import Collection, Container, Iterable
from math import inf

from simulator.domain.model.resellers import FORMER_MAX, SecretLog
from simulator.redaction import Mask, Secrets


class FormerSecrets:
    """The secrets of former lives of sandboxes: at least the latest `FORMER_MAX`, in two generations. The older
    generation is evicted whenever the newer is full; with `chars_max` also when its secrets exceed so many characters.
    """

    def __init__(self, chars_max: float = inf) -> None:
        self._older = Secrets()
        self._newer = Secrets()
        self._chars, self._chars_max = 0, chars_max
        self.generations: tuple[Secrets, ...] = ()  # the indexes to search, without empty ones

    def add(self, secrets: Iterable[str]) -> None:
        """Add secrets to redact."""
        for secret in secrets:
            before = len(self._newer)
            self._newer.add([secret])
            self._chars += len(secret) if len(self._newer) > before else 0
        if len(self._newer) >= FORMER_MAX or self._chars >= self._chars_max:
            self._older, self._newer, self._chars = self._newer, Secrets(), 0
        self.generations = tuple(each for each in (self._older, self._newer) if len(each))


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
        self._mask: tuple[tuple[Secrets, ...], Mask] | None = None

    def mask(self, keys: Container[str], secrets: tuple[Secrets, ...]) -> Mask:
        """Return the mask of a sandbox with these keys and secrets. It is cached until the secrets change: each event
        that is shown needs it."""
        if self._mask is None or self._mask[0] != secrets:
            self._mask = secrets, Mask((), keys, secrets)
        return self._mask[1]

    def index(self) -> Secrets:
        """Return the index of the secrets."""
        if self._version != self._log.version:
            self._index, self._version = followed(self._index, tuple(self._log)), self._log.version
        return self._index
