"""The secrets of a sandbox: those in force, and the latest that were replaced."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping

FORMER_MAX = 10_000
"""Replaced secrets that are remembered; the oldest are forgotten first."""


class SecretLog:
    """API secrets, passwords and webhook secrets that must not be shown. `version` changes with each new one, and
    `replacements` counts those that were replaced."""

    def __init__(self) -> None:
        self._holders: Counter[str] = Counter()  # how many keys, users and webhooks have each; 0 for former ones
        self._former: deque[str] = deque()
        self.version = 0
        self.replacements = 0

    def __len__(self) -> int:
        return len(self._holders)

    def __iter__(self) -> Iterator[str]:
        return iter(self._holders)

    @property
    def former(self) -> Iterator[str]:
        """Those that were replaced, the latest first."""
        return reversed(self._former)

    def kept(self) -> tuple[Mapping[str, int], Iterable[str]]:
        """All of it, for a snapshot: how many have each secret, and the replaced ones, the oldest first."""
        return self._holders, self._former

    def restore(self, holders: Mapping[str, int], former: Iterable[str], version: int, replacements: int) -> None:
        """Have what was kept in the place of all else."""
        self._holders, self._former = Counter(holders), deque(former)
        self.version, self.replacements = version, replacements

    def add(self, secret: str, replaced: str = "") -> None:
        """Remember a secret that is in force from now on, in place of the one `replaced`; either may be empty."""
        if replaced == secret:
            return
        if secret:
            self.version += secret not in self._holders
            self._holders[secret] += 1
        if replaced in self._holders:
            self._holders[replaced] -= 1
            self._former.append(replaced)
            self.replacements += 1
        while len(self._former) > FORMER_MAX:
            oldest = self._former.popleft()
            if self._holders[oldest] <= 0:
                del self._holders[oldest]
