"""The obligations by subject, in report order, and the audit of a client by all of them."""

from collections.abc import Iterable
from datetime import datetime

from simulator.audit.clauses import CLAUSES, Clause, Obligation, judged
from simulator.audit.client_traffic import SPEC_RATE, Rate, Traffic
from simulator.audit.obligations import catalog_use, credentials, deprecations, lists, orders, pace, receivers
from simulator.wire.traffic import Call, Notification

ORDER = (credentials, orders, pace, catalog_use, lists, receivers, deprecations)


def all_clauses() -> list[Clause]:
    """Return every obligation in report order."""
    return [clause for module in ORDER for clause in CLAUSES.values() if clause.judge.__module__ == module.__name__]


def audited(
    calls: Iterable[Call],
    notifications: Iterable[Notification],
    *,
    until: datetime | None = None,
    rate: Rate | None = SPEC_RATE,
    sees_callbacks: bool = True,
) -> list[Obligation]:
    """Return every obligation, judged by this traffic. Evicted records are not judged.

    `until` is the time of the audit on the clock of the calls; the default is the time of the last call. `rate` is the
    limit of requests, None for no limit. Without `sees_callbacks`, obligations that a callback may have fulfilled are
    not judged.
    """
    traffic = Traffic(calls, notifications, until, rate, sees_callbacks)
    return [judged(clause, traffic) for clause in all_clauses()]
