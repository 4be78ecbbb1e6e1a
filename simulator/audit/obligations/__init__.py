"""The obligations by subject, in the order in which they are reported, and the audit of a client by all of them."""

from collections.abc import Iterable
from datetime import datetime

from simulator.audit.audit import CLAUSES, Clause, Obligation, judged
from simulator.audit.obligations import legacy, limits, lists, orders, products, receivers, signing
from simulator.audit.traffic import SPEC_RATE, Rate, Traffic
from simulator.wire.traffic import Call, Notification

ORDER = (signing, orders, limits, products, lists, receivers, legacy)


def all_clauses() -> list[Clause]:
    """Return every obligation, in this order."""
    return [clause for module in ORDER for clause in CLAUSES.values() if clause.judge.__module__ == module.__name__]


def audited(
    calls: Iterable[Call],
    notifications: Iterable[Notification],
    *,
    until: datetime | None = None,
    rate: Rate | None = SPEC_RATE,
    sees_callbacks: bool = True,
) -> list[Obligation]:
    """Return every obligation, judged from this traffic; what a log has evicted is not judged.

    `until` is the time at which this is asked, on the clock of the calls; by default that of the last of them. `rate`
    is the limit of requests; None for no limit. Without `sees_callbacks` nothing is held against a client that may have
    been told by a callback.
    """
    traffic = Traffic(calls, notifications, until, rate, sees_callbacks)
    return [judged(clause, traffic) for clause in all_clauses()]
