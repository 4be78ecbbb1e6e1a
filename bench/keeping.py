"""Payments a second with what writes them down, beside the same server without: on disk, and on the tape in memory."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.rounds import WARM_UP_REQUESTS, WARM_UP_S, Cell, Plan, Side, Subject
from bench.servers import ROOT, SIMULATOR, Cores, pinned, running
from bench.workloads import WORKLOADS, client_of, fill_wallet, serving_command

PAYING = next(workload for workload in WORKLOADS if workload.name == "topup")
TAPELESS = (*SIMULATOR[:-1], str(ROOT / "bench" / "tapeless.yaml"))


@dataclass(frozen=True, slots=True)
class Compared:
    """Two servers: `without` and `kept`, in whose command FOLDER is a new folder."""

    name: str
    title: str
    without: Sequence[str]
    kept: Sequence[str]


def compared(serve: Sequence[str] = SIMULATOR) -> list[Compared]:
    """What is measured. Only the simulator of this source is known to have a scenario without a tape."""
    rows = [
        Compared(
            f"kept-{durability}",
            f"creates, --durability {durability} to memory",
            serve,
            [*serve, "--data-dir", "FOLDER", "--durability", durability],
        )
        for durability in ("process", "power")
    ]
    return [*rows, Compared("taped", "creates, a tape to no tape", TAPELESS, SIMULATOR)]


def measure_keeping(plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> list[Cell]:
    """One cell for each comparison, at the largest number of connections: one server idle while the other is asked."""
    return [_cell(one, plan, cores) for one in compared(serve)]


def _cell(one: Compared, plan: Plan, cores: Cores) -> Cell:
    connections = max(plan.connections)
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder, "data"))
        commands = [
            serving_command(PAYING, [data if word == "FOLDER" else word for word in command])
            for command in (one.without, one.kept)
        ]
        with running(commands[0], cores) as without, running(commands[1], cores) as kept, pinned(cores.load):
            sides: list[Subject] = []
            for server in (without, kept):
                client = client_of(server)
                fill_wallet(client)
                sides.append(Subject(server, PAYING, PAYING.prepare(client)))
            for side in sides:
                side.measured(side.batch(WARM_UP_REQUESTS), connections, WARM_UP_S)
            pairs = [_pair(sides, connections, plan.seconds, place) for place in range(plan.rounds)]
    return Cell(one.name, one.title, connections, tuple(pairs))


def _pair(sides: Sequence[Subject], connections: int, seconds: float, place: int) -> tuple[Side, Side]:
    """Each is the first in every other pair, so that the order favours neither."""
    order = (0, 1) if place % 2 else (1, 0)
    measured = {one: sides[one].measured(sides[one].requests(seconds), connections, seconds) for one in order}
    return measured[0], measured[1]
