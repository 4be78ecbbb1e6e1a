"""From being started to answering: the simulator, the bare server and a Python that does nothing, taken in turn."""

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.servers import BARE, ROOT, SIMULATOR, Cores, ask, pinned, running
from bench.workloads import client_of, is_balance, send_all


@dataclass(frozen=True, slots=True)
class Startup:
    """Seconds from the spawn of the process, one entry a run; entries of one index were taken in turn."""

    health_s: tuple[float, ...]  # ours: the first 200 of GET /_sim/health
    signed_s: tuple[float, ...]  # ours: the first 200 of a signed GET /v2/balance
    bare_s: tuple[float, ...]  # the bare server: its first 200
    python_s: tuple[float, ...]  # `python -c pass`, from spawn to exit

    def ratios(self) -> list[float]:
        """The time of ours until the first signed answer, in times of the bare server's first answer."""
        return [ours / bare for ours, bare in zip(self.signed_s, self.bare_s, strict=True)]

    def overheads_s(self) -> list[float]:
        """What ours takes beyond the bare server, until the first signed answer."""
        return [ours - bare for ours, bare in zip(self.signed_s, self.bare_s, strict=True)]

    def typical(self, figure: str) -> float:
        """The median of one of the fields."""
        return float(median(getattr(self, figure)))


def measure_startup(runs: int, cores: Cores, serve: Sequence[str] = SIMULATOR) -> Startup:
    """`runs` starts of each, after one that fills the bytecode caches and is not counted."""
    command = [*serve, "--port", "0", "--json"]
    health, signed, bare, python = [], [], [], []
    for _ in range(runs + 1):
        bare.append(_bare(cores))
        first, second = _ours(command, cores)
        health.append(first)
        signed.append(second)
        python.append(_python(cores))
    return Startup(tuple(health[1:]), tuple(signed[1:]), tuple(bare[1:]), tuple(python[1:]))


def _bare(cores: Cores) -> float:
    with running(BARE, cores) as server:
        ask(server, "GET", "/")
        return time.perf_counter() - server.spawned


def _ours(command: Sequence[str], cores: Cores) -> tuple[float, float]:
    with running(command, cores) as server:
        ask(server, "GET", "/_sim/health")
        health_s = time.perf_counter() - server.spawned
        client = client_of(server)
        send_all(client, [client.request("GET", "/v2/balance")], is_balance)
        return health_s, time.perf_counter() - server.spawned


def _python(cores: Cores) -> float:
    with pinned(cores.server):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True, cwd=ROOT)
        return time.perf_counter() - begun
