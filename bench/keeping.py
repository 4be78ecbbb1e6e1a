"""Payments a second with what writes them down, beside the same server without: on disk, and on the tape in memory."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.rounds import Cell, Plan, Subject, by_turns
from bench.servers import ROOT, SIMULATOR, Cores, pinned, running
from bench.workloads import NAMED, client_of, fill_wallet, serving_command

PAYING = NAMED["topup"]
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


def measure_keeping(one: Compared, plan: Plan, cores: Cores) -> list[Cell]:
    """The cells of a comparison: one server is idle while the other is asked."""
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
                sides.append(Subject(client, PAYING))
            return by_turns(one.name, one.title, sides, plan)
