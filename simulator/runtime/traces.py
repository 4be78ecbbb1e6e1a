"""The traces of a sandbox's payments and deliveries, for the callbacks and webhooks that continue them."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Final

from simulator.runtime.trace_context import TraceContext, trace_of

TRACES_MAX: Final = 10_000
TRACES_BYTES_MAX: Final = 4 * 1024 * 1024
_OVERHEAD_BYTES: Final = 400

Key = int | str
"""The number of a payment, or the id of a delivery or a callback."""
Traced = tuple[Key, TraceContext]
"""What belongs to a trace."""
Trace = TraceContext | None

caller: Final[ContextVar[Trace]] = ContextVar("caller", default=None)
"""The trace of the request of the control API that is being answered."""


class Traces:
    """Traces by what belongs to them; the oldest are forgotten, by count and by bytes."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[Key, TraceContext] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[Traced]:
        """All of them, the oldest first."""
        return iter(self._by_key.items())

    @property
    def size(self) -> int:
        """Their approximate memory, in bytes."""
        return self._bytes

    def note(self, key: Key, trace: TraceContext) -> None:
        """Let this belong to a trace, and to no earlier one."""
        before = self._by_key.pop(key, None)
        if before is not None:
            self._bytes -= _size(before)
        self._by_key[key] = trace
        self._bytes += _size(trace)
        while len(self._by_key) > TRACES_MAX or self._bytes > TRACES_BYTES_MAX:
            self._bytes -= _size(self._by_key.popitem(last=False)[1])

    def find(self, key: Key) -> TraceContext | None:
        """The trace that this belongs to."""
        return self._by_key.get(key)

    def restore(self, rows: Iterable[Traced]) -> None:
        """Have these in the place of all others."""
        self._by_key = OrderedDict(rows)
        self._bytes = sum(map(_size, self._by_key.values()))


def _size(trace: TraceContext) -> int:
    return _OVERHEAD_BYTES + len(trace.state)


def trace_from(headers: Iterable[tuple[str, str]]) -> Trace:
    """The trace that headers on a tape say; None without a valid one."""
    return trace_of((name.encode(), value.encode("utf-8", "replace")) for name, value in headers)
