"""`make campaign-kill`: 200 servers killed under load, in episodes of ten on one folder, each with its own seed.

Five more servers are killed after each episode, while 200 callbacks are due at once and their receiver hangs."""

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tools.kills.burst import Burst
from tools.kills.episode import Episode

KILLS = 10
BURST_KILLS = 5
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
        for kind, kills in ((Episode, min(KILLS, asked.kills - number * KILLS)), (Burst, BURST_KILLS)):
            folder = Path(tempfile.mkdtemp(prefix=f"kill-{seed}-"))
            episode = kind(seed, folder, durability=asked.durability)
            asyncio.run(episode.run(kills))
            counts += episode.counts
            failed += bool(episode.complaints)
            _report(kind.__name__.lower(), episode)
    print(f"{failed} episodes failed; {_shown(counts)}")
    return 1 if failed else 0


def _report(name: str, episode: Episode | Burst) -> None:
    seed, folder = episode.seed, episode.folder
    if episode.complaints:
        text = f"{name} of seed {seed} failed, its folder is {folder}"
        print(text, *episode.complaints[:SHOWN], sep="\n  ", flush=True)
    else:
        shutil.rmtree(folder)
    print(f"{name} of seed {seed}: {_shown(episode.counts)}", flush=True)


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())
