"""Payments a second of servers that share sandboxes behind HAProxy: one alone, one behind it, two behind it.

The load, the proxy and the servers share all cores, unpinned: with two cores for four busy processes the figures say
what this machine can show, and `by CPU` what a payment costs with all that is behind its address.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path

from bench.rounds import Cell, Plan, Side, Subject
from bench.servers import READY_TIMEOUT_S, ROOT, SIMULATOR, BenchError, Cores, Server, ask, running
from bench.sign import nonce
from bench.workloads import BULK_DEPOSIT, NAMED, Batch, Client, Workload, client_of, is_paid, serving_command, topup
from simulator.shards.haproxy import configuration
from simulator.shards.ring import Ring
from simulator.shards.servers import from_words

ANYWHERE = Cores(None, None)
SANDBOXES = 16  # of each server, so that a small number of them does not decide how even it is
MISSING = "not measured: sharded: HAProxy is not installed (apt-get install haproxy)"


@dataclass(frozen=True, slots=True)
class Group(Server):
    """Servers behind a proxy, as one server: the CPU time is that of all, the proxy's included."""

    servers: tuple[Server, ...] = ()
    proxy: int = 0  # its process

    def cpu_s(self) -> float | None:
        spent = [one.cpu_s() for one in self.servers]
        try:
            stat = Path(f"/proc/{self.proxy}/stat").read_text()
        except OSError:
            return None
        user, system = stat.rpartition(")")[2].split()[11:13]
        proxy_s = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        return None if None in spent else proxy_s + sum(each or 0.0 for each in spent)


def measure_sharded(plan: Plan, serve: Sequence[str] = SIMULATOR) -> list[Cell]:
    """The cells: one behind the proxy to one alone, and two behind it to one. None without HAProxy, which is said."""
    if _haproxy() is None:
        print(MISSING, file=sys.stderr)
        return []
    with contextlib.ExitStack() as stack:
        alone = stack.enter_context(running(serving_command(NAMED["topup"], serve), ANYWHERE))
        groups = [stack.enter_context(behind_proxy(names, serve)) for names in (("a",), ("a", "b"))]
        subjects = [_subject(server) for server in (alone, *groups)]
        return [cell for connections in plan.connections for cell in _cells(subjects, connections, plan)]


def _cells(subjects: Sequence[Subject], connections: int, plan: Plan) -> Iterator[Cell]:
    for one in subjects:
        one.warm_up(connections)
    rounds = [[_measured(one, connections, plan.seconds) for one in subjects] for _ in range(plan.rounds)]
    for name, title, bare, ours in (
        ("sharded-one", "creates, one server behind the proxy to one alone", 0, 1),
        ("sharded-two", "creates, two servers behind the proxy to one behind it", 1, 2),
    ):
        yield Cell(name, title, connections, tuple((sides[bare], sides[ours]) for sides in rounds))


def _measured(subject: Subject, connections: int, seconds: float) -> Side:
    return subject.measured(subject.requests(seconds), connections, seconds)


@contextlib.contextmanager
def behind_proxy(names: Sequence[str], serve: Sequence[str]) -> Iterator[Group]:
    """Servers of these names behind a proxy of their own."""
    with contextlib.ExitStack() as stack:
        folder, ports = Path(stack.enter_context(tempfile.TemporaryDirectory())), {name: _free_port() for name in names}
        urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        (folder / "servers.yaml").write_text(json.dumps({"servers": urls}))
        shared = [*serving_command(NAMED["topup"], serve), "--shards", str(folder / "servers.yaml")]
        commands = [[*shared, "--shard", name, "--port", str(port)] for name, port in ports.items()]
        servers = tuple(stack.enter_context(running(command, ANYWHERE)) for command in commands)
        listen = f"127.0.0.1:{_free_port()}"
        (folder / "haproxy.cfg").write_text(
            configuration(from_words([f"{name}={url}" for name, url in urls.items()]), listen)
        )
        proxy = stack.enter_context(_proxy(folder))
        ready = {**servers[0].ready, "url": f"http://{listen}", "shards": list(names)}
        yield Group(servers[0].process, ready, servers[0].spawned, servers, proxy)


@contextlib.contextmanager
def _proxy(folder: Path) -> Iterator[int]:
    """The process of a HAProxy in the background, which listens."""
    program, pid = _haproxy(), folder / "haproxy.pid"
    assert program is not None
    command = [program, "-D", "-p", str(pid), "-f", str(folder / "haproxy.cfg")]
    done = subprocess.run(  # noqa: S603 - of this machine, with our configuration
        command, capture_output=True, text=True, timeout=READY_TIMEOUT_S, check=False, cwd=ROOT
    )
    if done.returncode:
        raise BenchError(f"HAProxy does not start: {done.stderr.strip()}")
    process = int(pid.read_text())
    try:
        yield process
    finally:
        os.kill(process, signal.SIGTERM)


def _subject(server: Server) -> Subject:
    workload: Workload = replace(NAMED["topup"], prepare=_creating, check=is_paid)
    return Subject(client_of(server), workload)


def _creating(client: Client) -> Batch:
    """Payments of sandboxes by turns, as many of each server, each of which is made where it belongs."""
    group = client.server
    servers = dict(zip(group.ready.get("shards", ["a"]), getattr(group, "servers", (group,)), strict=True))
    ring, ids = Ring(servers), []
    for name, server in servers.items():
        own = islice((one for one in map("bench-{}".format, range(10_000)) if ring.owner(one) == name), SANDBOXES)
        for sandbox in own:
            ask(server, "POST", "/_sim/sandboxes", {"id": sandbox, "clock": {"mode": "manual"}})
            path = f"/_sim/sandboxes/{sandbox}/resellers/{client.code}/deposits"
            ask(server, "POST", path, {"amount": BULK_DEPOSIT})
            ids.append(sandbox)
    return lambda count: [topup(client, nonce(), f"/s/{sandbox}") for sandbox in islice(cycle(ids), count)]


def _haproxy() -> str | None:
    return shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
