"""README's quick start in an empty folder with an empty HOME: its own commands in order, and what they print.

The tree is copied as a clone would be. `make run` makes its environment by itself; only the libraries come from here,
in place of the package index, and the port is a free one.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import DEADLINE_S, ask, environment
from tests.support.shell import parse_curl

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUICK_START = (ROOT / "README.md").read_text().partition("## Quick start\n")[2].partition("\n## ")[0]
COMMANDS = [
    line.partition("  #")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", QUICK_START, re.DOTALL)
    for line in block.splitlines()
]
SET_UP_S = 120.0
ADDRESS = "http://127.0.0.1:8080"


@dataclass
class Started:
    """A clone in which `make run` has printed its banner."""

    folder: Path
    variables: dict[str, str]
    banner: list[str]

    @property
    def url(self) -> str:
        return self.banner[0].rpartition(" ")[2]

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        """What a second terminal in the same folder would do, at the address that was printed."""
        command = command.replace(ADDRESS, self.url)
        if command.startswith("curl ") and shutil.which("curl") is None:
            request = parse_curl(command)
            answer = ask(request.url, request.method, request.body, request.headers)
            return subprocess.CompletedProcess(command, 0, answer.body.decode(), "")
        variables = {**self.variables, "RESELLER_SIM_URL": f"{self.url}/_sim"}
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=True,
        )

    def json(self, command: str) -> Any:
        """What a command prints, read."""
        return json.loads(self.shell(command).stdout)


def clone(folder: Path) -> None:
    """What a clone has and `make run` needs."""
    folder.mkdir()
    for name in ("Makefile", "README.md", "LICENSE", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    for name in ("simulator", "reseller_sim", "contracts", "scenarios"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))


def libraries(folder: Path) -> Path:
    """Every library of this environment but our own package."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "reseller_sim" not in path.name:
            (folder / path.name).symlink_to(path)
    return folder


@contextmanager
def killed(process: subprocess.Popen[str], after_s: float) -> Iterator[None]:
    """End a process and what it started, at the latest after so many seconds."""

    def kill() -> None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(after_s, kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        kill()
        process.wait()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    """The first command of README, run."""
    clone(tmp_path / "clone")
    (tmp_path / "home").mkdir()
    variables = environment(
        HOME=str(tmp_path / "home"),
        PYTHON=sys.executable,  # the libraries are built for it
        PYTHONPATH=str(libraries(tmp_path / "libraries")),
        PIP_NO_INDEX="1",
        PIP_NO_DEPS="1",
        PIP_NO_BUILD_ISOLATION="0",  # pip's own reading: the option is off, and so the build sees our libraries
        RESELLER_SIM_PORT="0",
    )
    process = subprocess.Popen(
        shlex.split(COMMANDS[0]),
        cwd=tmp_path / "clone",
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr, killed(process, SET_UP_S):
        lines = [process.stdout.readline().rstrip("\n")]
        while " call " not in lines[-1]:
            line = process.stdout.readline()
            assert line, "\n".join([*lines, process.stderr.read()])
            lines.append(line.rstrip("\n"))
        answering = next(number for number, line in enumerate(lines) if " answers at " in line)
        assert "once" in "".join(lines[:answering])
        yield Started(tmp_path / "clone", variables, lines[answering:])


def test_the_quick_start_as_readme_has_it(started: Started) -> None:
    run, test, inbox, balance, payment, signed, callbacks_to, activate, export, journal = COMMANDS
    assert (run, test, export) == ("make run", "make test", f"export RESELLER_SIM_URL={ADDRESS}/_sim")
    assert "pytest" in started.shell("make -n test").stdout

    pasted = next(line for line in started.banner if line.startswith("curl "))
    answer = started.json(pasted)["data"]
    assert answer["status"] == "Accepted"
    assert five_seconds_later(started, inbox) == [(answer["refid"], "Processing"), (answer["refid"], "Succesful")]

    assert started.json(balance) == {"data": {"balance": 4990.25, "currency": "MYR"}}
    assert started.json(payment)["data"]["refid"] == "order-2"
    *_, command = started.shell(signed).stdout.splitlines()
    assert list(started.json(command)["products"]) == ["RELOAD"]
    assert started.json(callbacks_to)["data"]["CallbackUrl"] == "http://127.0.0.1:9000/hook"
    assert started.shell(f"{activate} && reseller-sim --version").stdout.startswith("reseller-sim ")
    assert started.json(started.banner[-1])["data"]["status"] == "Accepted"

    paths = [one["path"].removeprefix("/v2/") for one in started.json(journal)["requests"]]
    assert paths == ["topup", "callback-url", "catalog", "topup", "balance", "topup"]


def five_seconds_later(started: Started, inbox: str) -> list[tuple[str, str]]:
    """What callbacks the inbox has of each payment. The clock is moved, as README has it further down."""
    (printed,) = [line.strip() for line in started.banner if line.startswith(" ") and " inbox " in line]
    assert printed == f"{inbox} --url {started.url}"
    started.json(".venv/bin/reseller-sim advance 5s")
    reported = [item["json"]["data"] for item in started.json(inbox)["items"]]
    return [(one["refid"], one["status"]) for one in reported]
