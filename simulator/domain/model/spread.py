"""A delay that is drawn from a log-normal distribution: most are short, a few are very long, as those of real services.

The distribution goes through two points: half of all delays are at most `median`, and 99 of 100 are at most `p99`.
"""

from datetime import timedelta
from math import exp, log
from statistics import NormalDist
from typing import Final

import msgspec

_NORMAL: Final = NormalDist()
DELAY_MAX: Final = timedelta(days=3660)
_Z99: Final = _NORMAL.inv_cdf(0.99)
FRACTION_MIN, FRACTION_MAX = 0.001, 0.999
"""The ends of the distribution, which has none, are cut off: a thousandth on both sides."""


class Spread(msgspec.Struct, frozen=True):
    """A distribution of delays. `median` is above 0 and at most `p99`."""

    median: timedelta
    p99: timedelta

    def at(self, fraction: float) -> timedelta:
        """Return the delay that this fraction of all delays does not exceed."""
        sigma = log(self.p99 / self.median) / _Z99
        z = _NORMAL.inv_cdf(min(max(fraction, FRACTION_MIN), FRACTION_MAX))
        seconds = self.median.total_seconds() * exp(sigma * z)
        return timedelta(seconds=min(seconds, DELAY_MAX.total_seconds()))


Delay = timedelta | Spread


def drawn(delay: Delay, fraction: float) -> timedelta:
    """Return a fixed delay itself, or the one that this fraction of a distribution's delays does not exceed."""
    return delay.at(fraction) if isinstance(delay, Spread) else delay


def typical(delay: Delay) -> timedelta:
    """Return a fixed delay itself, or the median of a distribution."""
    return delay.median if isinstance(delay, Spread) else delay
