"""The package as a user has it: built as a wheel and installed into a new environment, with its bytecode."""

import contextlib
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.servers import ROOT, BenchError

TIMEOUT_S = 180.0


@dataclass(frozen=True, slots=True)
class Installed:
    """The programs of an environment in which the package is installed."""

    python: str
    command: str  # reseller-sim


@contextlib.contextmanager
def installed() -> Iterator[Installed]:
    """An environment that lasts as long as the context. Raises `BenchError` when the wheel cannot be built.

    The libraries are those of the environment that measures, by a path file, so that nothing is downloaded.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run("-m", "build", "--wheel", "--no-isolation", "--outdir", name, str(ROOT))
        (wheel,) = folder.glob("*.whl")
        venv.create(folder / "venv")
        programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        pip = ("-m", "pip", "--disable-pip-version-check", "--python", str(programs / "python"), "install", "--quiet")
        _run(*pip, "--no-deps", "--no-index", "--compile", str(wheel))
        purelib = sysconfig.get_path("purelib", vars={"base": str(folder / "venv")})
        Path(purelib, "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        yield Installed(str(programs / "python"), str(programs / "reseller-sim"))


def _run(*arguments: str) -> None:
    command = [sys.executable, *arguments]
    done = subprocess.run(  # noqa: S603 - our own Python
        command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    if done.returncode:
        raise BenchError(f"{' '.join(arguments[:3])} exited with {done.returncode}: {done.stderr.strip()[-1000:]}")
