"""Several real servers and a real HAProxy with the configuration of `shard-config`."""

import json
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from simulator.shards.haproxy import SHARD_HEADER
from simulator.shards.ring import Ring
from simulator.staging.signing import Credentials, sign
from tests.support.client import Response
from tests.support.processes import DEADLINE_S, Serving, ask, environment, free_port, run, serving
from tests.support.programs import program

SHARD = SHARD_HEADER.lower()
JSON = {"content-type": "application/json"}
RELOADS = 20


class Proxy:
    """A HAProxy that reports the states of its servers."""

    def __init__(self, configuration: Path) -> None:
        command = [program("haproxy"), "-f", str(configuration)]
        checked = subprocess.run([*command, "-c"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert "WARNING" not in checked.stderr, checked.stderr
        self._process = subprocess.Popen([*command, "-W"], stderr=subprocess.PIPE, text=True, env=environment())
        self._said: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said.put(line)

    def await_said(self, *texts: str, timeout_s: float = DEADLINE_S) -> None:
        """Wait until it has said all of these, in any order; queue.Empty when it says nothing for that long."""
        awaited = set(texts)
        while awaited:
            line = self._said.get(timeout=timeout_s)
            awaited -= {text for text in awaited if text in line}

    def reload(self) -> None:
        """Reload the files, as `systemctl reload` does.

        HAProxy loses a signal that arrives just after it reports that it listens, since it installs its signal handlers
        a little later. The process with the old files accepts connections until it reports that it has stopped.
        """
        for _ in range(RELOADS):
            self._process.send_signal(signal.SIGUSR2)
            try:
                self.await_said("Loading success", "Proxy reseller_sim stopped", timeout_s=DEADLINE_S / RELOADS)
            except Empty:
                continue
            return
        raise AssertionError("HAProxy did not reload its files")

    def end(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        assert self._process.stderr is not None
        self._process.stderr.close()


@contextmanager
def haproxy(configuration: Path) -> Iterator[Proxy]:
    """HAProxy with a configuration that it finds valid, which listens when this is entered."""
    proxy = Proxy(configuration)
    try:
        proxy.await_said("Loading success")
        yield proxy
    finally:
        proxy.end()


@dataclass
class Sharded:
    """The proxy's URL, the addresses of the servers, and the running servers by name."""

    url: str
    folder: Path
    addresses: Mapping[str, str]
    flags: Sequence[str]
    running: dict[str, Serving]
    ring: Ring
    stack: ExitStack
    proxy: Proxy = field(init=False)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        """One request through the proxy, a body as JSON."""
        content = None if body is None else json.dumps(body).encode()
        return self.send(method, path, content, {**(JSON if content else {}), **headers})

    def send(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        """Send a request with a raw body."""
        return ask(self.url + path, method, body, headers)

    def call(
        self,
        method: str,
        path: str,
        credentials: Credentials,
        body: Any = None,
        sandbox: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """The same, signed; of a sandbox other than the default one by its id."""
        content = b"" if body is None else json.dumps(body).encode()
        address = f"{self.url}/s/{sandbox}" if sandbox else self.url
        made = sign(method, address, path, content, credentials)
        return ask(made.url, method, content, {**made.headers, **(headers or {})})

    def raw(self, first_line: str) -> str:
        """Send a raw request line and return the answer in lower case."""
        host, port = self.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), DEADLINE_S) as connection:
            connection.sendall(f"{first_line}\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode())
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode().lower()

    @contextmanager
    def stream(self, path: str) -> Iterator[Iterator[str]]:
        """The lines of an answer as they come."""
        connection = HTTPConnection(self.url.removeprefix("http://"), timeout=DEADLINE_S)
        try:
            connection.request("GET", path)
            yield (line.decode() for line in connection.getresponse())
        finally:
            connection.close()

    def start(self, name: str, own: str | None = None, listed: str = "shards.yaml") -> None:
        """Start one of the servers; by mistake under the name `own`, or with another list."""
        port = self.addresses[name].rpartition(":")[2]
        words = ("--port", port, "--json", "--shards", str(self.folder / listed), "--shard", own or name)
        kept = ("--data-dir", str(self.folder / name))
        self.running[name] = self.stack.enter_context(serving(*self.flags, *words, *kept))

    def kill(self, name: str) -> None:
        """Kill one of them, by SIGKILL."""
        self.running[name].process.kill()
        self.running[name].process.wait()

    def await_known(self, *names: str, up: bool) -> None:
        """Wait until the proxy knows that these servers are up, or down."""
        self.proxy.await_said(*(f"Server anywhere/{name} is {'UP' if up else 'DOWN'}" for name in names))

    def servers(self) -> dict[str, Any]:
        """Return the entry of each server in the list of all sandboxes, by name."""
        return {one["name"]: one for one in self.ask("GET", "/_sim/sandboxes").json["servers"]}


@contextmanager
def sharded(names: Sequence[str], folder: Path, *flags: str, scenario: str = "default") -> Iterator[Sharded]:
    """All of it, in a folder: the list, the configuration, the map, and a data folder of each server."""
    addresses = {name: f"http://127.0.0.1:{free_port()}" for name in names}
    listed = "".join(f"  {name}: {url}\n" for name, url in addresses.items())
    (folder / "shards.yaml").write_text(f"servers:\n{listed}")
    listen = f"127.0.0.1:{free_port()}"
    made = run(
        "shard-config", str(folder / "shards.yaml"), "--listen", listen,
        "--map", str(folder / "resellers.map"), "--scenario", scenario,
    )  # fmt: skip
    assert (made.status, made.err) == (0, "")
    (folder / "haproxy.cfg").write_text(made.out)
    with ExitStack() as stack:
        one = Sharded(f"http://{listen}", folder, addresses, (scenario, *flags), {}, Ring(names), stack)
        for name in names:
            one.start(name)
        one.proxy = stack.enter_context(haproxy(folder / "haproxy.cfg"))
        yield one
