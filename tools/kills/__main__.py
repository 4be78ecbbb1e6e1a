"""`make campaign-kill`: 200 servers killed under load, in episodes of ten on one folder, each with its own seed."""

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tools.kills.episode import Episode

KILLS = 10
SHOWN = 10


def main() -> int:
    """Run the episodes that the arguments ask for; return 1 when something was lost. The folder of a failed episode
    is kept."""
    parser = argparse.ArgumentParser(prog="make campaign-kill", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how many servers (200)")
    parser.add_argument("--seed", type=int, default=1, help="the first episode's seed (1)")
    parser.add_argument("--durability", choices=["process", "power"], default="process")
    asked = parser.parse_args()
    counts, failed = Counter[str](), 0
    for number in range(-(-asked.kills // KILLS)):
        seed = asked.seed + number
        folder = Path(tempfile.mkdtemp(prefix=f"kill-{seed}-"))
        episode = Episode(seed, folder, durability=asked.durability)
        asyncio.run(episode.run(min(KILLS, asked.kills - number * KILLS)))
        counts += episode.counts
        if episode.complaints:
            failed += 1
            print(f"seed {seed} failed, its folder is {folder}", *episode.complaints[:SHOWN], sep="\n  ", flush=True)
        else:
            shutil.rmtree(folder)
        print(f"seed {seed}: {_shown(episode.counts)}", flush=True)
    print(f"{failed} episodes failed; {_shown(counts)}")
    return 1 if failed else 0


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())
