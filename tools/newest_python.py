"""`make newest-python`: run the tests that need no process of their own on the newest Python that this machine can get.

An installed Python is used. Without one, the packages of Debian unstable are unpacked in `.venv`, beside the system,
and run with their own C library.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from release.commands import CONSTRAINTS, ROOT, SUPPORTED, CannotMake, pythons, run, uv

VERSION = SUPPORTED[-1]
FOLDER = ROOT / ".venv" / "newest-python"
OF_PERSISTENCE = ("persistence/snapshot", "persistence/tape")
GROUPS = ("api", "audit", "auth", "contract", "control", "domain", "runtime", "scenario", "wire", *OF_PERSISTENCE)
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
APT_CONF = """\
Dir::Etc::sourcelist "{0}/sources.list";
Dir::Etc::sourceparts "-";
Dir::State "{0}/state";
Dir::State::status "{0}/status";
Dir::Cache "{0}/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
"""
# Their C library is not the system's, so its own loader starts them. By `$0` a Python finds its virtual environment.
LAUNCHER = """\
#!/bin/sh
exec {loader} --argv0 "$0" --library-path {libraries} {python} "$@"
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the groups, and return 1 when a test fails. Without a Python say so, and return 0."""
    parser = argparse.ArgumentParser(prog="make newest-python", description=__doc__)
    parser.add_argument("groups", nargs="*", default=GROUPS, metavar="GROUP", help="folders of tests (all)")
    groups = parser.parse_args(arguments).groups
    try:
        python = environment(FOLDER)
    except CannotMake as error:
        print(f"not run on Python {VERSION}: {error}")
        return 0
    print(run(python, "--version").strip(), flush=True)
    return subprocess.run(pytest_command(python, groups, workers=2), cwd=ROOT, check=False).returncode


def pytest_command(python: str, groups: Sequence[str], workers: int) -> list[str]:
    """Return the command that runs the fast tests of these groups."""
    options = ("-m", "not slow", "-p", "no:cacheprovider", "-n", str(workers))
    return [python, "-m", "pytest", *options, *(f"tests/{group}" for group in groups)]


def environment(folder: Path) -> str:
    """Return the Python of an environment in `folder` for the tests. Raise `CannotMake` where none can be had."""
    venv, python, ready = folder / "venv", str(folder / "venv/bin/python"), folder / "ready"
    if not ready.exists() or ready.read_text() != CONSTRAINTS.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        program = pythons((VERSION,)).get(VERSION) or unpack(folder)
        uv("venv", "--quiet", "--python", program, str(venv))
        uv("pip", "install", "--quiet", "--python", python, "-c", str(CONSTRAINTS), "-e", f"{ROOT}[dev]")
        ready.write_text(CONSTRAINTS.read_text())
    return python


def unpack(folder: Path) -> str:
    """Unpack Debian unstable's Python and all that it needs, and return the program that starts it."""
    if sys.platform != "linux" or not all(map(shutil.which, ("apt-get", "dpkg"))):
        raise CannotMake(f"python{VERSION} is not installed, and only Debian's tools could fetch it")
    archives = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Label: Debian").split()
    if not archives or not Path(KEYRING).exists():
        raise CannotMake(f"python{VERSION} is not installed, and apt knows no archive of Debian")
    for name in ("cache/archives/partial", "state/lists/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {archives[0]} sid main\n")
    (folder / "apt.conf").write_text(APT_CONF.format(folder))
    apt = ("env", f"APT_CONFIG={folder / 'apt.conf'}", "apt-get", "--quiet", "--yes")
    run(*apt, "update")
    run(*apt, "--download-only", "--no-install-recommends", "install", f"python{VERSION}")
    for package in (folder / "cache" / "archives").glob("*.deb"):
        run("dpkg", "-x", str(package), str(folder / "root"))
    shutil.rmtree(folder / "cache")
    return _launcher(folder / "root" / "usr")


def _launcher(usr: Path) -> str:
    program, python = usr / "bin" / f"python{VERSION}", usr / "lib" / f"python{VERSION}" / "python"
    (loader,) = usr.glob("lib/*/ld-linux*.so.*")
    program.rename(python)
    program.write_text(LAUNCHER.format(loader=loader, libraries=loader.parent, python=python))
    program.chmod(0o755)
    return str(program)


if __name__ == "__main__":
    sys.exit(main())
