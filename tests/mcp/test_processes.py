"""The server as hosts run it: a process that speaks on stdin and stdout, and the official client before it."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import pytest
from mcp import MCPError

from reseller_sim import NotRunning, Sandbox, Simulator
from tests.support.assistants import call, hosted, played
from tests.support.processes import DEADLINE_S, PROGRAM, environment, free_port, run, serving

ORDER = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}
CONNECTED = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1]))).recv(1)"
"""A command that runs until it is ended, and is connected to a port meanwhile."""


def url_in(log: Path) -> str:
    found = re.search(r"the simulator is at (\S+),", log.read_text())
    assert found
    return found[1]


def await_end(url: str) -> None:
    """Wait until no simulator answers."""
    with suppress(NotRunning):
        while Simulator(url).health():
            pass


def await_advance(sandbox: Sandbox, is_advancing: bool) -> None:
    """Wait until a sandbox is being advanced, or is not."""
    while (sandbox.clock()["advancing"] is not None) is not is_advancing:
        pass


def test_a_host_starts_it_uses_it_and_ends_it_with_its_simulator(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def play(stderr: TextIO) -> None:
        async with hosted("--scenario", "bad-day", log=stderr) as client:
            assert len((await client.list_tools()).tools) == 14
            assert len((await client.list_prompts()).prompts) == 2
            assert client.instructions is not None
            assert url_in(log) in client.instructions
            made = await call(client, "create_sandbox")
            assert made.structured["scenario"] == "bad-day"
            sandbox = made.structured["sandbox"]
            refused = await call(client, "payment_story", sandbox=sandbox, refid="order-1")
            assert refused.is_error
            sent = await call(client, "send_request", sandbox=sandbox, method="GET", path="/v2/balance")
            assert sent.structured["status"] == 200

    with log.open("w") as stderr:
        played(play(stderr))
    await_end(url_in(log))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_each_tool_answers_over_stdio(tmp_path: Path, mode: str) -> None:
    """By the protocol of 2026 and by the handshake of earlier ones."""
    given: dict[str, dict[str, object]] = {
        "create_sandbox": {"id": "own"},
        "send_request": {"method": "POST", "path": "/v2/topup", "body": ORDER},
        "advance_clock": {"until": "idle"},
        "add_rule": {"section": "faults", "rule": {"when": {"path": "/v2/balance"}, "then": {"status": 504}}},
        "check_scenario": {"text": "extends: default\n"},
        "payment_story": {"refid": "order-1"},
        "explain_signature": {"n": 1},
        "explore_command": {"command": [sys.executable, "-c", "pass"], "minutes": 0.1},
    }
    about_no_sandbox = {"create_sandbox", "check_scenario", "read_docs", "explore_command"}

    async def play() -> None:
        async with hosted("--allow-commands", folder=tmp_path, mode=mode) as client:
            tools = [one.name for one in (await client.list_tools()).tools]
            assert len(tools) == 15
            for name in (*given, *(name for name in tools if name not in given)):
                sandbox = {} if name in about_no_sandbox else {"sandbox": "own"}
                found = await call(client, name, **given.get(name, {}), **sandbox)
                assert found.is_error is (name == "explore_command"), (name, found.text)
                assert found.text
                if name == "explore_command":
                    assert found.structured["exit_code"] == 3
                    assert "does your command send to RESELLER_BASE_URL" in found.text

    played(play())


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cancelled", "closed"])
def test_the_clock_stops_with_the_call_that_moves_it(how: str) -> None:
    with serving("--port", "0", "--json") as running:
        own = Simulator(running.ready["url"]).sandbox()
        for number in range(6):
            own.call("POST", "/v2/topup", ORDER | {"refid": f"order-{number}"})
        own.replies("callbacks", [{"status": 200, "delay": "400ms"}] * 12)

        async def play() -> None:
            async with hosted("--url", running.ready["url"]) as client:
                moving = asyncio.create_task(call(client, "advance_clock", sandbox=own.id, until="idle"))
                await asyncio.to_thread(await_advance, own, True)
                if how == "cancelled":
                    moving.cancel()
                    await asyncio.to_thread(await_advance, own, False)
                    assert not (await call(client, "list_requests", sandbox=own.id)).is_error
            moving.cancel()

        played(play())
        await_advance(own, False)
        assert own.clock()["pending"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cancelled", "closed"])
def test_an_exploration_and_its_command_end_with_the_call(tmp_path: Path, how: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-c", CONNECTED, str(server.getsockname()[1])]

        async def play(stderr: TextIO) -> socket.socket:
            async with hosted("--allow-commands", folder=tmp_path, log=stderr) as client:
                running = asyncio.create_task(call(client, "explore_command", command=command))
                connection, _ = await asyncio.to_thread(server.accept)
                connection.settimeout(DEADLINE_S)
                running.cancel()
                if how == "cancelled":
                    assert await asyncio.to_thread(connection.recv, 1) == b""
                    assert not (await call(client, "list_requests")).is_error
                return connection

        with (tmp_path / "log").open("w") as stderr, played(play(stderr)) as connection:
            assert connection.recv(1) == b""
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.slow
def test_a_simulator_that_stops_is_an_error_of_each_call() -> None:
    with serving("--port", "0", "--json") as running:

        async def play() -> None:
            async with hosted("--url", running.ready["url"]) as client:
                assert not (await call(client, "list_requests")).is_error
                running.process.kill()
                running.process.wait()
                for tool in ("list_requests", "create_sandbox", "audit_client"):
                    refused = await call(client, tool)
                    assert refused.is_error
                    assert "no simulator answers at" in refused.text
                assert not (await call(client, "read_docs", page="signing")).is_error

        played(play())


@pytest.mark.slow
def test_a_host_learns_that_the_server_was_killed(tmp_path: Path) -> None:
    log, pid = tmp_path / "log", tmp_path / "pid"

    async def play(stderr: TextIO) -> None:
        async with hosted(log=stderr, pid=pid) as client:
            await asyncio.to_thread(lambda: os.kill(int(pid.read_text()), signal.SIGKILL))
            with pytest.raises(MCPError):
                await call(client, "list_requests")

    with log.open("w") as stderr:
        played(play(stderr))
    await_end(url_in(log))


WRONG_LINES = {  # a line of a host, and the code of the answer, if there is one
    "not JSON": -32700,
    '{"jsonrpc": "2.0", "id": 1': -32700,
    "\ufffd": -32700,
    "": None,
    "  ": None,
    "[]": -32600,
    '"text"': -32600,
    "{}": -32600,
    '{"jsonrpc": "2.0", "id": 5}': -32600,
    '{"jsonrpc": "1.0", "id": 6, "method": "ping"}': -32600,
    '{"jsonrpc": "2.0", "id": 7, "method": 8}': -32600,
}


def test_a_line_that_is_no_message_is_answered_with_an_error_and_breaks_nothing() -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [*WRONG_LINES, json.dumps(ask | {"params": about})]
    done = subprocess.run(
        [*PROGRAM, "mcp"],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        env=environment(),
        check=False,
    )
    *refusals, initialized = map(json.loads, done.stdout.splitlines())
    assert [(refusal["id"], refusal["error"]["code"]) for refusal in refusals] == [
        (None, code) for code in WRONG_LINES.values() if code is not None
    ]
    assert (initialized["id"], initialized["result"]["serverInfo"]["name"]) == (1, "reseller-sim")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_simulator_that_does_not_answer_is_reported_at_the_start() -> None:
    nobody = run("mcp", "--url", f"http://127.0.0.1:{free_port()}")
    assert "reseller-sim mcp: no simulator answers at" in nobody.only_error_line
    with serving("--port", "0", "--json", "--control-token", "control-token-0123456789") as running:
        url = running.ready["url"]
        refused = run("mcp", "--url", url, "--token", "another-token-0123456789")
        assert "401 control_token_required" in refused.only_error_line
        missing = run("mcp", "--url", url, "--token", "control-token-0123456789", "--sandbox", "missing")
        assert "there is no sandbox 'missing'" in missing.only_error_line
