"""What finished payments leave to the garbage collector, and how long it pauses."""

import gc
import time
from typing import Any

from bench.scale.row import Row
from bench.scale.world import World
from simulator.cli.process import tune_gc

OBJECTS_MAX = 1_000
PAUSE_MS_MAX = 20.0
WARM_UP = 60_000


class Pauses:
    """Measures the collections of each generation by the time of this thread."""

    def __init__(self) -> None:
        self._began = 0.0
        self.longest_ms = [0.0, 0.0, 0.0]
        self.count = [0, 0, 0]

    def __call__(self, phase: str, about: dict[str, Any]) -> None:
        """A callback of `gc`."""
        if phase == "start":
            self._began = time.thread_time()
        else:
            generation = about["generation"]
            self.count[generation] += 1
            took_ms = (time.thread_time() - self._began) * 1e3
            self.longest_ms[generation] = max(self.longest_ms[generation], took_ms)


def measured(count: int = 200_000) -> list[Row]:
    """So many payments over a running server's pipeline, collected as a server does."""
    world = World()
    tune_gc()
    world.pay(WARM_UP)
    pauses = Pauses()
    gc.collect()
    before = len(gc.get_objects())
    gc.callbacks.append(pauses)
    world.pay(count)
    for generation in range(3):  # in a server's order: each has what the one before it left
        gc.collect(generation)
    gc.callbacks.remove(pauses)
    after = len(gc.get_objects())
    world.close()
    title = f"objects that {count:,} payments leave to the collector"
    return [
        Row(title, after - before, "", OBJECTS_MAX),
        *(
            Row(f"the longest of {made:,} pauses of generation {number}", longest, "ms", PAUSE_MS_MAX)
            for number, (made, longest) in enumerate(zip(pauses.count, pauses.longest_ms, strict=True))
        ),
    ]
