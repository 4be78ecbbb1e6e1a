"""From being started to answering: the installed simulator, the bare server and a Python that does nothing, in turn.

Beside it what one run of `exec` takes, and how much memory a server that was just started holds.
"""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bench.installed import Installed, installed
from bench.servers import BARE, ROOT, SIMULATOR, BenchError, Cores, ask, pinned, running
from bench.workloads import client_of, is_balance, send_all

SETTLES_S = 3.0  # after the start the simulator imports what later requests need
EXEC_TIMEOUT_S = 60.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Startup:
    """Seconds from the spawn of the process, one entry a run; entries of one index were taken in turn."""

    health_s: tuple[float, ...]  # ours: the first 200 of GET /_sim/health
    signed_s: tuple[float, ...]  # ours: the first 200 of a signed GET /v2/balance
    bare_s: tuple[float, ...]  # the bare server: its first 200
    python_s: tuple[float, ...]  # `python -c pass`, from spawn to exit
    exec_s: tuple[float, ...] = ()  # `reseller-sim exec -- true`, from spawn to exit; none for another server
    answered_mib: float | None = None  # resident memory with the first signed answer
    settled_mib: float | None = None  # the same when everything is imported

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
    with _programs(serve) as (command, python, program):
        bare_command = (python, *BARE[1:])
        health, signed, bare, nothing, whole = [], [], [], [], []
        for _ in range(runs + 1):
            bare.append(bare_start_s(bare_command, cores))
            first, second = our_starts_s(command, cores)
            health.append(first)
            signed.append(second)
            nothing.append(_finished([python, "-c", "pass"], cores))
            if program:
                whole.append(_finished([program, "exec", "--", "true"], cores))
        memory = _memory_mib(command, cores)
    health_s, signed_s, bare_s, python_s, exec_s = (tuple(each[1:]) for each in (health, signed, bare, nothing, whole))
    return Startup(health_s, signed_s, bare_s, python_s, exec_s, *memory)


@contextlib.contextmanager
def _programs(serve: Sequence[str]) -> Iterator[tuple[list[str], str, str]]:
    """The command that serves, a Python for what is beside it, and `reseller-sim`, if it is that which is measured."""
    if tuple(serve) != SIMULATOR:
        yield [*serve, "--port", "0", "--json"], sys.executable, ""
        return
    with installed() as found:
        yield _serving(found), found.python, found.command


def _serving(found: Installed) -> list[str]:
    return [found.command, "serve", "--port", "0", "--json"]


def bare_start_s(command: Sequence[str], cores: Cores) -> float:
    """Seconds from a start of the bare server to its first answer."""
    with running(command, cores) as server:
        ask(server, "GET", "/")
        return time.perf_counter() - server.spawned


def our_starts_s(command: Sequence[str], cores: Cores) -> tuple[float, float]:
    """Seconds from a start of ours to its first answer, and from another one to its first signed one."""
    with running(command, cores) as server:
        ask(server, "GET", "/_sim/health")
        health_s = time.perf_counter() - server.spawned
    return health_s, signed_start(command, cores)[0]


def signed_start(command: Sequence[str], cores: Cores) -> tuple[float, float | None]:
    """Seconds from a start of ours to its first signed answer, and its resident memory in MiB then."""
    with running(command, cores) as server:
        client = client_of(server)
        send_all(client, [client.request("GET", "/v2/balance")], is_balance)
        taken_s, answered = time.perf_counter() - server.spawned, server.resident_bytes()
        return taken_s, answered / MIB if answered else None


def _finished(command: Sequence[str], cores: Cores) -> float:
    with pinned(cores.server):
        begun = time.perf_counter()
        done = subprocess.run(  # noqa: S603 - ours
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=EXEC_TIMEOUT_S
        )
        taken = time.perf_counter() - begun
    if done.returncode:
        raise BenchError(f"{' '.join(command)} exited with {done.returncode}")
    return taken


def _memory_mib(command: Sequence[str], cores: Cores) -> tuple[float | None, float | None]:
    with running(command, cores) as server:
        client = client_of(server)
        send_all(client, [client.request("GET", "/v2/balance")], is_balance)
        answered = server.resident_bytes()
        time.sleep(SETTLES_S)
        settled = server.resident_bytes()
    return (answered / MIB if answered else None), (settled / MIB if settled else None)
