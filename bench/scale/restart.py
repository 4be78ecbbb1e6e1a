"""A restart with a hundred thousand open payments: from the start of the process to its first signed answer."""

import tempfile
from pathlib import Path
from statistics import median
from threading import Timer

from bench import load
from bench.scale.row import Row
from bench.servers import BARE, BenchError, Cores, Server, running
from bench.startup import bare_start_s, signed_start
from bench.workloads import NAMED, client_of, fill_wallet, serving_command

PAYMENTS, BATCH, CONNECTIONS = 100_000, 20_000, 32
BATCH_S = 600.0  # a bound; a batch ends with its payments
KILLED_AFTER_S = 2.0
RESTARTS = 3
TARGET_S = 2.0
PAYING = NAMED["topup"]
ANYWHERE = Cores(None, None)


def many(payments: int = PAYMENTS) -> list[Row]:
    """So many payments into a data folder, whose server is killed at full speed; then starts: all but the first
    find a folder at rest."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*serving_command(PAYING), "--data-dir", str(Path(folder, "data"))]
        with running(command, ANYWHERE) as server:
            _pay(server, payments)
        killed_s, _ = signed_start(command, ANYWHERE)
        rested = [signed_start(command, ANYWHERE) for _ in range(RESTARTS)]
    count = f"{payments:,} open payments"
    return [
        Row(f"a start beside {count} to a signed answer", median(at for at, _ in rested), "s", TARGET_S),
        Row("resident memory then", median(size or 0.0 for _, size in rested), "MiB"),
        Row("the same start behind a kill at full speed", killed_s, "s"),
        Row("a start of the bare server to its first answer", bare_start_s(BARE, ANYWHERE), "s"),
    ]


def _pay(server: Server, payments: int) -> None:
    """Make so many payments, then more, in the middle of which the server is killed."""
    client = client_of(server)
    fill_wallet(client)
    batch = PAYING.prepare(client)
    for begin in range(0, payments, BATCH):
        raw = batch(min(BATCH, payments - begin))
        found = load.run(server.host, server.port, raw, connections=CONNECTIONS, seconds=BATCH_S)
        if found.requests != len(raw):
            raise BenchError(f"of {len(raw)} payments {found.requests} were answered")
    more = batch(BATCH)
    Timer(KILLED_AFTER_S, server.process.kill).start()
    load.run(server.host, server.port, more, connections=CONNECTIONS, seconds=BATCH_S)
    server.process.wait()
