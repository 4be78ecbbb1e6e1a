"""The server of a key: HAProxy's consistent hash, as `shards.haproxy` configures it (`crc32 avalanche`), in Python.

Each server has nodes on a ring of 2^32 places. The places follow from its number alone, and the number from its name. A
key belongs to the nearest node. So servers and proxies agree without communication, and a new server takes keys from
all others and moves none between them.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final
from zlib import crc32

WEIGHT: Final = 100
"""The weight of each server in the configuration; at most 256."""

NODES: Final = 16 * WEIGHT
"""The nodes per server: HAProxy makes sixteen for each unit of weight."""

NUMBER_MAX: Final = 2**19 - 1
"""HAProxy computes with signed 32 bits, and 4,096 times the number must fit."""

NAME_HEADER: Final = "x-sim-shard"
"""The header of a health check with the name under which the proxy knows the checked server."""

NAMES_HEADER: Final = "x-sim-shards"
"""The header of a health check with the `digest` of the names in the proxy's list."""

_NODES_OF_NUMBER = 4096
_PLACES = 1 << 32
_MASK = _PLACES - 1
_OWNER_BITS = 16
_OWNER_MASK = (1 << _OWNER_BITS) - 1


def number_of(name: str) -> int:
    """Return the number of the server of this name, 1 to `NUMBER_MAX`. Two names may have the same number."""
    return 1 + crc32(name.encode()) % NUMBER_MAX


def digest(names: Iterable[str]) -> str:
    """Return a digest of the names. Names alone decide the owner of a key, so equal digests mean equal owners."""
    return f"{crc32(' '.join(sorted(names)).encode()):08x}"


def avalanche(value: int) -> int:
    """Return HAProxy's `full_hash` of 32 bits: Bob Jenkins' integer hash, times a large prime."""
    value = (value + 0x7ED55D16 + (value << 12)) & _MASK
    value = (value ^ 0xC761C23C ^ (value >> 19)) & _MASK
    value = (value + 0x165667B1 + (value << 5)) & _MASK
    value = ((value + 0xD3A2646C) ^ (value << 9)) & _MASK
    value = (value + 0xFD7046C5 + (value << 3)) & _MASK
    value = (value ^ 0xB55A4F09 ^ (value >> 16)) & _MASK
    return value * 3221225473 & _MASK


def place_of(key: str) -> int:
    """Return the place of a key on every ring."""
    return avalanche(crc32(key.encode("utf-8", "surrogatepass")))


class Ring:
    """A ring of servers, by their names, whose numbers must differ. `places` are the sorted places of the nodes, and
    `owners` the name of the server of each node."""

    def __init__(self, names: Iterable[str]) -> None:
        # A few nodes share a place; the order of the configuration decides between them.
        self.names = tuple(sorted(names))
        nodes = [
            avalanche(number_of(name) * _NODES_OF_NUMBER + node) << _OWNER_BITS | owner
            for owner, name in enumerate(self.names)
            for node in range(NODES)
        ]
        nodes.sort()
        self.places = array("L", (node >> _OWNER_BITS for node in nodes))
        self.owners = array("H", (node & _OWNER_MASK for node in nodes))

    def owner(self, key: str) -> str:
        """Return the name of the server of a key: the id of a sandbox, or the code of a reseller."""
        return self.owner_at(place_of(key))

    def owner_at(self, place: int) -> str:
        """Return the name of the server of a place."""
        after = bisect_left(self.places, place)
        after = 0 if after == len(self.places) else after
        before = bisect_right(self.places, place) - 1  # -1 is the last one, as on a ring
        to_next = (self.places[after] - place) & _MASK
        to_last = (place - self.places[before]) & _MASK
        return self.names[self.owners[before if to_last <= to_next else after]]
