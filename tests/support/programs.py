"""Programs and packages beside Python that some tests need: where they are, and what installs them.

A test module names what it needs with the marker `needs`. `missing(files)` reads the markers as text, so a run can say
before its first test what this machine lacks, and the build machine installs only what its tests will use.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).parents[2]
NODE_COMMANDS = ROOT / "tests" / "interop" / "node_modules" / ".bin"
"""Commands of packages that tests/interop/package.json pins and `make interop-tools` installs."""


class Program(NamedTuple):
    """The possible names of a program, and the Debian packages that provide the program and its drivers."""

    names: tuple[str, ...]
    package: str


PROGRAMS = {
    "bash": Program(("bash",), "bash"),
    "buildah": Program(("buildah",), "buildah"),
    "chromium": Program(("chromium", "chromium-browser", "google-chrome"), "chromium libatomic1"),
    "curl": Program(("curl",), "curl"),
    "fish": Program(("fish",), "fish"),
    "git": Program(("git",), "git"),
    "go": Program(("go",), "golang-go"),
    "gson": Program(("/usr/share/java/gson.jar",), "libgoogle-gson-java"),
    "haproxy": Program(("haproxy", "/usr/sbin/haproxy"), "haproxy"),
    "java": Program(("java",), "default-jdk-headless"),
    "javac": Program(("javac",), "default-jdk-headless"),
    "nginx": Program(("nginx", "/usr/sbin/nginx"), "nginx-light"),
    "node": Program(("node", "nodejs"), "nodejs"),
    "npm": Program(("npm",), "npm"),
    "nsenter": Program(("nsenter",), "util-linux"),
    "initdb": Program(("initdb", *(f"/usr/lib/postgresql/{n}/bin/initdb" for n in range(18, 12, -1))), "postgresql"),
    "openssl": Program(("openssl",), "openssl"),
    "php": Program(("php",), "php-cli"),
    "prometheus": Program(("prometheus",), "prometheus"),
    "promtool": Program(("promtool",), "prometheus"),
    "systemd-analyze": Program(("systemd-analyze",), "systemd"),
    "unshare": Program(("unshare",), "util-linux"),
    "zsh": Program(("zsh",), "zsh"),
}
PREPARED = {
    "interop-tools": "tests/interop/node_modules/.ready",
    "openapi-generator": ".venv/.generator-ready",
    "release-tools": ".venv/.release-ready",
    "site-tools": ".venv/.site-ready",
    "wheelhouse": "wheelhouse/hatchling-*.whl",
}
"""By the name of a `make` target, its result as a glob from the project's root."""

FOLDERS = {"tests/browser/": ("chromium",), "tests/interop/": ("node", "npm", "interop-tools")}
"""The requirements of all modules of a folder."""

_NEEDS = re.compile(r"\bneeds\(([^)]*)\)")
_NAME = re.compile(r'"([^"]+)"')
_REASON = " is not installed"


def program(name: str) -> str:
    """Return the path of a program; skip the test where the program is missing."""
    return _found(name) or _skip(name)


def node_command(name: str) -> str:
    """Return the path of a command that `make interop-tools` installs, such as `redocly`; skip where it is missing."""
    program("node")
    path = NODE_COMMANDS / name
    return str(path) if path.exists() else _skip(name)


def site_tools() -> None:
    """Skip the test where `make site-tools` has not installed the packages that build the documentation's site."""
    if any(find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")):
        _skip("site-tools")


def required(name: str, is_there: bool) -> None:
    """Skip the test where something else is missing: a folder that a `make` target fills, or a right."""
    if not is_there:
        _skip(name)


def missing(files: Iterable[Path]) -> dict[str, list[str]]:
    """Return what this machine lacks for these test modules: each name with the modules that need it."""
    lacking: dict[str, list[str]] = {}
    for file in files:
        for name in sorted(set(needs_of(file))):
            if not _is_here(name):
                lacking.setdefault(name, []).append(str(file.relative_to(ROOT)))
    return dict(sorted(lacking.items()))


def needs_of(file: Path) -> Iterator[str]:
    """Yield the requirements of a test module and its folder."""
    for folder, names in FOLDERS.items():
        if str(file.relative_to(ROOT)).startswith(folder):
            yield from names
    for arguments in _NEEDS.findall(file.read_text("utf-8")):
        yield from _NAME.findall(arguments)


def not_run(reports: Iterable[object]) -> str:
    """Return one line that says which programs skipped tests lacked, from reports; empty when no test lacked one."""
    reasons = (str(report[2]).removeprefix("Skipped: ") for report in reports if isinstance(report, tuple))
    lacking = Counter(reason.removesuffix(_REASON) for reason in reasons if reason.endswith(_REASON))
    counts = ", ".join(f"{count} that need {name}" for name, count in sorted(lacking.items()))
    return f"not run: {counts}" if counts else ""


def _is_here(name: str) -> bool:
    return any(ROOT.glob(PREPARED[name])) if name in PREPARED else _found(name) is not None


def _found(name: str) -> str | None:
    return next(filter(None, map(_path, PROGRAMS[name].names)), None)


def _path(name: str) -> str | None:
    """Return the path of a program or of a Java library, which is not executable."""
    return (name if Path(name).is_file() else None) if name.endswith(".jar") else shutil.which(name)


def _skip(name: str) -> NoReturn:
    pytest.skip(name + _REASON)
