"""A port that records the exact bytes from curl."""

import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.processes import DEADLINE_S

IS_CURL_HERE = shutil.which("curl") is not None and shutil.which("bash") is not None
_ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Sent(NamedTuple):
    """One request: the words of its first line, its headers' lines, its body."""

    method: bytes
    target: bytes
    headers: list[bytes]
    body: bytes


class Listener:
    """It answers 204 to anything, on one connection after another."""

    def __init__(self, server: socket.socket, folder: Path) -> None:
        self.port: int = server.getsockname()[1]
        self._server, self._folder = server, folder
        self._got: list[Sent] = []

    def serve(self) -> None:
        """Until the socket is closed."""
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(DEADLINE_S)
                self._got.append(_read(connection))
                connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    def run(self, command: str | bytes) -> Sent | None:
        """Return the request that a bash command sends to this port, None without a request. `PORT` in the command is
        replaced by the port."""
        script = os.fsencode(command).replace(b"PORT", str(self.port).encode())
        self._got.clear()
        subprocess.run(
            ["bash", "-c", script],
            capture_output=True, timeout=DEADLINE_S, check=False, env=_ENVIRONMENT, cwd=self._folder,
        )  # fmt: skip
        assert len(self._got) < 2, self._got
        return self._got[0] if self._got else None


@contextmanager
def listening(folder: Path) -> Iterator[Listener]:
    """A listener whose commands run in a folder."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = Listener(server, folder)
        thread = threading.Thread(target=listener.serve)
        thread.start()
        try:
            yield listener
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(DEADLINE_S)


def _read(connection: socket.socket) -> Sent:
    text = b""
    while b"\r\n\r\n" not in text:
        text += connection.recv(65536)
    head, _, body = text.partition(b"\r\n\r\n")
    length = int(found[1]) if (found := _LENGTH.search(head)) else 0
    while len(body) < length:
        body += connection.recv(65536)
    first, *headers = head.split(b"\r\n")
    method, _, rest = first.partition(b" ")
    return Sent(method, rest.removesuffix(b" HTTP/1.1"), headers, body)
