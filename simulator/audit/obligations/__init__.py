"""The obligations by subject, in the order in which they are reported."""

from simulator.audit.obligations import legacy, limits, lists, orders, products, receivers, signing
from simulator.audit.registry import CLAUSES, Clause

ORDER = (signing, orders, limits, products, lists, receivers, legacy)


def all_clauses() -> list[Clause]:
    """Return every obligation, in this order."""
    return [clause for module in ORDER for clause in CLAUSES.values() if clause.judge.__module__ == module.__name__]
