"""`make wheelhouse`: a folder of wheels, from which the package installs where no package index can be reached."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from release.commands import PROJECT, ROOT, SUPPORTED, THIS_PYTHON, CannotMake, requirements, run, wheel

SITE_TOOLS = ROOT / "tools" / "site" / "requirements.txt"
BUILDERS = ("hatchling", "editables~=0.3", "pip")  # what a clone needs to install itself, as `make run` does


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill the folder, and print how to install from it."""
    parser = argparse.ArgumentParser(prog="make wheelhouse", description=__doc__)
    parser.add_argument(
        "--python", action="append", choices=SUPPORTED, help=f"a Python to fill it for, by default {THIS_PYTHON}"
    )
    parser.add_argument("--dev", action="store_true", help="also what `make test` and `make site` need")
    parser.add_argument("--output", type=Path, default=ROOT / "wheelhouse", metavar="DIR")
    given = parser.parse_args(arguments)
    try:
        for python in given.python or [THIS_PYTHON]:
            _download(given.output, python, dev=given.dev)
        wheel(given.output)
    except CannotMake as error:
        print(f"make wheelhouse: {error}", file=sys.stderr)
        return 1
    print(f"{given.output}: {len(list(given.output.glob('*.whl')))} wheels; copy the folder, and there")
    print(f"  pip install --no-index --find-links {given.output.name} {PROJECT['name']}")
    return 0


def _download(folder: Path, python: str, *, dev: bool) -> None:
    """Download the pinned libraries as wheels of this machine's platform. Build the wheel of a library that the index
    only has as a source distribution."""
    names = [*PROJECT["dependencies"], *BUILDERS]
    if dev:
        site = SITE_TOOLS.read_text("utf-8").splitlines()
        names += [*PROJECT["optional-dependencies"]["dev"], *(line for line in site if not line.startswith("#"))]
    with tempfile.TemporaryDirectory() as temporary:
        wanted = Path(temporary, "wanted.txt")
        wanted.write_text("".join(f"{line}\n" for line in requirements(python, *names)))
        flags = ["--quiet", "--no-deps", "--python-version", python]
        run(sys.executable, "-m", "pip", "download", *flags, "--dest", str(folder), "-r", str(wanted))
    for source in sorted(folder.glob("*.tar.gz")):
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source))
        source.unlink()


if __name__ == "__main__":
    sys.exit(main())
