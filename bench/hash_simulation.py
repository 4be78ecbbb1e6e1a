"""`make hash-simulation`: how evenly a million sandboxes fall on a hundred servers, and how many move when one comes or
goes."""

import sys
from collections import Counter
from statistics import pstdev

from simulator.shards.ring import Ring, place_of

SERVERS = 100
SANDBOXES = 1_000_000


def main() -> int:
    """Print the figures; 0."""
    print("\n".join(simulated(SERVERS, SANDBOXES)))
    return 0


def simulated(servers: int, sandboxes: int) -> list[str]:
    """What is found, a sentence a line. The ids have the form of those that a server draws."""
    names = [f"server-{number}" for number in range(1, servers + 2)]
    places = [place_of(f"sb-{number:010x}") for number in range(sandboxes)]
    before, more, fewer = (
        list(map(Ring(names[:count]).owner_at, places)) for count in (servers, servers + 1, servers - 1)
    )
    counts = sorted(Counter(dict.fromkeys(names[:servers], 0) | Counter(before)).values())
    spread = pstdev(counts) / (sandboxes / servers)
    return [
        f"{sandboxes:,} sandboxes on {servers} servers: {sandboxes / servers:,.0f} each on average",
        f"the fewest {counts[0]:,}, the most {counts[-1]:,}; standard deviation {spread:.1%}",
        f"one server more: {_moved(before, more, to=names[servers])}, all of them to the new one",
        f"one server fewer: {_moved(fewer, before, to=names[servers - 1])}, all of them from that one",
    ]


def _moved(fewer: list[str], more: list[str], to: str) -> str:
    """How many differ. Raises ValueError when another server than `to` has something that it had not before."""
    moved = [after for before, after in zip(fewer, more, strict=True) if before != after]
    if set(moved) - {to}:
        raise ValueError(f"something moved to {set(moved) - {to}}")
    return f"{len(moved):,} move ({len(moved) / len(fewer):.2%})"


if __name__ == "__main__":
    sys.exit(main())
