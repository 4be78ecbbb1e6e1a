"""The package as a user has it: built as a wheel and installed into a new environment, with its bytecode."""

import contextlib
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from release.commands import run, wheel


@dataclass(frozen=True, slots=True)
class Installed:
    """The programs of an environment in which the package is installed."""

    python: str
    command: str  # reseller-sim


@contextlib.contextmanager
def installed() -> Iterator[Installed]:
    """An environment that lasts as long as the context. Raises `CannotMake` when the wheel cannot be built.

    The libraries are those of the environment that measures, by a path file, so that nothing is downloaded.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv")
        programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        pip = (sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet")
        run(*pip, "--no-deps", "--no-index", "--compile", str(wheel(folder)))
        purelib = sysconfig.get_path("purelib", vars={"base": str(folder / "venv")})
        Path(purelib, "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        yield Installed(str(programs / "python"), str(programs / "reseller-sim"))
