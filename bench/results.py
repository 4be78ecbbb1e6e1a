"""What one run measured, what could not be measured, and on what: for the tables, for `--json` and for the targets."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from bench import generators
from bench.rounds import Cell
from bench.servers import ROOT, BenchError, Cores
from bench.startup import Startup
from bench.tail import Tail

LIBRARIES = ("uvicorn", "uvloop", "httptools", "msgspec", "starlette")


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures were taken on, as it was when the run began."""

    cores: Cores
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock_s: float = field(default_factory=time.perf_counter)
    load: tuple[float, ...] = field(default_factory=lambda: load_average())
    commit: str = field(default_factory=lambda: commit_of_source())

    def document(self) -> dict[str, Any]:
        """Everything about it, with how busy it is now."""
        return {
            "date": self.began.isoformat(timespec="seconds"),
            "minutes": round((time.perf_counter() - self.clock_s) / 60, 1),
            "commit": self.commit,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "cpus": os.cpu_count(),
            "load_core": self.cores.load,
            "server_core": self.cores.server,
            "generator": generators.name(),
            "load_average_begin": self.load,
            "load_average_end": load_average(),
            "versions": {name: version(name) for name in LIBRARIES},
        }


def load_average() -> tuple[float, ...]:
    """Of the last one, five and fifteen minutes; empty where it is not known."""
    return tuple(round(load, 2) for load in os.getloadavg()) if hasattr(os, "getloadavg") else ()


def commit_of_source() -> str:
    """The commit that is measured, and whether files differ from it."""

    def git(*arguments: str) -> str:
        command = ["git", *arguments]
        return subprocess.run(  # noqa: S603 - git of this machine, on our own folder
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        short, changed = git("rev-parse", "--short=10", "HEAD"), git("status", "--porcelain", "--", "simulator")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{short}, and changes of it" if changed else short


@dataclass(slots=True)
class Results:
    """What was measured, and what could not be."""

    machine: Machine
    cells: list[Cell] = field(default_factory=list)
    tails: list[Tail] = field(default_factory=list)
    startup: Startup | None = None
    failures: list[str] = field(default_factory=list)

    def attempt(self, name: str, work: Callable[[], None]) -> None:
        """Do one section; when it fails, the others are still worth having."""
        print(f"measuring {name}", file=sys.stderr, flush=True)
        try:
            work()
        except (BenchError, OSError, ImportError, subprocess.SubprocessError) as error:
            self.failures.append(f"{name}: {error}")

    def cell(self, name: str, connections: int) -> Cell | None:
        """One row, if it was measured."""
        return next((cell for cell in self.cells if (cell.name, cell.connections) == (name, connections)), None)

    def tail(self, server: str, connections: int) -> Tail | None:
        """The tail of one server, if it was measured."""
        return next((tail for tail in self.tails if (tail.server, tail.connections) == (server, connections)), None)
