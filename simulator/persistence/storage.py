"""The interface of a store: the folder of `store`, or the PostgreSQL of `simulator/postgres`.

A store has the sandboxes that this server owns. Its `writer` queues statements, `request_commit` makes everything
queued so far durable in one transaction, and its `reader` sees committed data.
"""

import logging
from collections.abc import Callable
from typing import Protocol

from simulator.persistence.errors import StoreError
from simulator.persistence.reader import Reader
from simulator.persistence.writer import Writer

Done = Callable[[StoreError | None], object]


def call_waiting(act: Callable[[], object]) -> None:
    """Call what waited for a commit, surviving its errors, since the others must be called, too: its event loop may be
    closed by now."""
    try:
        act()
    except Exception:
        logging.getLogger(__name__).exception("what waited for a commit failed")


class Storage(Protocol):
    """An open store, which messages call `place`."""

    place: str
    writer: Writer
    reader: Reader

    def request_commit(self, done: Done) -> None:
        """Commit everything queued so far, and call `done` with the error, or None when it is durable, in any thread
        and in the order of the requests. After an error all later requests fail with it."""

    def give_up(self, error: StoreError) -> None:
        """Drop the incomplete queue and all later writes."""


class OpenStore(Protocol):
    """The store of a running server: its folder, or its part of a cluster."""

    def start(self) -> None:
        """Commit at the end of each turn; needs a running event loop."""

    async def start_snapshots(self) -> None:
        """Continue, now that the clocks of the sandboxes have started."""

    async def take_last_snapshots(self) -> None:
        """Take the last snapshots while the sandboxes still exist."""

    def close(self) -> None:
        """Make the last commit. Raises `StoreError`."""
