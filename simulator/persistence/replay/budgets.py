"""The memory that forks may hold, and that sandboxes may take while they are rebuilt: in bytes, of a whole server.

A request of a few bytes makes a fork of a sandbox that took thousands of requests to become what it is. A fork shares
what never changes with its original (`replay/sharing`); what it has for itself is counted here when it begins. What it
is sent later it holds as any other sandbox does. After a restart it shares nothing any more, and is counted with all
that it has by then; nobody knows then whether it had been reset.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final
from weakref import WeakKeyDictionary

from simulator.domain.errors import Conflict
from simulator.runtime.live_sandbox import LiveSandbox

FORKS_BYTES_MAX: Final = 512 * 1024 * 1024
REBUILT_BYTES_MAX: Final = 256 * 1024 * 1024

# Measured, beside their texts: a fork without records; what it has of each record that cannot be shared.
FORK_BYTES: Final = 60_000
_ENTRY, _EXCHANGE, _NONCE = 30, 50, 350
_PAYMENT, _OPEN_PAYMENT, _LEDGER_ENTRY, _RESELLER = 2_200, 400, 450, 6_000
_CALLBACK, _DELIVERY, _CASE, _NOTIFICATION, _EVENT, _SENT = 800, 500, 1_500, 1_000, 100, 250


def size_of(live: LiveSandbox) -> int:
    """What a fork of a sandbox has for itself, in bytes: about that, and not less."""
    state = live.core.state
    ledgers = sum(len(one.wallet.entries) for one in state.resellers.values())
    counts = (
        (_ENTRY, len(live.tape)),
        (_EXCHANGE, len(live.journal)),
        (_NONCE, len(state.nonces)),
        (_PAYMENT, len(state.transactions)),
        (_OPEN_PAYMENT, len(state.agenda)),
        (_LEDGER_ENTRY, ledgers),
        (_RESELLER, len(state.resellers)),
        (_CALLBACK, len(state.callbacks)),
        (_DELIVERY, len(state.deliveries)),
        (_CASE, state.cases_made),
        (_NOTIFICATION, len(state.notifications)),
        (_EVENT, live.events.held),
        (_SENT, len(live.courier.sent)),
    )
    texts = state.callbacks.size + state.deliveries.size + live.inboxes.budget.bytes + live.courier.traces.size
    return FORK_BYTES + texts + sum(each * count for each, count in counts)


def share_of(size: int, n: int, live: LiveSandbox) -> int:
    """About how much of a size a sandbox had behind the first `n` entries of its tape."""
    return size * n // max(1, len(live.tape) + live.tape.left_out)


class ForkBudget:
    """What the forks of a server hold. A fork that was deleted, reset or rewound holds nothing of it any more."""

    def __init__(self, bytes_max: int = FORKS_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self._held: WeakKeyDictionary[LiveSandbox, tuple[object, int]] = WeakKeyDictionary()
        self._wanted = 0

    @property
    def bytes(self) -> int:
        """What they hold together."""
        for live, (beginning, _) in list(self._held.items()):
            if live.is_deleted or live.beginning is not beginning:
                del self._held[live]
        return sum(size for _, size in self._held.values())

    def add(self, fork: LiveSandbox, size: int) -> None:
        """Count a fork from now on."""
        self._held[fork] = fork.beginning, size

    def add_restored(self, sandboxes: Iterable[LiveSandbox]) -> None:
        """Count the forks among those that a restart has restored."""
        for live in sandboxes:
            if live.spec.drawn_for:
                self.add(live, size_of(live) + live.journal.size)

    @contextmanager
    def room_for(self, size: int) -> Iterator[None]:
        """Have room for one more, which is being made. Raises `Conflict` when there is none."""
        held = self.bytes + self._wanted
        if held + size > self.bytes_max:
            text = (
                f"the forks of this server hold {held} bytes, and this one would take about {size} more than the limit"
                f" of {self.bytes_max} leaves; delete or reset some first"
            )
            raise Conflict("too_many_fork_bytes", text, "fork")
        self._wanted += size
        try:
            yield
        finally:
            self._wanted -= size


class RebuildBudget:
    """What the sandboxes take that are being rebuilt. Those for which there is no room wait in order; one alone may
    take more than there is."""

    def __init__(self, bytes_max: int = REBUILT_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.bytes = 0
        self._first = asyncio.Lock()  # who waits for room: the others wait behind
        self._is_over = asyncio.Event()

    @asynccontextmanager
    async def room_for(self, size: int) -> AsyncIterator[None]:
        """Have room for one more, when it is there."""
        async with self._first:
            while self.bytes and self.bytes + size > self.bytes_max:
                self._is_over.clear()
                await self._is_over.wait()
            self.bytes += size
        try:
            yield
        finally:
            self.bytes -= size
            self._is_over.set()
