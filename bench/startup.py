"""From being started to answering: the installed simulator, the bare server and a Python that does nothing, in turn.

Beside it what one run of `exec` takes, and how much memory a server that was just started holds.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from bench.installed import Installed, installed
from bench.servers import BARE, ROOT, SIMULATOR, BenchError, Cores, ask, pinned, running
from bench.workloads import client_of, has, send_all

SETTLES_S = 3.0  # after the start the simulator imports what later requests need
EXEC_TIMEOUT_S = 60.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Startup:
    """Seconds from the spawn of the process, one entry a run; entries of one index were taken in turn."""

    signed_s: tuple[float, ...]  # ours: the first 200 of a signed GET /v2/balance
    bare_s: tuple[float, ...]  # the bare server: its first 200
    python_s: tuple[float, ...]  # `python -c pass`, from spawn to exit
    exec_s: tuple[float, ...] = ()  # `reseller-sim exec -- true`, from spawn to exit; none for another server
    settled_mib: tuple[float, ...] = ()  # resident memory when everything is imported

    def ratios(self) -> list[float]:
        """The time of ours until the first signed answer, in times of the bare server's first answer."""
        return [ours / bare for ours, bare in zip(self.signed_s, self.bare_s, strict=True)]


def measure_startup(runs: int, cores: Cores, serve: Sequence[str] = SIMULATOR) -> Startup:
    """`runs` starts of each, after one that fills the bytecode caches and is not counted."""
    is_ours = tuple(serve) == SIMULATOR
    with installed() if is_ours else nullcontext(Installed(sys.executable, "")) as found:
        command = [*([found.command, "serve"] if is_ours else serve), "--port", "0", "--json"]
        signed, bare, nothing, whole = [], [], [], []
        for _ in range(runs + 1):
            bare.append(bare_start_s((found.python, *BARE[1:]), cores))
            signed.append(signed_start(command, cores)[0])
            nothing.append(_finished([found.python, "-c", "pass"], cores))
            if is_ours:
                whole.append(_finished([found.command, "exec", "--", "true"], cores))
        _, memory = signed_start(command, cores, SETTLES_S)
    signed_s, bare_s, python_s, exec_s = (tuple(each[1:]) for each in (signed, bare, nothing, whole))
    return Startup(signed_s, bare_s, python_s, exec_s, () if memory is None else (memory,))


def bare_start_s(command: Sequence[str], cores: Cores) -> float:
    """Seconds from a start of the bare server to its first answer."""
    with running(command, cores) as server:
        ask(server, "GET", "/")
        return time.perf_counter() - server.spawned


def signed_start(command: Sequence[str], cores: Cores, settles_s: float = 0.0) -> tuple[float, float | None]:
    """Seconds from a start of ours to its first signed answer, and its resident memory in MiB some time later."""
    with running(command, cores) as server:
        client = client_of(server)
        send_all(client, [client.request("GET", "/v2/balance")], has("data"))
        taken_s = time.perf_counter() - server.spawned
        time.sleep(settles_s)
        resident = server.resident_bytes()
        return taken_s, resident / MIB if resident else None


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
