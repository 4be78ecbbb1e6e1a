"""The version of a build: the next release, the number of commits, and the commit, as `0.1.0.dev1690+g1a2b3c4d`.

pyproject.toml names this module as the source of the version. A later commit has a higher number, so that
`pip install --upgrade` installs it. Where git or the history is missing, the version is `0.1.0.dev0`. A source
distribution has the version in its PKG-INFO, and does not ask this module.

    python3 release/version.py         prints the version of this checkout
    python3 release/version.py FILE    writes it as a Python module

Only the standard library is imported: build backends load this file by its path, before anything is installed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

RELEASE = "0.1.0"
UNKNOWN = f"{RELEASE}.dev0"
GIVEN = "RESELLER_SIM_BUILD_VERSION"
"""The variable that overrides the version of a build without a history, such as that of the container."""

ROOT = Path(__file__).resolve().parent.parent
GIT_TIMEOUT_S = 30.0
DIRTY = ".dirty"
_MODULE = '"""The version of this installation, written by the build."""\n\n__version__ = "{}"\n'
_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*(\.dev[0-9]+)?(\+[a-z0-9.]+)?")


def build_version(root: Path = ROOT) -> str:
    """Return the version of a source tree. Raises `ValueError` when the environment gives a version that is none."""
    if given := os.environ.get(GIVEN):
        if _VERSION.fullmatch(given) is None:
            raise ValueError(f"{GIVEN} is {given!r}, which is no version: give one like {UNKNOWN} or unset it")
        return given
    return git_version(root) or UNKNOWN


def git_version(root: Path) -> str:
    """Return the version that the history says; empty when the folder is not the top of a git checkout.

    The commit with the tag of the release, such as `v0.1.0`, has the version of the release.
    A shallow clone does not know how many commits there are: its number is 0. Changes of tracked files that are not
    committed add `.dirty`.
    """
    where = _git(root, "rev-parse", "--show-prefix", "--is-shallow-repository").splitlines()
    if where not in (["", "true"], ["", "false"]):  # the first line is the folder's place in the checkout
        return ""
    commit = _git(root, "describe", "--always", "--dirty", "--abbrev=8", "--exclude", "*").strip()
    count = "0" if where[1] == "true" else _git(root, "rev-list", "--count", "HEAD").strip()
    if not commit or not count:
        return ""
    if not commit.endswith("-dirty") and _git(root, "tag", "--points-at", "HEAD", "--list", f"v{RELEASE}"):
        return RELEASE
    return f"{RELEASE}.dev{count}+g{commit.replace('-dirty', DIRTY)}"


def write_module(path: Path, version: str) -> None:
    """Write a version as a module, at once, since a program that starts meanwhile may import it."""
    text = _MODULE.format(version)
    if path.exists() and path.read_text("utf-8") == text:
        path.touch()
        return
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8")
    part.replace(path)


def _git(root: Path, *arguments: str) -> str:
    """Return what git prints; empty when it fails or is not installed."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            cwd=root,
            capture_output=True,
            text=True,
            timeout=GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout


def main(arguments: list[str]) -> int:
    """Print the version of this checkout, or write it into a file."""
    if arguments:
        write_module(Path(arguments[0]), build_version().removesuffix(DIRTY))
    else:
        print(build_version())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
