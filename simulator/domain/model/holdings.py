"""What a sandbox holds by the thousand, for whoever lets go of it."""

from collections import deque
from typing import Any

import msgspec


class Holding(msgspec.Struct, frozen=True, gc=False):
    """A container of records, each of which is made of as many objects as `weight` ordinary ones."""

    records: dict[Any, Any] | list[Any] | deque[Any]
    weight: int = 1
