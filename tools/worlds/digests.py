"""`python -m tools.worlds.digests STEPS SEED…`: print the digest of each seed's bytes, to compare processes."""

import sys

from tools.worlds.runs import live_through
from tools.worlds.steps import draw_steps


def main() -> None:
    """Print a line for each seed."""
    count, *seeds = map(int, sys.argv[1:])
    for seed in seeds:
        print(seed, live_through(seed, draw_steps(seed, count)).digest)


if __name__ == "__main__":
    main()
