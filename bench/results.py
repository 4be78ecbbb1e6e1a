"""What one run measured, what could not be measured, and on what: for the tables, for `--json` and for the targets."""

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version

from bench import generators
from bench.rounds import Cell
from bench.servers import BenchError, Cores
from bench.startup import Startup
from bench.tail import Tail
from release.commands import CannotMake
from release.version import build_version

LIBRARIES = ("uvicorn", "uvloop", "httptools", "msgspec", "starlette")


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures were taken on, as it was when the run began."""

    cores: Cores
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    load: str = field(default_factory=lambda: load_average())
    commit: str = field(default_factory=build_version)

    def document(self) -> dict[str, str]:
        """Everything about it, with how busy it is now."""
        minutes = (datetime.now(UTC) - self.began).total_seconds() / 60
        is_pinned = self.cores.load is not None
        return {
            "date": f"{self.began.isoformat(timespec='seconds')}, {minutes:.1f} minutes",
            "commit": self.commit,
            "Python": platform.python_version(),
            "libraries": ", ".join(f"{name} {version(name)}" for name in LIBRARIES),
            "cores": f"{os.cpu_count()}, {'one each for servers and load' if is_pinned else 'shared'}",
            "load generator": generators.name(),
            "load average, at the begin": self.load,
            "load average, at the end": load_average(),
        }


def load_average() -> str:
    """Of the last one, five and fifteen minutes; `unknown` where it is not known."""
    return ", ".join(f"{load:.2f}" for load in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"


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
        except (BenchError, CannotMake, OSError, ImportError, subprocess.SubprocessError) as error:
            self.failures.append(f"{name}: {error}")

    def tail(self, server: str, connections: int) -> Tail | None:
        """The tail of one server, if it was measured."""
        return next((tail for tail in self.tails if (tail.server, tail.connections) == (server, connections)), None)
