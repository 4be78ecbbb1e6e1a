"""`make release VERSION=0.2.0`: set the version, date the changelog, build wheel, source distribution and npm package
into `dist`, and check them.

`ARGS=--begin` only sets the version for the builds of the development that follows a release. docs/releasing.md has
all steps.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from release.commands import ROOT, CannotMake, run
from release.version import GIVEN, RELEASE

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
UNRELEASED = "## [Unreleased]\n"
PACKED = {"package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"}
"""Files that the npm package needs; `prepare` compiles `dist`."""

# By file: the text before a version, and the version as the file has it, for a release and for development.
PLACES = (
    ("release/version.py", 'RELEASE = "', "{0}", "{0}"),
    ("simulator/__init__.py", '__version__ = "', "{0}.dev0", "{0}.dev0"),
    ("clients/js/package.json", '"version": "', "{0}", "{0}"),
    ("clients/js/README.md", "reseller-sim-", "{0}", "{0}"),
    ("docs/javascript.md", "reseller-sim-", "{0}", "{0}"),
    ("Dockerfile", "ARG VERSION=", "{0}", "{0}.dev0"),
)


def set_version(root: Path, version: str, *, is_release: bool = True) -> None:
    """Write the version into every file that states it. Raises `CannotMake` when a file states none."""
    for name, before, released, developed in PLACES:
        path = root / name
        value = (released if is_release else developed).format(version)
        pattern = rf"({re.escape(before)})\d+\.\d+\.\d+(?:\.dev0)?"
        text, count = re.subn(pattern, rf"\g<1>{value}", path.read_text("utf-8"))
        if not count:
            raise CannotMake(f"{name} states no version after {before!r}")
        path.write_text(text, "utf-8")


def date_changelog(root: Path, version: str, day: date) -> None:
    """Move the unreleased entries of the changelog below a heading with version and day."""
    path = root / "CHANGELOG.md"
    before, found, after = path.read_text("utf-8").partition(UNRELEASED)
    if f"\n## [{version}]" in before + after:
        raise CannotMake(f"CHANGELOG.md already has the version {version}")
    if not found or "\n- " not in after.partition("\n## ")[0]:
        raise CannotMake("CHANGELOG.md has no entries below [Unreleased]: describe what changed for users")
    path.write_text(f"{before}{UNRELEASED}\n## [{version}] - {day.isoformat()}\n{after}", "utf-8")


def build(root: Path, version: str) -> list[Path]:
    """Build source distribution, wheel and npm package into `dist`, without other files, and return them."""
    dist = root / "dist"
    for path in dist.glob("reseller[-_]sim-*"):
        path.unlink()
    os.environ[GIVEN] = version
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(root), folder=root)
    run("npm", "pack", "--silent", "--pack-destination", str(dist), folder=root / "clients" / "js")
    built = sorted(dist.glob("reseller[-_]sim-*"))
    expected = [
        f"reseller-sim-{version}.tgz",
        f"reseller_sim-{version}-py3-none-any.whl",
        f"reseller_sim-{version}.tar.gz",
    ]
    if [path.name for path in built] != expected:
        raise CannotMake(f"dist has {', '.join(path.name for path in built)} instead of {', '.join(expected)}")
    return built


def check(root: Path, version: str, built: Sequence[Path]) -> None:
    """Check the metadata and the files of the packages, and use each of them in an empty environment."""
    npm, wheel, sdist = built
    run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist))
    (listed,) = json.loads(
        run("npm", "pack", "--dry-run", "--json", "--ignore-scripts", folder=root / "clients" / "js")
    )
    if missing := PACKED - {file["path"] for file in listed["files"]}:
        raise CannotMake(f"the npm package lacks {', '.join(sorted(missing))}")
    with tempfile.TemporaryDirectory() as folder:
        _try_wheel(Path(folder), wheel, version)
    with tempfile.TemporaryDirectory() as folder:
        _try_npm_package(Path(folder), npm)


def _try_wheel(folder: Path, wheel: Path, version: str) -> None:
    """Install the wheel into an empty environment, and let it serve a request."""
    run(sys.executable, "-m", "venv", str(folder))
    run(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", str(wheel), folder=folder)
    command = str(folder / "bin" / "reseller-sim")
    if (shown := run(command, "--version", folder=folder).split()[-1]) != version:
        raise CannotMake(f"the installed package says that it is version {shown} instead of {version}")
    run(command, "exec", "--", command, "call", "GET", "/v2/balance", folder=folder)


def _try_npm_package(folder: Path, package: Path) -> None:
    """Install the npm package into an empty folder without a registry, and import it."""
    run("npm", "init", "--yes", folder=folder)
    run("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", str(package), folder=folder)
    run("node", "--input-type=module", "--eval", "await import('reseller-sim')", folder=folder)


def refuse_unready(root: Path, version: str) -> None:
    """Raise `CannotMake` for an invalid or earlier version, and for uncommitted changes."""
    if not VERSION.fullmatch(version):
        raise CannotMake(f"{version!r} is no version: give three numbers, as in make release VERSION={RELEASE}")
    if _numbers(version) < _numbers(RELEASE):
        raise CannotMake(f"{version} is below {RELEASE}, the version of this checkout")
    if changed := run("git", "status", "--porcelain", "--untracked-files=no", folder=root):
        raise CannotMake(f"commit or undo these changes first:\n{changed.rstrip()}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Make the release, and print what to do next."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("version", nargs="?", default="", help="three numbers, such as 0.2.0")
    parser.add_argument("--begin", action="store_true", help="only set the version, for development after a release")
    given = parser.parse_args(arguments)
    try:
        refuse_unready(root, given.version)
        if not given.begin:
            date_changelog(root, given.version, datetime.now(UTC).date())
        set_version(root, given.version, is_release=not given.begin)
        if given.begin:
            print(f"development of {given.version} begins: commit the change")
            return 0
        built = build(root, given.version)
        check(root, given.version, built)
    except CannotMake as error:
        print(f"make release: {error}", file=sys.stderr)
        return 1
    print("\n".join(str(path.relative_to(root)) for path in built))
    print("built and checked; docs/releasing.md says how to commit, tag and publish them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
