"""The processes that are measured: how they are started, pinned, asked and stopped."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reseller_sim.exchange import Unanswered, exchange

ROOT = Path(__file__).resolve().parent.parent
READY_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
NOT_INHERITED = ("RESELLER_SIM_", "PYTHONDONTWRITEBYTECODE")

BARE = (sys.executable, "-m", "bench.bare", "--port", "0")
SIMULATOR = (sys.executable, "-m", "simulator", "serve", str(ROOT / "bench" / "unlimited.yaml"))


class BenchError(Exception):
    """Something went wrong that makes a figure meaningless; the text says what."""


@dataclass(frozen=True, slots=True)
class Cores:
    """The CPU of the load generator and the CPU of the servers; None where processes cannot be pinned."""

    load: int | None
    server: int | None


def choose_cores() -> Cores:
    """Two CPUs that this process may use, the load's first."""
    if sys.platform != "linux":
        return Cores(None, None)
    usable = sorted(os.sched_getaffinity(0))
    return Cores(usable[0], usable[1]) if len(usable) > 1 else Cores(None, None)


@contextlib.contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """This process on one CPU for a while; what it spawns meanwhile stays there."""
    if sys.platform != "linux" or core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `ready` is the JSON line it printed, `spawned` the `perf_counter` before it was started."""

    process: subprocess.Popen[bytes]
    ready: dict[str, Any]
    spawned: float

    @property
    def url(self) -> str:
        return str(self.ready["url"])

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or "127.0.0.1"

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 80

    @property
    def netloc(self) -> str:
        return f"{self.host}:{self.port}"

    def cpu_s(self) -> float | None:
        """CPU seconds used so far, to a clock tick; None where /proc does not tell."""
        try:
            stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:
            return None
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def waited_s(self) -> float | None:
        """Seconds in which its main thread could have run and had no core; None where /proc does not tell."""
        try:
            return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return None

    def resident_bytes(self) -> int | None:
        """Resident memory; None where /proc does not tell."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except OSError:
            return None
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def running(command: Sequence[str], cores: Cores) -> Iterator[Server]:
    """A server that has printed its ready line, stopped on the way out.

    Settings of the caller's shell (`RESELLER_SIM_*`) do not reach it, and it keeps its bytecode as any installation
    does, or it would be compiling that is measured at the start. Raises `BenchError` when it does not come up.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith(NOT_INHERITED)}
    with tempfile.TemporaryFile() as stderr:
        with pinned(cores.server):
            spawned = time.perf_counter()
            process = subprocess.Popen(  # noqa: S603 - the command is ours or the one the user asked to measure
                command, stdout=subprocess.PIPE, stderr=stderr, cwd=ROOT, env=environment
            )
        try:
            yield Server(process, _ready_line(process, command), spawned)
        except BenchError as error:
            stderr.seek(0)
            said = stderr.read().decode(errors="replace").strip()[-2000:]
            raise BenchError(f"{error}\n{said}" if said else str(error)) from error
        finally:
            stop(process)


def _ready_line(process: subprocess.Popen[bytes], command: Sequence[str]) -> dict[str, Any]:
    assert process.stdout is not None
    killer = threading.Timer(READY_TIMEOUT_S, process.kill)
    killer.start()
    try:
        line = process.stdout.readline()
    finally:
        killer.cancel()
    try:
        ready = json.loads(line)
    except ValueError:
        ready = None
    if not isinstance(ready, dict) or "url" not in ready:
        raise BenchError(f"{' '.join(command)}: no ready line with a url, but {line!r}")
    return ready


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that was started here, by force when it does not follow."""
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def ask(server: Server, method: str, path: str, body: object = None) -> dict[str, Any]:
    """One unsigned request, a control call mostly: the JSON object of a 2xx answer, else `BenchError`."""
    payload = None if body is None else json.dumps(body).encode()
    sent = {} if payload is None else {"Content-Type": "application/json"}
    if token := server.ready.get("control_token"):
        sent["Authorization"] = f"Bearer {token}"
    try:
        response = exchange(method, server.url + path, payload, sent, READY_TIMEOUT_S)
    except Unanswered as error:
        raise BenchError(f"{method} {path} was not answered: {error}") from error
    if response.status // 100 != 2:
        raise BenchError(f"{method} {path} answered {response.status}: {response.body[:500]!r}")
    return dict(json.loads(response.body or b"{}"))
