"""Fictional people: the pools they are drawn from, and the draw.

The pools are plain values and injected, since generating names is not a concern of the domain. Each person is drawn
from the seed and a stable identity, such as an account, and so is the same in every run.
"""

from typing import TypeVar

import msgspec

from simulator.domain.model import draw

T = TypeVar("T")


class NamePool(msgspec.Struct, frozen=True):
    """Names of one language; any given name goes with any family name."""

    given: tuple[str, ...]
    family: tuple[str, ...]


class PersonPools(msgspec.Struct, frozen=True):
    """The parts that people are drawn from. No pool is empty; `births` are the first eight digits of identity numbers:
    date of birth as yymmdd and place of birth."""

    names: tuple[NamePool, ...]
    streets: tuple[str, ...]
    towns: tuple[str, ...]
    births: tuple[str, ...]

    def name(self, seed: int, *identity: str) -> str:
        """The name drawn for (seed, identity)."""
        pool = _pick(self.names, seed, identity, "language")
        return f"{_pick(pool.given, seed, identity, 'given')} {_pick(pool.family, seed, identity, 'family')}"

    def address(self, seed: int, *identity: str) -> str:
        """The address, on one line."""
        return f"{_pick(self.streets, seed, identity, 'street')}, {_pick(self.towns, seed, identity, 'town')}"

    def ic_number(self, seed: int, *identity: str) -> str:
        """The identity number: 12 digits without dashes."""
        return _pick(self.births, seed, identity, "birth") + draw.digits(seed, 4, *identity, "serial")


def _pick(pool: tuple[T, ...], seed: int, identity: tuple[str, ...], what: str) -> T:
    return pool[int(draw.fraction(seed, *identity, what) * len(pool))]
