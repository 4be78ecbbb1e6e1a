"""`reseller-sim mcp`: the simulator as tools of an assistant, by the Model Context Protocol on stdin and stdout."""

import json
import os
import shutil
import sys
from pathlib import Path

from simulator.cli.control import path_part
from simulator.cli.flags import TOKEN_VARIABLES, option, own_option, sandbox_flags
from simulator.cli.output import echo
from simulator.cli.usage import CannotStart, notify, verb, with_title, wrong_usage

RANGE = "mcp>=2,<3"
NAME = "reseller-sim"
JSON_HOSTS = (
    "Claude Code: .mcp.json of a project",
    "Claude Desktop: claude_desktop_config.json",
    "Cursor: .cursor/mcp.json of a project or of the home folder",
)


@verb("mcp", "--config", "--url http://127.0.0.1:8080")
@option("--url", metavar="URL", help="The address of a running simulator.  [default: start its own]")
@own_option("--scenario", metavar="NAME|FILE", help="The scenario of the started simulator.  [default: default]")
@own_option("--allow-commands", is_flag=True, help="Offer explore_command, which runs commands of the assistant.")
@own_option("--config", "is_config", is_flag=True, help="Print the configuration for common hosts.")
@sandbox_flags
def mcp_command(
    scenario: str | None,
    allow_commands: bool,
    is_config: bool,
    url: str | None,
    sandbox: str,
    control_token: str | None,
) -> None:
    """A host, such as an editor, starts this command and speaks the protocol with it on stdin and stdout. The command
    starts its own simulator, or with --url uses a running simulator, with the rights of --token. Needs the extra `mcp`.
    Exit code 3 means that the simulator did not start.
    """
    if url is not None and scenario is not None:
        raise wrong_usage(
            "--scenario starts a simulator, and --url uses a running simulator: give only one of these flags"
        )
    if is_config:
        has_token = control_token is not None
        echo(_config(url, sandbox, scenario, has_token=has_token, allow_commands=allow_commands))
        return
    _serve(url, sandbox, scenario, control_token, allow_commands=allow_commands)


def _config(url: str | None, sandbox: str, scenario: str | None, *, has_token: bool, allow_commands: bool) -> str:
    """Return what makes hosts start this command with these flags. The token is left for the user to fill in."""
    path = str(Path(scenario).absolute()) if scenario and Path(scenario).is_file() else scenario
    flags = {"--url": url, "--sandbox": sandbox if sandbox != "default" else None, "--scenario": path}
    given = [part for flag, value in flags.items() if value is not None for part in (flag, value)]
    program = shutil.which(sys.argv[0])  # None when Python runs the package
    start = [sys.executable, "-m", "reseller_sim"] if program is None else [os.path.abspath(program)]
    started = {"command": start[0], "args": [*start[1:], "mcp", *given, *["--allow-commands"] * allow_commands]}
    variables = {"env": {TOKEN_VARIABLES[0]: "YOUR-TOKEN"}} if has_token else {}
    parts = [
        *(f"# {name}" for name in JSON_HOSTS),
        json.dumps({"mcpServers": {NAME: started | variables}}, indent=2),
        "\n# Visual Studio Code: .vscode/mcp.json of a project",
        json.dumps({"servers": {NAME: {"type": "stdio"} | started | variables}}, indent=2),
        "\n# Codex: .codex/config.toml of a project or of the home folder",
        f"[mcp_servers.{NAME}]",
        *(f"{key} = {json.dumps(value)}" for key, value in started.items()),
        *([f'env = {{ {TOKEN_VARIABLES[0]} = "YOUR-TOKEN" }}'] if has_token else []),
    ]
    return "\n".join(parts)


def _serve(url: str | None, sandbox: str, scenario: str | None, token: str | None, *, allow_commands: bool) -> None:
    import asyncio
    import signal

    from reseller_sim import NotRunning, NotStarted, Simulator, SimulatorError

    try:
        from simulator.mcp.stdio_server import Assistant, serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        text = f"the package mcp is missing, or another package has its name ({error})"
        raise CannotStart(f"{text}; install it by: pip install '{RANGE}'") from None
    try:
        simulator = Simulator.start(scenario, scenarios=None) if url is None else Simulator(url, token)
    except NotStarted as error:
        raise CannotStart.of_problems(map(with_title, str(error).splitlines())) from None
    except ValueError as error:
        raise CannotStart(error) from None
    try:
        simulator.control.ask("GET", f"/sandboxes/{path_part(sandbox)}")
        notify(f"the simulator is at {simulator.url}, its console at {simulator.control_url}/")
    except (SimulatorError, NotRunning) as error:  # the tools work as soon as this is mended
        notify(error)
    if sys.stdin.isatty():
        notify("waiting for a host on stdin; --config prints how hosts start this")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a thread that waits for stdin would hold up any other ending
    assistant = Assistant(simulator, sandbox, may_run_commands=allow_commands, is_own=url is None)
    with simulator:
        asyncio.run(serve(assistant))
