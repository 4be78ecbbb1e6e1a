"""Where the libraries of this environment are, so that tests install the package without a package index."""

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from tests.support.processes import ROOT, environment
from tests.support.shared_work import once

BUILT_WITHIN_S = 240.0


def run(command: Sequence[str], folder: Path, **variables: str) -> str:
    """Run a program in a folder and return its output. The program has to succeed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=BUILT_WITHIN_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout


def built(kind: str, source: Path, into: Path, **variables: str) -> Path:
    """The only file that building a `wheel` or an `sdist` of a source tree makes."""
    into.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(into), str(source)]
    run(command, into, **variables)
    (made,) = into.iterdir()
    return made


def our_wheel(factory: pytest.TempPathFactory) -> Path:
    """The wheel of the checkout, built once in a test run."""
    (made,) = once(factory, "wheel", lambda folder: built("wheel", ROOT, folder)).iterdir()
    return made


def runtime_distributions(name: str = "reseller-sim") -> set[str]:
    """The distributions that the package needs here, in lower case, without itself."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        try:
            requires = distribution(waiting.pop()).requires or []
        except PackageNotFoundError:
            continue  # of another platform or Python
        names = {re.split(r"[^A-Za-z0-9._-]", line)[0].lower() for line in requires if "extra ==" not in line}
        waiting += sorted(names - found)
        found |= names
    return found


def link_libraries(folder: Path) -> Path:
    """Return a folder like `site-packages` with links to the package's dependencies."""
    folder.mkdir()
    for name in sorted(runtime_distributions()):
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            here = Path(str(distribution(name).locate_file(top)))
            if here.exists() and not (folder / top).exists():
                (folder / top).symlink_to(here)
    return folder


def copy_of_the_checkout(folder: Path) -> Path:
    """Copy the files of the checkout that git tracks or does not ignore."""
    listed = run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], ROOT).split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder
