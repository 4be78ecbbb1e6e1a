"""`make simulate`: run many seeds on all cores, and report the shortest failing steps of each seed that fails."""

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor

from tools.worlds.report import explained, failure_of

FAILURES_MAX = 5


def one_seed(seed: int, count: int) -> str:
    """Return the report of a seed, empty for a success."""
    broken = failure_of(seed, count)
    return "" if broken is None else explained(seed, count, broken)


def main() -> int:
    """Run the seeds that the arguments ask for; return 1 when one failed."""
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many (10000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--steps", type=int, default=500, help="steps of each (500)")
    asked = parser.parse_args()
    seeds, failures = range(asked.first, asked.first + asked.seeds), 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ProcessPoolExecutor(cores) as pool:
        found = pool.map(one_seed, seeds, [asked.steps] * len(seeds), chunksize=max(1, min(20, len(seeds) // cores)))
        for done, text in enumerate(found, start=1):
            if text:
                failures += 1
                print(text, flush=True)
            if failures >= FAILURES_MAX:
                pool.shutdown(cancel_futures=True)
                break
            if not done % 500:
                print(f"{done} of {len(seeds)} seeds, {failures} failed", flush=True)
    print(f"{len(seeds)} seeds of {asked.steps} steps: " + (f"{failures} failed" if failures else "all is well"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
