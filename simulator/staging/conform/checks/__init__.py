"""The checks, in the order in which they are made: what is only read first, then refusals; payments before the history
and the statement, which then have something to show; the configuration last."""

from simulator.staging.conform.checks import (
    authentication,
    cases,
    catalog,
    configuration,
    history,
    options,
    payments,
    reads,
    refusals,
    refused_payments,
    statement,
    tokens,
)
from simulator.staging.conform.registry import CHECKS, Check

ORDER = (
    reads,
    catalog,
    options,
    authentication,
    refusals,
    tokens,
    payments,
    refused_payments,
    history,
    statement,
    cases,
    configuration,
)


def all_checks() -> list[Check]:
    """Every check, in this order."""
    return [check for module in ORDER for check in CHECKS.values() if check.made.__module__ == module.__name__]
