"""A bounded cache of encoded bodies, valid as long as their contents do not change."""

import threading
from collections import OrderedDict
from collections.abc import Hashable


class BodyCache:
    """Bodies by key, with LRU eviction.

    A key may contain ids of objects: pass these objects as `anchors`, which are stored with the body so that their ids
    cannot be reused. Thread-safe: other threads rebuild sandboxes.
    """

    def __init__(self, entries_max: int = 256, bytes_max: int = 32 * 1024 * 1024) -> None:
        self._bodies: OrderedDict[Hashable, tuple[object, bytes]] = OrderedDict()
        self._entries_max = entries_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._changing = threading.Lock()

    def get(self, key: Hashable) -> bytes | None:
        """Return the cached body, or None."""
        with self._changing:
            found = self._bodies.get(key)
            if found is None:
                return None
            self._bodies.move_to_end(key)
            return found[1]

    def put(self, key: Hashable, anchors: object, body: bytes) -> None:
        """Cache a body that `get` did not find."""
        with self._changing:
            _, before = self._bodies.pop(key, (None, b""))  # another thread may have put it meanwhile
            self._bodies[key] = (anchors, body)
            self._bytes += len(body) - len(before)
            while self._bodies and (len(self._bodies) > self._entries_max or self._bytes > self._bytes_max):
                _, (_, dropped) = self._bodies.popitem(last=False)
                self._bytes -= len(dropped)
