"""Events of a sandbox, as values for observers, and the log of notifications. The domain does not depend on them."""

from collections import deque
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

import msgspec

from simulator.domain.model.wallet import Entry


class NotificationKind(StrEnum):
    LOW_BALANCE = "low_balance"
    DISPUTE = "dispute"
    VOID = "void"


class EmailNotification(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An e-mail. `n` counts from 1 within the sandbox; `trxid` and `refid` are empty without a transaction."""

    n: int = 0
    at: datetime
    kind: NotificationKind
    reseller: str
    to: tuple[str, ...]
    subject: str
    text: str
    trxid: str = ""
    refid: str = ""


class NotificationLog(deque[EmailNotification]):
    """The latest notifications of a sandbox in order; `numbered` counts all notifications, including the evicted."""

    def __init__(self, count_max: int) -> None:
        super().__init__(maxlen=count_max)
        self.numbered = 0

    @property
    def left_out(self) -> int:
        """Return the number of evicted notifications."""
        return self.numbered - len(self)

    def restore(self, kept: Iterable[EmailNotification], left_out: int) -> None:
        """Take the notifications of a snapshot; `left_out` counts earlier evictions."""
        self.extend(kept)
        self.numbered = left_out + len(self)

    def add(self, notification: EmailNotification) -> EmailNotification:
        """Record an e-mail, and return it with its number."""
        self.numbered += 1
        notification = msgspec.structs.replace(notification, n=self.numbered)
        self.append(notification)
        return notification


class StatusChange(msgspec.Struct, frozen=True, gc=False):
    """The transaction with this number got its result at this index, from 0, since its creation."""

    number: int
    place: int


class LedgerPosting(msgspec.Struct, frozen=True, gc=False):
    """An entry was posted to the wallet of a reseller."""

    reseller: str
    entry: Entry


class AttemptOutcome(msgspec.Struct, frozen=True, gc=False):
    """An attempt of the job with this id ended `at` this time; `next_due` is the time of the next attempt, if any. The
    job is in the log of callbacks or of deliveries, unless evicted."""

    job: str
    number: int
    at: datetime
    next_due: datetime | None


DomainEvent = StatusChange | LedgerPosting | AttemptOutcome | EmailNotification
