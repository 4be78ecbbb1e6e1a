"""Tells of nearly all other names that they are not among many: Bloom filters, which have none of the names."""

import sys
from array import array
from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from typing import Final

BITS: Final = 32
"""So many for each name: of other names, one in some 170,000 seems to be among them."""

_DIGEST_SIZE: Final = 32
_PLACE: Final = "I"  # eight of them to a digest, each of four bytes

Hashes = Sequence[int]


def filter_of(names: Collection[bytes], count: int) -> bytes:
    """A filter of these names, in which there is room for `count`."""
    bits = BITS * count
    flags = bytearray(b"0") * bits
    last = bits - 1  # the first place stands last, as in a number
    for one in _places(b"".join(map(_digest, names))):
        flags[last - one % bits] = 49  # a "1"
    return int(flags, 2).to_bytes(bits // 8, "little")


def hashes_of(name: bytes) -> Hashes:
    """Of a name, for `NameFilters.that_may_have`."""
    return _places(_digest(name))


def may_have(filter_: bytes, name: bytes) -> bool:
    """Whether a filter has a name, or seems to. Raises `ValueError` for an empty one."""
    return any(True for _ in NameFilters([filter_]).that_may_have(hashes_of(name)))


class NameFilters:
    """Several filters of one size. Raises `ValueError` for others."""

    __slots__ = ("_bits", "_count", "_first_bits", "_rows")

    def __init__(self, filters: Sequence[bytes]) -> None:
        sizes = {len(one) for one in filters}
        if len(sizes) != 1 or 0 in sizes:
            raise ValueError("filters of names have one size, of at least one byte")
        (size,) = sizes
        self._count, self._bits = len(filters), 8 * size
        # A row has one byte of each filter, so that a name is looked for in all of them at once.
        self._rows = bytearray(size * self._count)
        for place, one in enumerate(filters):
            self._rows[place :: self._count] = one
        self._first_bits = int.from_bytes(b"\1" * self._count, "little")

    def that_may_have(self, hashes: Hashes) -> Iterator[int]:
        """The places of the filters that have a name with these hashes, or seem to."""
        rows, count, bits, found = self._rows, self._count, self._bits, self._first_bits
        for one in hashes:
            row, bit = divmod(one % bits, 8)
            found &= int.from_bytes(rows[row * count : (row + 1) * count], "little") >> bit
            if not found:
                return
        yield from (place for place, one in enumerate(found.to_bytes(count, "little")) if one)


def _digest(name: bytes) -> bytes:
    return blake2b(name, digest_size=_DIGEST_SIZE).digest()


def _places(digests: bytes) -> "array[int]":
    found = array(_PLACE, digests)
    if sys.byteorder == "big":
        found.byteswap()
    return found
