"""Connections that are closed first when there are too many: those whose clients have probably left.

A client that closes its connection looks like one that closes only its sending side and still reads, until something is
written to it. So it keeps its place while its answer is being made, but gives it up to those who come.
"""

from typing import Protocol


class Evictable(Protocol):
    """A connection that can be closed at any time."""

    def hang_up(self) -> None: ...


class Evictions:
    """The connections of a server whose clients have closed their sides and wait, oldest first."""

    def __init__(self) -> None:
        self._half_closed: dict[Evictable, None] = {}

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
