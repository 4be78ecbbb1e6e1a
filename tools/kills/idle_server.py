"""The end of an episode: a server runs until it is idle, and its tape and folder are checked."""

import asyncio
from pathlib import Path

from simulator.persistence.maintenance import check
from tests.support.processes import ask, run
from tools.kills.books import SANDBOX
from tools.kills.server import Server


async def advance_until_idle(server: Server) -> None:
    """Let everything that is due happen, deliveries included."""
    headers = {"content-type": "application/json"}
    is_idle = False
    while not is_idle:
        answer = await asyncio.to_thread(
            ask, f"{server.url}{SANDBOX}/clock/advance", "POST", b'{"until":"idle"}', headers
        )
        is_idle = answer.json["idle"]


async def save_tape(server: Server, path: Path) -> None:
    """Write the tape of the default sandbox to a file."""
    tape = await asyncio.to_thread(ask, f"{server.url}{SANDBOX}/tape")
    await asyncio.to_thread(path.write_bytes, tape.body)


def complaints_on_disk(tape: Path, folder: Path) -> tuple[list[str], int]:
    """Return complaints about a tape that does not replay and about a damaged data folder, and the number of its
    snapshots. No server may have the folder open."""
    replayed, checked = run("replay", str(tape)), check(folder)
    complaints = [f"the tape does not replay: {replayed.out}{replayed.err}"] if replayed.status else []
    return [*complaints, *checked.problems], checked.snapshots
