"""The server that is killed: a real process that keeps its sandboxes in a folder."""

import asyncio
import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support.processes import DEADLINE_S, PROGRAM, ROOT, environment
from tools.kills.clients import Key

ERRORS = "stderr.txt"


class Died(Exception):
    """A server ended without a kill; the text is its output."""


@dataclass
class Server:
    """A server process. `ready` is its first line, empty before it is printed."""

    process: asyncio.subprocess.Process
    folder: Path
    ready: dict[str, Any]

    @property
    def url(self) -> str:
        """The URL of its APIs."""
        return str(self.ready["url"])

    @property
    def key(self) -> Key:
        """The credentials of the first reseller."""
        reseller = self.ready["resellers"][0]
        return Key(reseller["api_key"], reseller["api_secret"], urlsplit(self.url).netloc)

    def kill(self) -> None:
        """Kill the process if it still runs."""
        if self.process.returncode is None:
            self.process.kill()

    def stop(self) -> None:
        """Send SIGTERM if the process still runs."""
        if self.process.returncode is None:
            self.process.terminate()

    async def ended(self, number: int = signal.SIGKILL) -> None:
        """Wait for the end of the process. Raise `Died` unless this signal ended it."""
        async with asyncio.timeout(DEADLINE_S):
            status = await self.process.wait()
        expected = 0 if number == signal.SIGTERM else -number
        if status != expected:
            raise Died(f"the server ended with {status}: {(self.folder / ERRORS).read_text()[-4000:]}")


async def begin(folder: Path, program: Sequence[str] = PROGRAM, durability: str = "process") -> Server:
    """Start a server with `folder/market.yaml` on `folder/data` and additional arguments."""
    kept = ("--data-dir", str(folder / "data"), "--durability", durability)
    with (folder / ERRORS).open("a") as errors:
        process = await asyncio.create_subprocess_exec(
            *program,
            *("serve", str(folder / "market.yaml"), "--port", "0", "--json", *kept),
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            env=environment(),
        )
    return Server(process, folder, {})


async def is_ready(server: Server) -> bool:
    """Wait for its first line; return False when the process ended first."""
    assert server.process.stdout is not None
    async with asyncio.timeout(DEADLINE_S):
        line = await server.process.stdout.readline()
    if not line.endswith(b"\n"):
        return False
    server.ready = json.loads(line)
    return True
