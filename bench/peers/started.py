"""Servers that print no ready line: started on a free port in a folder of their own, and asked until they answer."""

import contextlib
import http.client
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.peers.mocks import HOST, PATH, Peer, free_port
from bench.servers import BenchError, Cores, Server, pinned, stop

READY_TIMEOUT_S = 60.0
ASKED_EVERY_S = 0.01


@contextlib.contextmanager
def started(peer: Peer, answer: bytes, cores: Cores) -> Iterator[tuple[Server, float]]:
    """A peer that answers a payment, and the seconds from its start to its first answer."""
    path = peer.path()
    if (reason := peer.missing()) or path is None:
        raise BenchError(reason or "it is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        command = peer.command(folder, port, answer, path)
        environment = {**os.environ, "HOME": name}  # what they would write there is gone afterwards
        with pinned(cores.server):
            spawned = time.perf_counter()
            process = subprocess.Popen(  # noqa: S603 - what the user asked to measure
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=name, env=environment
            )
        server = Server(process, {"url": f"http://{HOST}:{port}"}, spawned)
        try:
            _until_it_answers(peer, server, answer)
            yield server, time.perf_counter() - spawned
        finally:
            stop(process)


def _until_it_answers(peer: Peer, server: Server, answer: bytes) -> None:
    while True:
        if server.process.poll() is not None:
            raise BenchError(f"{peer.name} ended with {server.process.returncode} before it answered")
        with contextlib.suppress(OSError, http.client.HTTPException):
            said = _asked(server)
            if said.split() != answer.split():
                raise BenchError(f"{peer.name} answers {said[:200]!r}")
            return
        if time.perf_counter() - server.spawned > READY_TIMEOUT_S:
            raise BenchError(f"{peer.name} did not answer within {READY_TIMEOUT_S:g} s")
        time.sleep(ASKED_EVERY_S)


def _asked(server: Server) -> bytes:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=READY_TIMEOUT_S)
    try:
        connection.request("POST", PATH, b"{}", {"Content-Type": "application/json"})
        return connection.getresponse().read()
    finally:
        connection.close()
