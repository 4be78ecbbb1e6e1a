"""Four mock servers from npm, each made to answer one canned payment: how each is told what, and how it is started.

Each is set up to do least: no journal of requests, no log that is kept, no templates, connections that stay open.
"""

import json
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.servers import ROOT

NODE_MODULES = ROOT / "bench" / "peers" / "node_modules"
PATH = "/v2/topup"
HOST = "127.0.0.1"
JSON = "application/json"

Command = Callable[[Path, int, bytes, Path], list[str]]


@dataclass(frozen=True, slots=True)
class Peer:
    """One mock server. `command` writes its configuration into a folder, for a port and an answer."""

    name: str
    package: str
    program: str  # that runs it, of this machine
    file: str  # what is run, in `node_modules`; a pattern
    command: Command

    def missing(self) -> str | None:
        """Why it cannot be measured; None when it can."""
        if shutil.which(self.program) is None:
            return f"{self.program} is not installed"
        return None if self.path() else f"the npm package {self.package} is not installed"

    def path(self) -> Path | None:
        """The file that is run."""
        return next(iter(sorted(NODE_MODULES.glob(self.file))), None)

    def version(self) -> str:
        """Which one it is."""
        return str(json.loads((NODE_MODULES / self.package / "package.json").read_text())["version"])


def free_port() -> int:
    """One that nothing listens on just now."""
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


def _written(folder: Path, name: str, content: dict[str, Any]) -> str:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    return str(path)


def _wiremock(folder: Path, port: int, answer: bytes, jar: Path) -> list[str]:
    headers = {"Content-Type": JSON}
    response = {"status": 200, "headers": headers, "body": answer.decode()}
    _written(folder, "mappings/topup.json", {"request": {"method": "POST", "urlPath": PATH}, "response": response})
    where = ["--port", str(port), "--bind-address", HOST, "--root-dir", str(folder)]
    quiet = ["--no-request-journal", "--disable-banner", "--disable-request-logging"]
    return ["java", "-jar", str(jar), *where, *quiet, "--use-chunked-encoding", "NEVER"]


def _prism(folder: Path, port: int, answer: bytes, script: Path) -> list[str]:
    content = {JSON: {"schema": {"type": "object"}, "example": json.loads(answer)}}
    operation = {
        "requestBody": {"content": {JSON: {"schema": {"type": "object"}}}},
        "responses": {"200": {"description": "the payment", "content": content}},
    }
    about = {"title": "one payment", "version": "1"}
    document = {"openapi": "3.0.3", "info": about, "paths": {PATH: {"post": operation}}}
    file = _written(folder, "openapi.json", document)
    return ["node", str(script), "mock", "-h", HOST, "-p", str(port), "-v", "fatal", file]


def _mockoon(folder: Path, port: int, answer: bytes, script: Path) -> list[str]:
    response = {
        "uuid": "a1",
        "body": answer.decode(),
        "statusCode": 200,
        "headers": [{"key": "Content-Type", "value": JSON}],
        "bodyType": "INLINE",
        "disableTemplating": True,
        "default": True,
        "latency": 0,
        "rules": [],
        "rulesOperator": "OR",
    }
    route = {"uuid": "r1", "type": "http", "method": "post", "endpoint": PATH[1:], "responses": [response]}
    environment = {
        "uuid": "e1",
        "lastMigration": 33,
        "name": "one payment",
        "port": port,
        "hostname": HOST,
        "routes": [{**route, "responseMode": None}],
        "rootChildren": [{"type": "route", "uuid": "r1"}],
        "folders": [],
        "headers": [],
        "proxyMode": False,
        "cors": False,
        "data": [],
        "callbacks": [],
        "tlsOptions": {"enabled": False},
    }
    file = _written(folder, "environment.json", environment)
    return ["node", str(script), "start", "-d", file, "-p", str(port), "-l", HOST, "-X", "--disable-admin-api", "-r"]


def _mountebank(folder: Path, port: int, answer: bytes, script: Path) -> list[str]:
    headers = {"Content-Type": JSON, "Content-Length": len(answer), "Connection": "keep-alive"}
    stub = {
        "predicates": [{"equals": {"method": "POST", "path": PATH}}],
        "responses": [{"is": {"statusCode": 200, "headers": headers, "body": answer.decode()}}],
    }
    imposter = {"port": port, "protocol": "http", "host": HOST, "recordRequests": False, "stubs": [stub]}
    file = _written(folder, "imposters.json", {"imposters": [imposter]})
    own = ["--port", str(free_port()), "--host", HOST, "--localOnly", "--pidfile", str(folder / "pid")]
    return ["node", str(script), "start", "--configfile", file, *own, "--loglevel", "error", "--nologfile"]


PEERS = (
    Peer("WireMock", "wiremock", "java", "wiremock/build/wiremock-standalone-*.jar", _wiremock),
    Peer("Mockoon", "@mockoon/cli", "node", "@mockoon/cli/bin/run.js", _mockoon),
    Peer("Prism", "@stoplight/prism-cli", "node", "@stoplight/prism-cli/dist/index.js", _prism),
    Peer("mountebank", "mountebank", "node", "mountebank/bin/mb", _mountebank),
)
