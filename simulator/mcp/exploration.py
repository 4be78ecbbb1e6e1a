"""The tool `explore_command`: runs `reseller-sim explore` over a command of the user's, for a bounded time."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, STDOUT
from typing import Final

import anyio

from reseller_sim import launcher
from simulator.mcp.tools import ToolAnswer, text_schema, tool

MINUTES_MAX: Final = 30
VERDICTS: Final = {
    0: "The command survived every fault that was tried.",
    1: "Faults were found under which the command fails.",
    3: "It could not be explored; the last lines say why.",
}
COMMAND: Final = {"type": "array", "items": {"type": "string"}, "minItems": 1}
SCENARIO: Final = text_schema("The name of a bundled scenario or the path of a file; default.") | {
    "pattern": "^[^-]",
    "x-must-be": "a name or a path, and not begin with '-'",
}


@tool(
    {
        "command": COMMAND | {"description": "The program and its arguments."},
        "minutes": {"type": "number", "minimum": 0.01, "maximum": MINUTES_MAX, "description": "When to end; 1."},
        "scenario": SCENARIO,
    },
    changes=True,
)
async def explore_command(command: list[str], minutes: float = 1.0, scenario: str = "default") -> ToolAnswer:
    """Run a command again and again, each time against a simulator of its own with other faults, and find those under
    which it fails. The command finds its simulator by RESELLER_BASE_URL, RESELLER_API_KEY and RESELLER_API_SECRET.
    Findings are written to the folder `explored`, as scenario files; findings of an earlier exploration are deleted."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, launcher.__file__, "explore", scenario, "--minutes", f"{minutes:g}", "--", *command),
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
        env={name: value for name, value in os.environ.items() if not name.startswith("RESELLER_")},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        printed = await process.stdout.read()
        status = await process.wait()
    finally:
        process.stdin.close()  # a call that is cancelled ends it so, and so does the end of this process
        with anyio.CancelScope(shield=True):
            await process.communicate()
    verdict = VERDICTS.get(status, f"The exploration ended with exit code {status}.")
    if is_empty := status == 0 and b"single faults: 0 of " in printed:
        verdict = "No fault was tried: pass more minutes."
    lines = printed.decode("utf-8", "replace").splitlines()
    return ToolAnswer(verdict, {"exit_code": status}, lines, is_error=is_empty or status not in (0, 1))
