"""The obligations by subject, in the order in which they are reported."""

from simulator.audit.obligations import (
    bills,
    catalog,
    legacy,
    limits,
    lists,
    orders,
    plans,
    polling,
    receivers,
    refids,
    signing,
)
from simulator.audit.registry import CLAUSES, Clause

ORDER = (signing, refids, orders, polling, plans, bills, catalog, lists, receivers, legacy, limits)


def all_clauses() -> list[Clause]:
    """Every obligation, in this order."""
    return [clause for module in ORDER for clause in CLAUSES.values() if clause.judge.__module__ == module.__name__]
