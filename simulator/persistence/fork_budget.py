"""The memory budget for the forks of a server: a request of a few bytes forks a sandbox that took thousands of requests
to build. Later requests to a fork do not count, as for any other sandbox."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final
from weakref import WeakKeyDictionary

from simulator.domain.errors import Conflict
from simulator.runtime.live_sandbox import LiveSandbox

FORKS_BYTES_MAX: Final = 512 * 1024 * 1024

# Measured, without texts: an empty sandbox, a payment with its ledger entry and its nonce, any other record.
SANDBOX_BYTES: Final = 60_000
_PAYMENT_BYTES: Final = 4_000
_RECORD_BYTES: Final = 1_500


def size_of(live: LiveSandbox) -> int:
    """Return the approximate memory of a sandbox in bytes, rounded up."""
    state = live.core.state
    records = len(state.callbacks) + len(state.deliveries) + state.cases_made + len(state.notifications)
    texts = state.callbacks.size + state.deliveries.size + live.inboxes.budget.bytes + live.courier.traces.size
    counted = _PAYMENT_BYTES * len(state.transactions) + _RECORD_BYTES * (records + len(state.resellers))
    return SANDBOX_BYTES + live.tape.bytes + live.journal.size + texts + counted


class ForkBudget:
    """Counts each fork by its initial size, until it is deleted, reset or rewound."""

    def __init__(self, bytes_max: int = FORKS_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self._held: WeakKeyDictionary[LiveSandbox, tuple[object, int]] = WeakKeyDictionary()
        self._wanted = 0

    @property
    def bytes(self) -> int:
        """Return the bytes of all forks."""
        held = [(live, size) for live, (beginning, size) in self._held.items() if live.beginning is beginning]
        return sum(size for live, size in held if not live.is_deleted)

    def add(self, *sandboxes: LiveSandbox) -> None:
        """Count forks from now on."""
        for live in sandboxes:
            self._held[live] = live.beginning, size_of(live)

    def add_restored(self, sandboxes: Iterable[LiveSandbox]) -> None:
        """Count the forks among the sandboxes that a restart has restored."""
        self.add(*(live for live in sandboxes if live.spec.drawn_for))

    @contextmanager
    def room_for(self, size: int) -> Iterator[None]:
        """Reserve room for a fork while it is built. Raises `Conflict` when the budget is used up."""
        held = self.bytes + self._wanted
        if held + size > self.bytes_max:
            text = (
                f"the forks of this server hold {held} bytes, and this fork needs about {size} more than the limit"
                f" of {self.bytes_max} leaves; delete or reset some first"
            )
            raise Conflict("too_many_fork_bytes", text, "fork")
        self._wanted += size
        try:
            yield
        finally:
            self._wanted -= size
