"""What happens in a sandbox, as its log has it and as a reader takes it."""

from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from simulator.domain.model.domain_events import DomainEvent

EVENT_BYTES: Final = 1000
"""The estimated memory of an event with its share of the payment that it is about."""


class Sized(Protocol):
    """A log to which events refer, and its approximate memory, in bytes."""

    @property
    def size(self) -> int: ...


class Gone(Exception):
    """An event whose request or attempt was evicted meanwhile."""


class Action(msgspec.Struct, frozen=True, gc=False):
    """What was done to a sandbox beside its requests; `about` is what it was done to. Of its clock: the `mode` and the
    `rate` that it has now."""

    name: str
    at: datetime
    about: str = ""
    mode: str = ""
    rate: float = 0.0


Item = int | DomainEvent | Action
"""An event; a number is that of a request in the journal."""


class Taken(NamedTuple):
    """An event as a reader takes it: `serial` numbers those of a server, `number` those of its sandbox, from 1. `life`
    is that of the sandbox which it belongs to, None for the present one."""

    serial: int
    number: int
    sandbox: str
    item: Item
    wall: datetime
    life: Any = None


class EventPosition(NamedTuple):
    """Where a reader is: behind the event with these numbers."""

    serial: int
    number: int
