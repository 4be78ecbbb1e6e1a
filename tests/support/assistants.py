"""Hosts of an assistant: the official client of the protocol, with our server in this process or in a child process."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeVar

import mcp.types as types
from mcp import Client, StdioServerParameters, stdio_client

from reseller_sim import Simulator
from simulator.mcp.stdio_server import Assistant
from tests.support.processes import DEADLINE_S, PROGRAM, ROOT, environment

T = TypeVar("T")


class Result(NamedTuple):
    """The answer of a tool."""

    text: str
    structured: dict[str, Any]
    is_error: bool

    @property
    def lines(self) -> list[str]:
        """The lines that are marked as data, without the mark."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("│ ")]


async def call(client: Client, tool: str, **arguments: Any) -> Result:
    """Call a tool."""
    found = await client.call_tool(tool, arguments)
    (content,) = found.content
    assert isinstance(content, types.TextContent)
    return Result(content.text, found.structured_content or {}, found.is_error)


def within(
    simulator: Simulator,
    play: Callable[[Client], Awaitable[T]],
    *,
    may_run_commands: bool = False,
    is_own: bool = False,
) -> T:
    """Do something with a client of a server in this process."""

    async def playing() -> T:
        server = Assistant(simulator, "default", may_run_commands=may_run_commands, is_own=is_own).server()
        async with Client(server) as client:
            return await play(client)

    return asyncio.run(asyncio.wait_for(playing(), DEADLINE_S))


def answer(simulator: Simulator, tool: str, **arguments: Any) -> Result:
    """Call one tool of a server in this process."""
    return within(simulator, lambda client: call(client, tool, **arguments))


@asynccontextmanager
async def hosted(
    *arguments: str,
    folder: Path | None = None,
    log: TextIO | None = None,
    pid: Path | None = None,
    mode: str = "auto",
) -> AsyncIterator[Client]:
    """A client of `reseller-sim mcp` in a process of its own, which writes to `log` on stderr; the file `pid` gets its
    process id."""
    command = [*PROGRAM, "mcp", *arguments]
    if pid is not None:
        command = ["/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"', str(pid), *command]
    server = StdioServerParameters(
        command=command[0], args=command[1:], env=environment(PYTHONPATH=str(ROOT)), cwd=folder
    )
    transport = stdio_client(server, errlog=log or sys.__stderr__ or sys.stderr)
    async with Client(transport, mode=mode, read_timeout_seconds=DEADLINE_S) as client:
        yield client


def played(play: Coroutine[Any, Any, T]) -> T:
    """Run a play to its end."""
    return asyncio.run(asyncio.wait_for(play, 4 * DEADLINE_S))
