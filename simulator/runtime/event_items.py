"""The events of a sandbox, as its log stores them and as a reader takes them."""

from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from simulator.domain.model.domain_events import DomainEvent

EVENT_BYTES: Final = 1000
"""The estimated memory of an event with its share of the payment that it is about."""


class Sized(Protocol):
    """A log that events refer to, with its approximate memory in bytes."""

    @property
    def size(self) -> int: ...


class Gone(Exception):
    """An event whose request or attempt was evicted meanwhile."""


class Action(msgspec.Struct, frozen=True, gc=False):
    """A change to a sandbox other than a request; `about` is the object of the change. For a clock, `mode` and `rate`
    are its new settings."""

    name: str
    at: datetime
    about: str = ""
    mode: str = ""
    rate: float = 0.0


Item = int | DomainEvent | Action
"""An event; an integer is the number of a request in the journal."""


class Taken(NamedTuple):
    """An event as a reader takes it. `serial` is its number in the server, `number` its number in the sandbox, from 1.
    `life` is the sandbox life that it belongs to, None for the present life."""

    serial: int
    number: int
    sandbox: str
    item: Item
    wall: datetime
    life: Any = None


class EventPosition(NamedTuple):
    """The position of a reader: after the event with these numbers."""

    serial: int
    number: int
