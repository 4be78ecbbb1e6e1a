"""Clients that pay at several servers on a PostgreSQL while servers are killed or paused."""

import json
import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import rows_of
from tests.support.processes import DEADLINE_S, Serving, free_port, run
from tests.support.sharing import await_true, control, pay, server

CLIENTS = 4
SANDBOXES = ("one", "two", "three")
PAUSE_S = 0.1
PATIENCE_S = 5.0
"""How long a client waits for an answer. A server that is cut off keeps what it executed waiting for PostgreSQL."""

CHAOS_LEASE_S = 1.0


class Receiver:
    """Receives callbacks, and counts them by refid and status."""

    def __init__(self) -> None:
        received = self.received = defaultdict[tuple[str, str], int](int)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                data = body.get("data", body)
                received[str(data.get("refid")), str(data.get("status"))] += 1
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/callback"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@dataclass
class Load:
    """Clients that pay until they are stopped. Each repeats a payment, with its refid, until it is acknowledged."""

    ports: dict[str, int]
    resellers: list[dict[str, Any]]
    acknowledged: dict[str, str] = field(default_factory=dict)  # sandbox by refid
    repeated: int = 0
    is_over: bool = False
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        self.threads = [threading.Thread(target=self._pay, args=(number,)) for number in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        """Stop when the last payment of each client is acknowledged."""
        self.is_over = True
        for thread in self.threads:
            thread.join(2 * DEADLINE_S)
            assert not thread.is_alive(), "a payment is not acknowledged"

    def _pay(self, client: int) -> None:
        draw = random.Random(client)  # noqa: S311 - a seed
        number = 0
        while not self.is_over:
            number += 1
            refid, sandbox = f"{client}-{number}", draw.choice(SANDBOXES)
            while not self._is_paid(refid, sandbox, draw.choice(list(self.ports.values()))):
                self.repeated += 1
                time.sleep(PAUSE_S)  # sleep: another server takes over
            self.acknowledged[refid] = sandbox

    def _is_paid(self, refid: str, sandbox: str, port: int) -> bool:
        with suppress(OSError, HTTPException, ValueError):
            answer = pay(_at(port, self.resellers), refid, sandbox, PATIENCE_S)
            if answer.status == 200:
                return True
            assert answer.status in (503, 504), answer
        return False


class _Address:
    """The address of a server that may not run, for `pay`."""

    def __init__(self, ready: dict[str, Any]) -> None:
        self.ready = ready


def _at(port: int, resellers: list[dict[str, Any]]) -> Any:
    return _Address({"url": f"http://127.0.0.1:{port}", "resellers": resellers})


@dataclass
class Chaos:
    """Servers under load."""

    database: str
    receiver: Receiver
    stack: ExitStack
    addresses: dict[str, str] = field(default_factory=dict)  # of the database, by server
    ports: dict[str, int] = field(default_factory=dict)
    running: dict[str, Serving] = field(default_factory=dict)
    load: Load = field(init=False)

    def start(self, name: str) -> None:
        """Start a server, again on its port."""
        port = self.ports.setdefault(name, free_port())
        flags = ("--port", str(port), "--callback", self.receiver.url, "--callbacks", "any", "--quiet")
        address = self.addresses.get(name, self.database)
        self.running[name] = self.stack.enter_context(server(address, *flags, lease_s=CHAOS_LEASE_S))

    def begin(self, *names: str) -> None:
        """Start servers, sandboxes and clients."""
        for name in names:
            self.start(name)
        first = self.running[names[0]]
        for sandbox in SANDBOXES:
            body = {"id": sandbox, "clock": {"mode": "xN", "rate": 10}}
            assert control(first, "POST", "/sandboxes", body).status == 201
            deposit = {"amount": 1_000_000}
            path = f"/sandboxes/{sandbox}/resellers/{first.ready['resellers'][0]['code']}/deposits"
            assert control(first, "POST", path, deposit).status == 201
        self.load = Load(self.ports, first.ready["resellers"])
        self.load.start()

    def await_payments(self, count: int) -> None:
        """Wait until the clients have made so many more payments."""
        wanted = len(self.load.acknowledged) + count
        await_true(lambda: len(self.load.acknowledged) >= wanted)

    def judge(self, folder: Path) -> None:
        """Stop the clients, and compare the acknowledged payments with the stored payments."""
        self.load.stop()
        asked = next(iter(self.running.values()))
        for sandbox in SANDBOXES:
            self._await_sandbox(asked, sandbox)
            told = sorted(refid for refid, of in self.load.acknowledged.items() if of == sandbox)
            stored = [row["refid"] for row in _pages(asked, f"/sandboxes/{sandbox}/transactions", "transactions")]
            assert sorted(stored) == told
            assert control(asked, "GET", f"/sandboxes/{sandbox}/invariants").json == {"ok": True, "violations": []}
            self._await_callbacks(asked, sandbox, told)
        for running in self.running.values():
            running.process.kill()
            running.process.wait()
        for sandbox in SANDBOXES:
            tape = str(folder / f"{sandbox}.tape")
            done = run("data", "export", self.database, tape, "--sandbox", sandbox, "--tape")
            assert done.status == 0, done.err
            replayed = run("replay", tape)
            assert replayed.status == 0, replayed.out + replayed.err
        assert rows_of(self.database, "SELECT count(*) FROM lives") == [(len(SANDBOXES) + 1,)]

    def _await_sandbox(self, asked: Serving, sandbox: str) -> None:
        path = f"/sandboxes/{sandbox}"
        try:
            await_true(lambda: control(asked, "GET", path).status == 200)
        except AssertionError:
            answer = control(asked, "GET", path)
            leases = rows_of(self.database, "SELECT id, is_fenced, lease_ends::text FROM servers")
            pytest.fail(f"{path} answers {answer.status} {answer.body!r}; servers: {leases}")

    def _await_callbacks(self, asked: Serving, sandbox: str, told: list[str]) -> None:
        try:
            await_true(lambda: all(self._was_called_back(refid) for refid in told))
        except AssertionError:
            missing = [refid for refid in told if not self._was_called_back(refid)]
            attempts = control(asked, "GET", f"/sandboxes/{sandbox}/callbacks?refid={missing[0]}").body
            clock = control(asked, "GET", f"/sandboxes/{sandbox}/clock").body
            pytest.fail(f"no callback came for {missing} of {sandbox}; of the first: {attempts!r}; clock: {clock!r}")

    def _was_called_back(self, refid: str) -> bool:
        return self.receiver.received[refid, "Succesful"] > 0


def _pages(running: Serving, path: str, member: str) -> Iterator[Any]:
    cursor = ""
    while True:
        answer = control(running, "GET", f"{path}?limit=100{cursor}").json
        yield from answer[member]
        if not answer["has_more"]:
            return
        cursor = f"&cursor={answer['cursor']}"


@contextmanager
def chaos(database: str) -> Iterator[Chaos]:
    """Provide servers under load, and end all of them."""
    receiver = Receiver()
    with ExitStack() as stack:
        stack.callback(receiver.close)
        found = Chaos(database, receiver, stack)
        try:
            yield found
        finally:
            if hasattr(found, "load"):
                found.load.is_over = True
