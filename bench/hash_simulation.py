"""`make hash-simulation`: how evenly a million sandboxes fall on a hundred servers, and how many move when one comes or
goes."""

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import pstdev

from simulator.shards.ring import Ring, place_of

SERVERS = 100
SANDBOXES = 1_000_000
ROUND = 2**32


def main() -> int:
    """Print the figures; 0."""
    print("\n".join(simulated(SERVERS, SANDBOXES)))
    return 0


def simulated(servers: int, sandboxes: int) -> list[str]:
    """What is found, a sentence a line. The ids have the form of those that a server draws."""
    names = [f"server-{number}" for number in range(1, servers + 2)]
    places = sorted(place_of(f"sb-{number:010x}") for number in range(sandboxes))
    fewer, now, more = (counted(Ring(names[:count]), places) for count in (servers - 1, servers, servers + 1))
    counts = sorted(now.values())
    spread = pstdev(counts) / (sandboxes / servers)
    return [
        f"{sandboxes:,} sandboxes on {servers} servers: {sandboxes / servers:,.0f} each on average",
        f"the fewest {counts[0]:,}, the most {counts[-1]:,}; standard deviation {spread:.1%}",
        f"one server more: {_moved(now, more, sandboxes)}, all of them to the new one",
        f"one server fewer: {_moved(fewer, now, sandboxes)}, all of them from that one",
    ]


def counted(ring: Ring, places: Sequence[int]) -> Counter[str]:
    """How many of the places, which are sorted, each server of a ring has. A node has what is nearest to it."""
    ends = [(one + other) // 2 for one, other in pairwise([*ring.places, ring.places[0] + ROUND])]
    found: Counter[str] = Counter(dict.fromkeys(ring.names, 0))
    behind = 0
    for end, owner in zip(ends, ring.owners, strict=True):
        ahead = bisect_right(places, end, lo=behind)
        found[ring.names[owner]] += ahead - behind
        behind = ahead
    beyond = bisect_right(places, ends[-1] - ROUND)  # of the last node, at the beginning of the ring
    found[ring.names[ring.owners[0]]] -= beyond
    found[ring.names[ring.owners[-1]]] += beyond
    found[ring.names[ring.owners[0]]] += len(places) - behind
    return found


def _moved(fewer: Counter[str], more: Counter[str], sandboxes: int) -> str:
    """How many the added server has. Raises ValueError when another one has more than before."""
    if any(more[name] > count for name, count in fewer.items()):
        raise ValueError("something moved between servers that were there before")
    (added,) = more.keys() - fewer.keys()
    return f"{more[added]:,} move ({more[added] / sandboxes:.2%})"


if __name__ == "__main__":
    sys.exit(main())
