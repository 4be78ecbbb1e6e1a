"""What happens in a sandbox, as values for those who watch it. Nothing in the domain depends on them."""

from datetime import datetime

import msgspec

from simulator.domain.model.notifications import Notification
from simulator.domain.model.wallet import Entry


class StatusChanged(msgspec.Struct, frozen=True, gc=False):
    """The transaction with this number got its result at this place, from 0; its creation has brought the first."""

    number: int
    place: int


class Posted(msgspec.Struct, frozen=True, gc=False):
    """An entry was posted to the wallet of a reseller."""

    reseller: str
    entry: Entry


class Attempted(msgspec.Struct, frozen=True, gc=False):
    """An attempt of the job with this id ended `at` this time; `next_due` is when the next one is due, if any. The job
    is in the log of callbacks or of deliveries, unless that has evicted it."""

    job: str
    number: int
    at: datetime
    next_due: datetime | None


DomainEvent = StatusChanged | Posted | Attempted | Notification


def no_listener(event: DomainEvent) -> None:
    """Nobody watches."""
