"""A profile of creating topups: the server under cProfile, its functions by own time.

Run as a program, this is the server's side: `python -m bench.profile OUT MODULE ARGS…` runs the module as `python -m`
would, begins to record at SIGUSR1, when starting up is over, and writes what it recorded to OUT when it is terminated.
"""

import contextlib
import cProfile
import io
import os
import pstats
import runpy
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import generators
from bench.rounds import WARM_UP_REQUESTS, WARM_UP_S, measure
from bench.servers import SIMULATOR, BenchError, Cores, pinned, running
from bench.workloads import WORKLOADS, client_of, fill_wallet, serving_command

REQUESTS = 20_000
CONNECTIONS = 16
SECONDS_MAX = 60.0
SHOWN = 25


def profile_topup(cores: Cores, module: Sequence[str] = SIMULATOR[2:]) -> str:
    """A table of the functions with the most own time, in seconds of all requests.

    cProfile charges every Python call, so read the order and not the sum.
    """
    workload = WORKLOADS[0]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "stats")
        recorded = (sys.executable, "-m", "bench.profile", str(out), *module)
        command = serving_command(workload, recorded)
        with running(command, cores) as server, pinned(cores.load):
            client = client_of(server)
            fill_wallet(client)
            batch = workload.prepare(client)
            measure(server, batch(WARM_UP_REQUESTS), CONNECTIONS, WARM_UP_S, workload.check, by=generators.by_ours)
            requests = batch(REQUESTS)
            server.process.send_signal(signal.SIGUSR1)
            side = measure(server, requests, CONNECTIONS, SECONDS_MAX, workload.check, by=generators.by_ours)
        if not out.exists():
            raise BenchError("the server wrote no profile when it was terminated")
        text = io.StringIO()
        pstats.Stats(str(out), stream=text).strip_dirs().sort_stats("tottime").print_stats(SHOWN)
        return f"{side.load.requests} requests{text.getvalue()}"


def main(argv: Sequence[str]) -> None:
    """The server's side; see the module's docstring."""
    out, module, *arguments = argv
    profiler = cProfile.Profile()
    signal.signal(signal.SIGUSR1, lambda *_: profiler.enable())
    # `serve` shuts down at SIGTERM and then ends by `os._exit`, which would write nothing.
    os._exit = lambda status: sys.exit(status)
    sys.argv = [module, *arguments]
    try:
        with contextlib.suppress(SystemExit):
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        profiler.disable()
        profiler.dump_stats(out)


if __name__ == "__main__":
    main(sys.argv[1:])
