"""Connections that are closed first when there are too many, or too much waits for them.

A client that closes its connection looks like one that closes only its sending side and still reads, until something is
written to it. So it keeps its place while its answer is being made, but gives it up to those who come.

Clients that do not read their answers may make us keep a bounded number of bytes; those who stalled first go first.
"""

from typing import Protocol


class Evictable(Protocol):
    """A connection that can be closed at any time."""

    def hang_up(self) -> None: ...


class Evictions:
    """The connections of a server whose clients have closed their sides and wait, and those whose clients do not read
    their answers, with the bytes unsent, at most `unsent_max` in sum; oldest first."""

    def __init__(self, unsent_max: int) -> None:
        self._unsent_max = unsent_max
        self._half_closed: dict[Evictable, None] = {}
        self._stalled: dict[Evictable, int] = {}
        self._unsent = 0

    def stall(self, connection: Evictable, unsent: int) -> None:
        """Note that a client does not read; close those who do so for longest if there is too much for all."""
        self.resume(connection)
        self._stalled[connection] = unsent
        self._unsent += unsent
        while self._unsent > self._unsent_max:
            oldest = next(iter(self._stalled))
            self.resume(oldest)
            oldest.hang_up()

    def resume(self, connection: Evictable) -> None:
        """Note that a client reads again."""
        self._unsent -= self._stalled.pop(connection, 0)

    def add_half_closed(self, connection: Evictable) -> None:
        """Let a connection be closed when its place is needed."""
        self._half_closed[connection] = None

    def is_half_closed(self, connection: Evictable) -> bool:
        """Say whether it was added and is still there."""
        return connection in self._half_closed

    def forget(self, connection: Evictable) -> None:
        """Forget a connection that is being closed."""
        self._half_closed.pop(connection, None)

    def evict(self) -> bool:
        """Close the connection that has been half closed for longest. Returns False if there is none."""
        connection = next(iter(self._half_closed), None)
        if connection is None:
            return False
        self.forget(connection)
        connection.hang_up()
        return True
