"""Which rows of a long table are fast, and which are left to `make test`."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

Row = TypeVar("Row")
FAST_ROWS_MAX = 3  # of a table's rows; the others are slow


def slow_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """All but `FAST_ROWS_MAX` of the rows; the first and the last are never among them."""
    steps, length = FAST_ROWS_MAX - 1, len(rows) - 1
    fast = {step * length // steps for step in range(FAST_ROWS_MAX)}
    return (row for number, row in enumerate(rows) if number not in fast)
