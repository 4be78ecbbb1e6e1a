"""`python -m simulator` as real processes: run to the end, or serving until the test is done with it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from tests.support.client import Response
from tests.support.contract_check import assert_in_contract

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "simulator"]
DEADLINE_S = 60.0  # half a second of work takes twenty seconds on a busy machine
REQUEST_ID = "x-sim-request-id"
SERVED_S = 900.0  # a server may be shared by all tests of a module, on a machine that is busy


# A shell's background processes ignore interrupts, and the processes of nohup ignore hang-ups. Their children would
# inherit this.
for number, default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, default)


@dataclass(frozen=True)
class Done:
    """The result of a process."""

    status: int
    out: str
    err: str

    @property
    def only_error_line(self) -> str:
        """The one line on stderr; nothing on stdout."""
        assert not self.out, self.out
        assert self.err.count("\n") == 1, self.err
        return self.err.strip()


def free_port() -> int:
    """Return a free port of 127.0.0.1."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def environment(**changes: str) -> dict[str, str]:
    """Return this process's environment without a developer's settings for the simulator or `make`."""
    ours = ("RESELLER_", "MAKE", "MFLAGS", "ARGS")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return clean | changes


def run(*arguments: str, body: bytes = b"", **variables: str) -> Done:
    """Run a verb to its end."""
    done = subprocess.run(
        [*PROGRAM, *arguments],
        input=body,
        capture_output=True,
        timeout=DEADLINE_S,
        env=environment(**variables),
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@dataclass
class Serving:
    """A server that said it is ready: `first_line` is that line."""

    process: subprocess.Popen[str]
    first_line: str

    @property
    def ready(self) -> dict[str, Any]:
        """The line of `--json`."""
        ready: dict[str, Any] = json.loads(self.first_line)
        return ready

    @property
    def out(self) -> IO[str]:
        """The rest of its stdout."""
        assert self.process.stdout is not None
        return self.process.stdout

    def stop(self, number: int) -> tuple[int, str, str]:
        """Send a signal, wait for the end: exit code, the rest of stdout, stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode, out, err


@contextmanager
def serving(
    *arguments: str,
    verb: str = "serve",
    folder: str = "",
    served_s: float = SERVED_S,
    through: Sequence[str] = (),
    **variables: str,
) -> Iterator[Serving]:
    """Start a server, wait for its first line, and kill it at the end if it still runs. `through` is the program that
    starts it, if any."""
    process = subprocess.Popen(
        [*through, *PROGRAM, verb, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder or None,
        env=environment(**variables) | ({"PYTHONPATH": str(ROOT)} if folder else {}),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    killer = threading.Timer(served_s, process.kill)
    killer.start()
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield Serving(process, line)
    finally:
        killer.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def ask(
    url: str,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = DEADLINE_S,
) -> Response:
    """Send a request unchanged. Raises `TimeoutError` when no answer comes in time."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    target = url.split("://", 1)[1].partition("/")[2]
    connection = HTTPConnection(parts.hostname, parts.port, timeout=timeout_s)
    try:
        connection.request(method, f"/{target}", body, dict(headers or {}))
        response = connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        body_answered = response.read()
    finally:
        connection.close()
    if REQUEST_ID in names:  # it is a simulator's, or one that a proxy passed on
        assert_in_contract(method, f"/{target}", response.status, names, body_answered)
    return Response(response.status, names, body_answered)
