"""The list of checks in their order: reads first, then refusals; payments before the history and the statement, which
need entries; the configuration last."""

from simulator.staging.conform.checks import (
    authentication,
    cases,
    catalog,
    configuration,
    payments,
    reads,
    refusals,
    wallet,
)
from simulator.staging.conform.context import CHECKS, Check

ORDER = (reads, catalog, refusals, authentication, payments, wallet, cases, configuration)


def all_checks() -> list[Check]:
    """Return every check, in this order."""
    return [check for module in ORDER for check in CHECKS.values() if check.function.__module__ == module.__name__]
