"""Payments of two servers of ours by turns, one of which writes them down; and on one server, a wrong signature beside
an accepted request."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.rounds import Cell, Plan, Subject, by_turns, served
from bench.servers import SIMULATOR, Cores, pinned, running
from bench.sign import nonce
from bench.workloads import NAMED, Batch, Client, Workload, client_of, fill_wallet, is_refused, serving_command, topup

PAYING = NAMED["topup"]
OTHER_SECRET = "YW5vdGhlci1zZWNyZXQtb25seS1mb3ItdGhlLWJlbmNo"
MISSING = "not measured: postgres: PostgreSQL is not installed (apt-get install postgresql)"
REFUSED = {"refused-secret": "requery", "refused-secret-creates": "topup"}
"""A topup with a wrong secret, which no diagnosis finds, beside these workloads."""


def keeping(plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> Iterator[Cell]:
    """Yield the cells of a server with a data folder, to the same server in memory."""
    with tempfile.TemporaryDirectory() as folder:
        for durability in ("process", "power"):
            kept = [*serve, "--data-dir", str(Path(folder, durability)), "--durability", durability]
            title = f"creates, --durability {durability} to memory"
            yield from _servers(f"kept-{durability}", title, serve, kept, plan, cores)


def postgres(plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> Iterator[Cell]:
    """Yield the cells of a server with `--store`, to the same server in memory and to one with a data folder.
    PostgreSQL runs on this machine in a temporary folder, and shares the cores with the servers."""
    from tests.support import postgres  # imports psycopg

    if shutil.which(postgres.initdb() or "") is None:
        print(MISSING, file=sys.stderr)
        return
    with postgres.postgres("fsync=on") as server, tempfile.TemporaryDirectory() as folder:
        for name, without in (("memory", serve), ("--data-dir", [*serve, "--data-dir", folder])):
            kept = [*serve, "--store", server.database()]
            yield from _servers(f"postgres{name}", f"creates, --store to {name}", without, kept, plan, cores)


def refusals(plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> Iterator[Cell]:
    """Yield the cells of refused topups to accepted requests, which take turns on the same server."""
    for name, accepted in REFUSED.items():
        title = f"topup, wrong secret, to {NAMED[accepted].title}"
        with served(NAMED[accepted], cores, serve) as good, pinned(cores.load):
            refused = Subject(good.client, Workload(name, title, _refused, is_refused, status=401))
            yield from by_turns(name, title, (good, refused), plan)


def _refused(client: Client) -> Batch:
    other = replace(client, secret=OTHER_SECRET)
    return lambda count: [topup(other, nonce()) for _ in range(count)]


def _servers(
    name: str, title: str, without: Sequence[str], kept: Sequence[str], plan: Plan, cores: Cores
) -> list[Cell]:
    """Return the cells of two servers: one is idle while the other is asked."""
    commands = [serving_command(PAYING, command) for command in (without, kept)]
    with running(commands[0], cores) as one, running(commands[1], cores) as other, pinned(cores.load):
        clients = [client_of(server) for server in (one, other)]
        for client in clients:
            fill_wallet(client)
        return by_turns(name, title, [Subject(client, PAYING) for client in clients], plan)
