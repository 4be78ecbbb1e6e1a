"""Deterministic randomness, drawn from (seed, stable identity), never from call order.

A seed and an identity (a refid, a rule's id) give the same digits in every run and every process.
"""

from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import blake2b, sha256
from math import exp, log
from statistics import NormalDist
from typing import Final
from uuid import UUID

import msgspec

from simulator.domain.model.money import SERVICE_ZONE

_ALPHANUMERIC = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without the ambiguous 0, O, 1 and I


_keyed = lru_cache(maxsize=64)(lambda seed, size: blake2b(key=b"%d" % seed, digest_size=size))


def _digest(seed: int, identity: tuple[object, ...], size: int) -> bytes:
    hashed = _keyed(seed, size).copy()
    hashed.update("\x1f".join(map(str, identity)).encode("utf-8", "surrogatepass"))
    return hashed.digest()


def fraction(seed: int, *identity: object) -> float:
    """Return a number in [0, 1)."""
    return int.from_bytes(_digest(seed, identity, 6), "big") / (1 << 48)


def digits(seed: int, count: int, *identity: object) -> str:
    """Return `count` decimal digits, at most 64."""
    assert 0 < count <= 64
    size = 8 if count <= 16 else 32
    return str(int.from_bytes(_digest(seed, identity, size), "big") % 10**count).zfill(count)


def alphanumeric(seed: int, count: int, *identity: object) -> str:
    """Return `count` upper-case letters and digits, at most 64."""
    assert 0 < count <= 64
    return "".join(_ALPHANUMERIC[byte % 32] for byte in _digest(seed, identity, count))


def secret(seed: int, *identity: object) -> bytes:
    """Return 32 bytes."""
    return _digest(seed, identity, 32)


def uuid(seed: int, *identity: object) -> str:
    """Return a UUID in the form of version 4."""
    return str(UUID(bytes=_digest(seed, identity, 16), version=4))


def hexadecimal(seed: int, count: int, *identity: object) -> str:
    """Return `count` hexadecimal digits in lower case, an even number up to 128, not all of them zero."""
    return _digest(seed, identity, count // 2).hex().replace("0" * count, f"{1:0{count}}")


def trxid(seed: int, created: datetime, reseller: str, refid: str) -> str:
    """Return a transaction id: the service's day of creation and 16 digits."""
    # SHA-256 is already in the cache after the signature check; another hash function is not.
    drawn = sha256(f"{seed}\x1ftrxid\x1f{reseller}\x1f{refid}".encode("utf-8", "surrogatepass")).digest()
    # 10**15 plus 52 bits always has 16 digits.
    day = created.astimezone(SERVICE_ZONE)
    date = day.year % 100 * 10_000 + day.month * 100 + day.day  # strftime takes ten times as long
    return f"{date:06}{10**15 + (int.from_bytes(drawn[:8], 'big') >> 12)}"


_NORMAL: Final = NormalDist()
DELAY_MAX: Final = timedelta(days=3660)
_Z99: Final = _NORMAL.inv_cdf(0.99)
_TAIL: Final = 0.001
"""The distribution is unbounded, so it is cut off at a thousandth on both sides."""


class Spread(msgspec.Struct, frozen=True):
    """A distribution of delays. `median` is above 0 and at most `p99`."""

    median: timedelta
    p99: timedelta

    def at(self, fraction: float) -> timedelta:
        """Return the delay that this fraction of all delays does not exceed."""
        sigma = log(self.p99 / self.median) / _Z99
        z = _NORMAL.inv_cdf(min(max(fraction, _TAIL), 1 - _TAIL))
        seconds = self.median.total_seconds() * exp(sigma * z)
        return timedelta(seconds=min(seconds, DELAY_MAX.total_seconds()))


Delay = timedelta | Spread


def drawn(delay: Delay, fraction: float) -> timedelta:
    """Return a fixed delay, or the delay that this fraction of a distribution's delays does not exceed."""
    return delay.at(fraction) if isinstance(delay, Spread) else delay


def typical(delay: Delay) -> timedelta:
    """Return a fixed delay, or the median of a distribution."""
    return delay.median if isinstance(delay, Spread) else delay
