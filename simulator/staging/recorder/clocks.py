"""Whether the service's clock runs as ours does: that of a simulator may stand still, or run faster.

Where it does not, how long something took is what the service says, and when a callback arrived says nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from simulator.staging.recorder.bodies import seconds
from simulator.staging.recorder.payments import SeenPayment, SeenStatus, Told

STAMP_S = 1.0  # the service says its times to the second
EARLY_S = STAMP_S + 0.1
DRIFT_S = 5.0
NOTE = "the service's clock did not run as ours: its times count, and arrivals of callbacks do not (docs/record.md)"


def clocks_differ(payments: Sequence[SeenPayment]) -> bool:
    """True when at least a tenth of the payments had a status before the service says it began, or when most of them
    began further from each other by one clock than by the other."""
    stamped = [one for one in payments if any(seen.stamp_s is not None for seen in one.statuses)]
    early = sum(any(map(_is_early, one.statuses)) for one in stamped)
    return 10 * early > len(stamped) or _drifts(payments)


def _is_early(seen: SeenStatus) -> bool:
    first_s = min([seen.seen_s, *(told.at_s for told in seen.told)])
    return seen.stamp_s is not None and seen.stamp_s - first_s > EARLY_S


def _drifts(payments: Iterable[SeenPayment]) -> bool:
    ahead = sorted(seconds(one.stamp - one.at) for one in payments if one.stamp is not None)
    last = most = 0
    for first, value in enumerate(ahead):
        while last < len(ahead) and ahead[last] - value <= DRIFT_S:
            last += 1
        most = max(most, last - first)
    return 2 * most < len(ahead)  # never of two: the stamp of one may be that of an older status


def by_stamps(one: SeenPayment) -> SeenPayment:
    """The payment as if everything had been seen, and told, when the service says that it began."""
    statuses = [_at_its_stamp(seen) for seen in one.statuses]
    return replace(one, statuses=statuses, last_s=max((seen.seen_s for seen in statuses), default=0.0))


def _at_its_stamp(seen: SeenStatus) -> SeenStatus:
    at_s = seen.seen_s if seen.stamp_s is None else seen.stamp_s
    told: list[Told] = []
    for each in sorted(seen.told, key=lambda each: each.at_s):
        if not told or not told[-1].is_retried:  # else it is another attempt
            told.append(replace(each, at_s=at_s))
        else:
            told[-1] = replace(told[-1], is_retried=each.is_retried)
    return replace(seen, seen_s=at_s, after_s=at_s, requery=0, told=told)
