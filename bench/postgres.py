"""Payments a second of a server with `--store`, beside the same server in memory and with a data folder.

PostgreSQL runs on this machine in a temporary folder, with its usual settings, and shares the cores with the servers.
"""

import shutil
import sys
from collections.abc import Sequence

from bench.keeping import Compared, measure_keeping
from bench.rounds import Cell, Plan
from bench.servers import SIMULATOR, Cores

MISSING = "not measured: postgres: PostgreSQL is not installed (apt-get install postgresql)"


def measure_postgres(plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> list[Cell]:
    """Return the cells: PostgreSQL to memory, and to a folder. Return none without PostgreSQL, which is said."""
    from tests.support.postgres import initdb, postgres

    if shutil.which(initdb() or "") is None:
        print(MISSING, file=sys.stderr)
        return []
    cells = []
    with postgres("fsync=on") as server:
        for name, title, without in (
            ("postgres-memory", "creates, --store to memory", serve),
            ("postgres-folder", "creates, --store to --data-dir", [*serve, "--data-dir", "FOLDER"]),
        ):
            kept = [*serve, "--store", server.database()]
            cells += measure_keeping(Compared(name, title, without, kept), plan, cores)
    return cells
