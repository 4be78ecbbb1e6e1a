"""Tells of nearly all other names that they are not among many: a Bloom filter, which has none of the names."""

from collections.abc import Collection
from hashlib import blake2b
from struct import Struct
from typing import Final

BITS: Final = 32
"""So many for each name: of other names, one in some 170,000 seems to be among them."""

_HASHES: Final = 8
_PLACES: Final = Struct(f"<{_HASHES}I")

Hashes = tuple[int, ...]


class NameFilter:
    """What some names leave behind. `content` is all of it. Raises `ValueError` for other bytes than those of one."""

    __slots__ = ("_bits", "content")

    def __init__(self, content: bytes) -> None:
        if not content:
            raise ValueError("a filter of names has at least one byte")
        self.content = content
        self._bits = 8 * len(content)

    @classmethod
    def of(cls, names: Collection[str]) -> "NameFilter":
        """A filter of these names, of which there is at least one."""
        bits = BITS * len(names)
        content = bytearray(bits // 8)
        for name in names:
            for one in hashes_of(name):
                content[one % bits >> 3] |= 1 << (one & 7)
        return cls(bytes(content))

    def may_have(self, hashes: Hashes) -> bool:
        """False when a name with these hashes is not among the names; else it is, or seems to be."""
        content, bits = self.content, self._bits
        for one in hashes:  # noqa: SIM110 - a generator takes three times as long, and there are many filters
            if not content[one % bits >> 3] & (1 << (one & 7)):
                return False
        return True


def hashes_of(name: str) -> Hashes:
    """Of a name, for `may_have`."""
    return _PLACES.unpack(blake2b(name.encode(), digest_size=_PLACES.size).digest())
