"""The objects that the garbage collector visits."""

import gc
from decimal import Decimal


def visited() -> int:
    """Return how many there are, without amounts and mappings of plain values, which Python 3.14 visits and others do
    not.

    Two collections leave out tuples of what need not be visited.
    """
    gc.collect()
    gc.collect()
    found = (one.values() if isinstance(one, dict) else (one,) for one in gc.get_objects())
    return sum(any(map(_is_visited, ones)) for ones in found)


def _is_visited(one: object) -> bool:
    return gc.is_tracked(one) and not isinstance(one, Decimal)
