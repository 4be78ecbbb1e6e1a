"""The creating topup of the simulator beside what peers and the bare app answer to the same request, by turns."""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version as package_version
from typing import Any

from bench import generators
from bench.peers.mocks import PEERS
from bench.peers.started import started
from bench.rounds import answer_body, served
from bench.servers import BARE, SIMULATOR, BenchError, Cores, Server, pinned, running
from bench.startup import MIB, bare_start_s, our_starts_s
from bench.tail import BARE_NAME, CONNECTIONS, OUR_NAME, PAYING, Tail, by_turns
from bench.workloads import serving_command


@dataclass(frozen=True, slots=True)
class Standing:
    """What one server needs: its version, from its start to its first answer, and resident memory after the load."""

    server: str
    version: str
    start_s: float
    memory_mib: float | None

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "server": self.server,
            "version": self.version,
            "start_s": self.start_s,
            "memory_mib": self.memory_mib,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """Slices of so many requests, after a warm-up, at each number of connections."""

    slices: int
    size: int
    warm_up_s: float


@dataclass(frozen=True, slots=True)
class Peers:
    """What was measured, and in words what is not installed."""

    tails: tuple[Tail, ...]
    standings: tuple[Standing, ...]
    missing: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "tails": [tail.document() for tail in self.tails],
            "standings": [one.document() for one in self.standings],
            "missing": self.missing,
        }


def measure_peers(plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> Peers:
    """All that is installed, one idle while the other is asked; all on the servers' core."""
    missing: list[str] = []
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(served(PAYING, cores, serve))
        bare = stack.enter_context(running(BARE, cores))
        servers: dict[str, Server] = {BARE_NAME: bare, OUR_NAME: ours.server}
        known = {
            BARE_NAME: ("", bare_start_s(BARE, cores)),
            OUR_NAME: (package_version("reseller-sim"), our_starts_s(serving_command(PAYING, serve), cores)[1]),
        }
        answer = answer_body(ours)
        for peer in PEERS:
            try:
                server, start_s = stack.enter_context(started(peer, answer, cores))
            except (BenchError, OSError) as error:  # the others are still worth having
                missing.append(f"{peer.name}: {error}")
                print(f"not measured: {missing[-1]}", file=sys.stderr)
            else:
                servers[peer.name], known[peer.name] = server, (peer.version(), start_s)
        stack.enter_context(pinned(cores.load))
        for name in servers.keys() - {OUR_NAME}:
            warm = ours.batch(generators.needed(100, max(CONNECTIONS)))
            generators.send(servers[name], warm, generators.Asked(16, plan.warm_up_s, is_cycled=True))
        tails: list[Tail] = []
        for connections in CONNECTIONS:
            tails += by_turns(servers, ours.batch, connections, plan.slices, plan.size)
        standings = tuple(
            Standing(name, version, start_s, resident / MIB if (resident := servers[name].resident_bytes()) else None)
            for name, (version, start_s) in known.items()
        )
    return Peers(tuple(tails), standings, tuple(missing))
