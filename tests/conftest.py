"""What holds for the whole suite: how Hypothesis chooses its examples, what of long tables is fast, garbage."""

import gc
from collections.abc import Iterator, Sequence
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes is the machine's affair: no deadlines. Every run has the same examples, so that a failure is
# one of the change under test, and nothing is remembered in the checkout; `--hypothesis-profile random` draws others.
settings.register_profile(
    "reproducible", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("random", settings.get_profile("reproducible"), derandomize=False, print_blob=True)
settings.register_profile("fast", settings.get_profile("reproducible"), max_examples=20)  # of `make test-fast`
settings.load_profile("reproducible")

Row = TypeVar("Row")
FAST_ROWS_MAX = 10  # of a table's rows; the others are slow


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the rows of long tables as slow, except for some that are spread over the whole of each table."""
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for rows in tables.values():
        for item in slow_rows(rows):
            item.add_marker("slow")


def slow_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """All but `FAST_ROWS_MAX` of the rows; the first and the last are never among them."""
    steps, length = FAST_ROWS_MAX - 1, len(rows) - 1
    fast = {step * length // steps for step in range(FAST_ROWS_MAX)}
    return (row for number, row in enumerate(rows) if number not in fast)


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from what lives as long as the run: the tests themselves and the modules."""
    gc.freeze()
