"""Encoded bodies that are kept for as long as what they show stays the same, within bounds."""

from collections import OrderedDict
from collections.abc import Hashable


class BodyCache:
    """Bodies by key, the least recently used dropped first.

    A key may hold ids of objects: these are given as `anchors` and held beside the body, so that an id cannot come to
    mean another object.
    """

    def __init__(self, entries_max: int = 256, bytes_max: int = 32 * 1024 * 1024) -> None:
        self._bodies: OrderedDict[Hashable, tuple[object, bytes]] = OrderedDict()
        self._entries_max = entries_max
        self._bytes_max = bytes_max
        self._bytes = 0

    def get(self, key: Hashable) -> bytes | None:
        """The body that was kept, or None."""
        found = self._bodies.get(key)
        if found is None:
            return None
        self._bodies.move_to_end(key)
        return found[1]

    def put(self, key: Hashable, anchors: object, body: bytes) -> None:
        """Keep a body that `get` did not find."""
        self._bodies[key] = (anchors, body)
        self._bytes += len(body)
        while self._bodies and (len(self._bodies) > self._entries_max or self._bytes > self._bytes_max):
            _, (_, dropped) = self._bodies.popitem(last=False)
            self._bytes -= len(dropped)
