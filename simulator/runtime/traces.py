"""The traces of a sandbox's payments and deliveries, for the callbacks and webhooks that continue them."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Final

import msgspec

from simulator.runtime.events import EVENTS_MAX

TRACEPARENT, TRACESTATE = "traceparent", "tracestate"
STATE_CHARS_MAX: Final = 512
STATE_MEMBERS_MAX: Final = 32
FLAGS_KEPT: Final = 0b11
"""Sampled, and that the trace id is random; the others mean nothing yet and may not be passed on."""

_PARENT: Final = re.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_KEY: Final = "[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}"
_MEMBER: Final = re.compile(rf"({_KEY})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{{0,255}}[\x21-\x2b\x2d-\x3c\x3e-\x7e]")


class TraceContext(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The trace of a request: 32 and 16 hexadecimal digits, not all zero, the flags, and the state of its vendors."""

    trace_id: str
    parent_id: str
    flags: int
    state: str = ""


def trace_of(headers: Iterable[tuple[bytes, bytes]]) -> TraceContext | None:
    """Return the trace of a request by its headers, whose names are in lower case. None without a valid trace."""
    parents, states = [], []
    for name, value in headers:
        if name == b"traceparent":
            parents.append(value)
        elif name == b"tracestate":
            states.append(value)
    if len(parents) != 1:
        return None
    found = _PARENT.fullmatch(parents[0].decode("latin-1").strip(" \t"))
    if found is None:
        return None
    version, trace_id, parent_id, flags, more = found.groups()
    if version == "ff" or (version == "00" and more) or not trace_id.strip("0") or not parent_id.strip("0"):
        return None
    return TraceContext(trace_id, parent_id, int(flags, 16) & FLAGS_KEPT, _state(b",".join(states)))


def _state(value: bytes) -> str:
    """Return a valid `tracestate` without blanks and empty members; an empty text if invalid."""
    members = [member.strip(" \t") for member in value[: 2 * STATE_CHARS_MAX].decode("latin-1").split(",")]
    members = [member for member in members if member]
    keys = {found[1] for member in members if (found := _MEMBER.fullmatch(member))}
    state = ",".join(members)
    is_valid = len(keys) == len(members) <= STATE_MEMBERS_MAX and len(value) <= 2 * STATE_CHARS_MAX
    return state if is_valid and len(state) <= STATE_CHARS_MAX else ""


def passed_on(trace: TraceContext, span_id: str) -> tuple[tuple[str, str], ...]:
    """Return the headers for a request caused by this trace, as its span `span_id`."""
    parent = (TRACEPARENT, f"00-{trace.trace_id}-{span_id}-{trace.flags:02x}")
    return (parent, (TRACESTATE, trace.state)) if trace.state else (parent,)


def sent_trace(headers: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Return the trace and the span from headers of `passed_on`; empty texts for any others."""
    for name, value in headers:
        if name == TRACEPARENT:
            _, trace_id, span_id, _ = value.split("-")
            return trace_id, span_id
    return "", ""


_OVERHEAD_BYTES: Final = 400

Key = int | str
"""The number of a payment, or the id of a delivery or a callback."""
Traced = tuple[Key, TraceContext]
"""An item that belongs to a trace."""
Trace = TraceContext | None

caller: Final[ContextVar[Trace]] = ContextVar("caller", default=None)
"""The trace of the request of the control API that is being answered."""


class Traces:
    """Traces by the items that belong to them; the oldest are evicted."""

    def __init__(self) -> None:
        self.by_key: OrderedDict[Key, TraceContext] = OrderedDict()

    def __len__(self) -> int:
        return len(self.by_key)

    def __iter__(self) -> Iterator[Traced]:
        """Yield all of them, oldest first."""
        return iter(self.by_key.items())

    @property
    def size(self) -> int:
        """Return their approximate memory, in bytes."""
        return sum(_OVERHEAD_BYTES + len(trace.state) for trace in self.by_key.values())

    def note(self, key: Key, trace: TraceContext) -> None:
        """Assign an item to a trace, replacing its earlier trace."""
        self.by_key[key] = trace
        self.by_key.move_to_end(key)
        if len(self.by_key) > EVENTS_MAX:
            self.by_key.popitem(last=False)

    def find(self, key: Key) -> TraceContext | None:
        """Return the trace of an item."""
        return self.by_key.get(key)

    def restore(self, rows: Iterable[Traced]) -> None:
        """Replace all traces with these."""
        self.by_key = OrderedDict(rows)


def trace_from(headers: Iterable[tuple[str, str]]) -> Trace:
    """Return the trace in the headers of a tape entry; None without a valid trace."""
    return trace_of((name.encode(), value.encode("utf-8", "replace")) for name, value in headers)
