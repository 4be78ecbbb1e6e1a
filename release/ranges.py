"""`make ranges`: a telling part of the suite with the lowest and with the newest versions that pyproject.toml allows.

Once for each supported Python that this machine has; FastAPI is installed beside the package each time, since many have
it. A Python that is not here is named.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from release.commands import SUPPORTED, CannotMake, pythons, requirements, run, uv

ENDS = {"lowest": "lowest-direct", "newest": "highest"}
BESIDE = "fastapi"
TOOLS = (
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "jsonschema",
    "referencing",
    "httpx",
    "httpx2",
    "requests",
    "standardwebhooks",
    "prometheus-client",
    "swagger-ui-py",
)
TELLING = ("auth", "cli", "contract", "control", "http_client", "persistence/tape", "scenario", "server", "wire")
ALSO = ("tests/e2e/test_quickstart.py", "tests/e2e/test_cli_serve.py", "tests/client/test_processes.py")
FAST = ("-m", "not slow")
TIMEOUT_S = 900.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Try them, one line each; 1 when one fails."""
    parser = argparse.ArgumentParser(prog="make ranges", description=__doc__)
    parser.add_argument("--python", action="append", choices=SUPPORTED, help="a Python to try; all by default")
    parser.add_argument("--end", action="append", choices=list(ENDS), help="an end to try; both by default")
    given = parser.parse_args(arguments)
    wanted = given.python or SUPPORTED
    here = pythons(wanted)
    failures = 0
    for version in wanted:
        for end in given.end or ENDS:
            missing = "not run, this Python is not installed", True
            text, is_good = tried(version, here[version], end) if version in here else missing
            print(f"Python {version}, {end} versions: {text}", flush=True)
            failures += not is_good
    return 1 if failures else 0


def tried(version: str, program: str, end: str) -> tuple[str, bool]:
    """How the tests ended with one Python and one end of the ranges."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            python = _environment(Path(folder), version, program, end)
            tests = ("-m", "pytest", "-p", "no:cacheprovider", "-n", "2")
            ran = [
                run(python, *tests, *FAST, *(f"tests/{name}" for name in TELLING), timeout_s=TIMEOUT_S),
                run(python, *tests, *ALSO, timeout_s=TIMEOUT_S),
            ]
    except CannotMake as error:
        return str(error), False
    return "; ".join(text.strip().splitlines()[-1] for text in ran), True


def _environment(folder: Path, version: str, program: str, end: str) -> str:
    """Its Python. The libraries of the package are at one end of their ranges; nothing pins those of the tests."""
    pins = folder / "pins.txt"
    pins.write_text("".join(f"{line}\n" for line in requirements(version, resolution=ENDS[end], pinned=False)))
    uv("venv", "--quiet", "--python", program, str(folder / "venv"))
    python = str(folder / "venv" / "bin" / "python")
    uv("pip", "install", "--quiet", "--python", python, "-c", str(pins), "-r", str(pins), BESIDE, *TOOLS)
    return python


if __name__ == "__main__":
    sys.exit(main())
