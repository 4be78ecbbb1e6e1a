"""Programs that releases are made with: run to their end, and the Pythons of this machine."""

import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SUPPORTED = tuple(
    found[1]
    for line in PROJECT["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
)
"""The Pythons that are supported, such as `3.11`, in their order."""

THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

TIMEOUT_S = 600.0
LINES_SHOWN = 15


class CannotMake(Exception):
    """Something could not be made; the text says what, why and what to do."""


def run(*command: str, folder: Path = ROOT, timeout_s: float = TIMEOUT_S) -> str:
    """What a program prints; it downloads no Python. Raises `CannotMake` with the last lines of its complaint."""
    try:
        done = subprocess.run(  # noqa: S603  # our own commands
            command, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotMake(f"{Path(command[0]).name} could not be run: {error}") from None
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-LINES_SHOWN:])
        raise CannotMake(f"{Path(command[0]).name} {' '.join(command[1:4])} failed:\n{said}")
    return done.stdout


def _environment() -> dict[str, str]:
    """Ours. uv brings a list of authorities; where the system has one it believes that, as a network with an authority
    of its own needs."""
    believed = {"UV_SYSTEM_CERTS": "true"} if ssl.get_default_verify_paths().cafile else {}
    return believed | os.environ | {"UV_PYTHON_DOWNLOADS": "never", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def uv(*arguments: str) -> str:
    """What uv prints, which `make` installs beside this Python."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        raise CannotMake("uv is not installed: run this by make")
    return run(found, *arguments)


def wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder."""
    with tempfile.TemporaryDirectory() as made:
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", made, str(ROOT))
        (built,) = Path(made).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(built, folder / built.name))


def requirements(python: str, *names: str, resolution: str = "highest", pinned: bool = True) -> list[str]:
    """What has to be installed for this project, or for `names`, as lines `name==version`: as constraints.txt has it,
    or else the newest, or the lowest versions that are allowed."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "wanted.in")
        wanted.write_text("".join(f"{name}\n" for name in names or PROJECT["dependencies"]))
        limits = ["--constraint", str(CONSTRAINTS)] if pinned else []
        compile_ = ["pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", python]
        text = uv(*compile_, "--resolution", resolution, *limits, str(wanted))
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pythons(wanted: Iterable[str] = SUPPORTED) -> dict[str, str]:
    """The programs of these versions that this machine has, and that start: its own, on the path, or of pyenv."""
    return {version: found for version in wanted if (found := _python(version)) is not None}


def _python(version: str) -> str | None:
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [
        sys.executable,
        shutil.which(f"python{version}") or "",
        *map(str, root.glob(f"versions/{version}.*/bin/python")),
    ]
    return next((one for one in candidates if one and _version_of(one) == version), None)


def _version_of(program: str) -> str:
    code: Sequence[str] = (program, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])")
    try:
        return run(*code, timeout_s=30).strip()
    except CannotMake:
        return ""
