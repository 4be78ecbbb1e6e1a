"""Requests from a program that is not ours: wrk where it is installed, so that nobody has to trust our generator, and
else `bench.load`, which costs about as much for a request."""

import itertools
import json
import math
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from bench import load
from bench.servers import ROOT, BenchError, Server

SCRIPT = ROOT / "bench" / "wrk.lua"
SPARE = 2  # wrk asks its script for one request that it does not send
GRACE_S = 10


def name() -> str:
    """Which generator is here."""
    return "wrk" if has_wrk() else "our own generator, since wrk is not installed"


def has_wrk() -> bool:
    """Whether wrk is on the path."""
    return shutil.which("wrk") is not None


def needed(count: int, connections: int) -> int:
    """How many requests are wanted for so many answers: the connections go on until the last one is there."""
    return count + connections + SPARE


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a generator: to send requests until `count` are answered, if it is given, all are sent, or
    `seconds` have passed.

    With `is_cycled` they begin anew when all were sent. A `check` of bodies is made by our own generator alone; wrk
    tells the longest gap between answers only with a `count`, since it looks at each answer for it.
    """

    connections: int
    seconds: float
    count: int = 0
    check: load.Check | None = None
    status: int = 200
    is_cycled: bool = False


def send(server: Server, requests: Sequence[bytes], asked: Asked) -> load.Load:
    """Send requests, by wrk where it is."""
    return (by_wrk if has_wrk() else by_ours)(server, requests, asked)


def by_ours(server: Server, requests: Sequence[bytes], asked: Asked) -> load.Load:
    """The same by our own generator, wherever wrk is."""
    source = itertools.islice(itertools.cycle(requests) if asked.is_cycled else iter(requests), asked.count or None)
    return load.run(
        server.host,
        server.port,
        source,
        connections=asked.connections,
        seconds=asked.seconds,
        check=asked.check,
        status=asked.status,
    )


def by_wrk(server: Server, requests: Sequence[bytes], asked: Asked) -> load.Load:
    """The same by one thread of wrk with `wrk.lua`."""
    connections, seconds = asked.connections, asked.seconds
    with tempfile.NamedTemporaryFile() as file:
        file.writelines(b"%06d%b" % (len(request), request) for request in requests)
        file.flush()
        options = ["-t1", f"-c{connections}", f"-d{math.ceil(seconds) + GRACE_S}s", "--timeout", "30s"]
        how = ["again" if asked.is_cycled else "once", "watched" if asked.count else "counted"]
        of_script = [file.name, str(asked.count), str(seconds), str(asked.status), *how]
        command = ["wrk", *options, "-s", str(SCRIPT), server.url, "--", *of_script]
        before = _children_cpu_s()
        done = subprocess.run(  # noqa: S603 - wrk of this machine
            command, capture_output=True, text=True, timeout=seconds + 60
        )
        cpu_s = _children_cpu_s() - before
    try:
        said = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError) as error:
        raise BenchError(f"wrk says {done.stdout[-500:]!r} {done.stderr[-500:]!r}") from error
    complaints = [said["complaint"]] if said["complaint"] else []
    return load.Load(
        said["answers"],
        said["refused"] + said["errors"],
        said["wall_s"],
        cpu_s,
        said["p50_ms"],
        said["p99_ms"],
        complaints,
        gap_s=said["gap_ms"] / 1e3,
        p999_ms=said["p999_ms"],
        max_ms=said["max_ms"],
    )


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
