"""A client that hangs up while its sandbox is advanced or its clock set: the work ends and blocks no other client."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.connections import connected
from tests.support.on_the_wire import WiredSandbox, sandbox_with
from tests.support.processes import Serving, ask

pytestmark = pytest.mark.slow

BODY = {"refid": "r1", "product": "RELOAD", "account": "0123456789", "amount": "10"}


def control(sandbox: WiredSandbox, method: str, path: str, body: Any = None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    answer = ask(f"http://127.0.0.1:{sandbox.port}/_sim/sandboxes/{sandbox.id}{path}", method, content)
    assert answer.status == 200, answer.body
    return answer.json


def ask_and_leave(sandbox: WiredSandbox, method: str, path: str, body: Any) -> None:
    """Send a whole request and close the connection without reading."""
    content = json.dumps(body).encode()
    head = f"{method} /_sim/sandboxes/{sandbox.id}{path} HTTP/1.1\r\nHost: localhost\r\n"

    async def leave() -> None:
        async with connected(sandbox.port) as (_, writer):
            writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
            writer.close()
            await writer.wait_closed()

    asyncio.run(leave())


def test_an_advance_is_finished_and_another_may_begin(server: Serving) -> None:
    sandbox = sandbox_with(server)
    control(sandbox, "PUT", "/inbox/callbacks", {"replies": [{"status": 200, "delay": 0.2}]})
    assert b" 200 " in sandbox.pay(BODY)
    ask_and_leave(sandbox, "POST", "/clock/advance", {"until": "idle"})
    assert control(sandbox, "GET", "/callbacks?wait_for=2&timeout=20")["complete"]
    again = control(sandbox, "POST", "/clock/advance", {"until": "idle"})
    assert (again["idle"], again["fired"]) == (True, [])
    assert control(sandbox, "GET", "/invariants")["ok"]


def test_a_clock_is_set_and_what_is_due_then_happens(server: Serving) -> None:
    sandbox = sandbox_with(server, clock="real")
    assert b" 200 " in sandbox.pay(BODY)
    ask_and_leave(sandbox, "PUT", "/clock", {"mode": "xN", "rate": 100_000})
    assert control(sandbox, "GET", "/callbacks?wait_for=2&timeout=20")["complete"]
    assert control(sandbox, "GET", "/clock")["rate"] == 100_000
    assert control(sandbox, "PUT", "/clock", {"mode": "manual"})["mode"] == "manual"
