"""The little of a container engine's API that Testcontainers speaks: a container is a server process of this machine.

Listening on loopback; `docker` clients find it by DOCKER_HOST. It knows one image, and what that runs by default.
"""

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.support.processes import Serving, serving

IMAGE = "reseller-sim:latest"
PORT = "8080/tcp"
ID = "f" * 64
VERSION = {"ApiVersion": "1.44", "MinAPIVersion": "1.24", "Version": "27.0", "Os": "linux", "Arch": "amd64"}


class Engine(ThreadingHTTPServer):
    """What was asked of it is in `asked`; `running` is the server of the only container."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.created: dict[str, Any] = {}
        self.running: Serving | None = None
        self.containers = ExitStack()

    def start(self) -> None:
        """Start what was created: `serve` with its variables, on a free port."""
        variables = dict(line.split("=", 1) for line in self.created["Env"])
        assert PORT in self.created["ExposedPorts"]
        self.running = self.containers.enter_context(serving("--port", "0", "--json", **variables))

    def stop(self) -> None:
        """End the container."""
        self.running = None
        self.containers.close()

    def inspected(self) -> dict[str, Any]:
        """The container as `inspect` has it."""
        port = urlsplit(self.running.ready["url"]).port if self.running else 0
        status = "running" if self.running else "created"
        return {
            "Id": ID,
            "Name": "/simulator",
            "Created": "2026-01-01T00:00:00Z",
            "Image": "sha256:" + ID,
            "Config": {"Image": IMAGE, "Labels": {}, "Env": self.created.get("Env", []), "Hostname": "simulator"},
            "HostConfig": {"NetworkMode": "bridge", "PortBindings": {}},
            "State": {"Status": status, "Running": bool(self.running), "StartedAt": "2026-01-01T00:00:00Z"},
            "NetworkSettings": {
                "Ports": {PORT: [{"HostIp": "127.0.0.1", "HostPort": str(port)}]},
                "Networks": {"bridge": {"IPAddress": "172.17.0.2", "Gateway": "172.17.0.1", "NetworkID": "b"}},
            },
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Engine

    def _answer(self, body: Any = None, status: int = 200) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Api-Version", VERSION["ApiVersion"])
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_any(self) -> None:
        """One request of a client."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = re.sub(r"^/v\d\.\d+", "", urlsplit(self.path).path)
        asked = f"{self.command} {path.replace(ID, 'ID')}"
        self.server.asked.append(asked)
        if asked.endswith("/_ping") or asked == "GET /version":
            self._answer(VERSION)
        elif asked == "GET /info":
            self._answer(
                {"OperatingSystem": "none", "ServerVersion": "27.0", "OSType": "linux", "Architecture": "amd64"}
            )
        elif asked == f"GET /images/{IMAGE.removesuffix(':latest')}/json" or asked == f"GET /images/{IMAGE}/json":
            self._answer({"Id": "sha256:" + ID, "RepoTags": [IMAGE], "Config": {"ExposedPorts": {PORT: {}}}})
        elif asked == "POST /containers/create":
            self.server.created = json.loads(body)
            self._answer({"Id": ID, "Warnings": []}, 201)
        elif asked == "POST /containers/ID/start":
            self.server.start()
            self._answer(status=204)
        elif asked == "GET /containers/ID/json":
            self._answer(self.server.inspected())
        elif asked == "GET /containers/json":
            self._answer([self.server.inspected()])
        elif asked == "GET /networks":
            self._answer([])
        elif asked in ("DELETE /containers/ID", "POST /containers/ID/stop"):
            self.server.stop()
            self._answer(status=204)
        else:
            self._answer({"message": f"{asked} is not played"}, 404)

    do_GET = do_POST = do_DELETE = do_HEAD = do_any  # noqa: N815  # names of the standard library

    def log_message(self, format: str, *args: object) -> None:
        """`asked` has it."""


@contextmanager
def engine() -> Iterator[Engine]:
    """An engine as long as the context, and its container with it."""
    with Engine() as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.stop()
            made.shutdown()
            thread.join()


if __name__ == "__main__":
    with engine() as only:
        print(f"tcp://127.0.0.1:{only.server_port}", flush=True)
        sys.stdin.read()
