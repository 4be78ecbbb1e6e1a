"""In a clone with an empty HOME: README's two commands, all of the quick start, and `make run`.

The tree is copied as a clone would be. The environments are made there; only the libraries come from here, instead of
the package index, and the port is a free one.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import Block, assert_shown, blocks
from tests.support.processes import DEADLINE_S, ask, environment
from tests.support.shell import parse_curl
from tests.support.terminal import shown_on_terminal

ROOT = Path(__file__).parents[2]
README, QUICK_START, CONTRIBUTING = (
    (ROOT / name).read_text("utf-8") for name in ("README.md", "docs/quickstart.md", "docs/contributing.md")
)
SET_UP_S = 120.0


def steps(title: str) -> list[Block]:
    """Return the blocks of a section of the quick start."""
    return blocks(QUICK_START.partition(f"\n## {title}\n")[2].partition("\n## ")[0])


@dataclass
class Clone:
    """A clone of the repository, and what its reader's shell knows."""

    folder: Path
    variables: dict[str, str]

    def shown(self, command: str) -> str:
        """Return the output of some commands in its terminal."""
        shell = ["/bin/sh", "-c", command]
        return shown_on_terminal(shell, {**self.variables, "NO_COLOR": "1"}, folder=self.folder, deadline_s=SET_UP_S)

    def json(self, command: str) -> Any:
        """Return the decoded output of a command."""
        if command.startswith("curl ") and shutil.which("curl") is None:
            request = parse_curl(command)
            return json.loads(ask(request.url, request.method, request.body, request.headers).body)
        shell = ["/bin/sh", "-c", command]
        done = subprocess.run(
            shell, cwd=self.folder, env=self.variables, capture_output=True, timeout=DEADLINE_S, check=True
        )
        return json.loads(done.stdout)

    @contextmanager
    def running(self, command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
        """A process of this reader, ended on the way out with all that it started."""
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        with process.stdout, process.stderr, killed(process, SET_UP_S):
            yield process


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


def libraries(folder: Path) -> Path:
    """Every library of this environment but our own package."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "reseller_sim" not in path.name:
            (folder / path.name).symlink_to(path)
    return folder


def programs(folder: Path) -> Path:
    """The programs that the pages take for granted, of this interpreter; the libraries are built for it."""
    folder.mkdir()
    for name, python in {"python3": sys.executable, "pytest": "python -m pytest"}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {python} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """Copy the files of a clone that an installation needs."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in ("Makefile", "README.md", "LICENSE", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    for name in ("simulator", "reseller_sim", "contracts", "scenarios", "release"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "home").mkdir()
    path = [str(folder / ".venv" / "bin"), str(programs(tmp_path / "bin")), os.environ["PATH"]]
    variables = environment(
        HOME=str(tmp_path / "home"),
        PATH=os.pathsep.join(path),
        PYTHON=sys.executable,
        PYTHONPATH=str(libraries(tmp_path / "libraries")),
        PIP_NO_INDEX="1",
        PIP_NO_DEPS="1",
        PIP_NO_BUILD_ISOLATION="0",  # pip's own reading: the option is off, and so the build sees our libraries
        RESELLER_SIM_PORT="0",
    )
    return Clone(folder, variables)


def play(part: Sequence[Block], reader: Clone) -> None:
    """Do what the blocks say, in their order."""
    shown = ""
    for step in part:
        if step.action:
            (reader.folder / step.name).write_text(step.text)
        elif step.language == "sh":
            shown = reader.shown(step.text)
        elif step.language == "text":
            assert_shown(step.text, shown)


def test_readme_fits_a_screen_and_a_half_and_its_test_passes(clone: Clone) -> None:
    assert len(README.splitlines()) < 50
    commands, test = blocks(README)
    assert [line.partition("  #")[0].strip() for line in commands.text.splitlines()] == ["make run", "make test"]
    play(steps("Install"), clone)
    clone.folder = clone.folder.parent / "own"
    clone.folder.mkdir()
    play([test], clone)
    assert "1 passed" in clone.shown(f"pytest -q {test.name}")


def test_the_quick_start_from_its_installation_to_its_last_command(clone: Clone) -> None:
    play(steps("Install"), clone)
    assert (clone.folder / ".venv" / "bin" / "reseller-sim").exists()
    serve, *payment = steps("A first payment")
    with clone.running([*shlex.split(serve.text), "--json"]) as server:
        assert server.stdout is not None
        clone.variables["RESELLER_SIM_URL"] = json.loads(server.stdout.readline())["url"]
        play(payment, clone)
    del clone.variables["RESELLER_SIM_URL"]
    clone.folder = clone.folder.parent / "own"
    clone.folder.mkdir()
    play(steps("Failures"), clone)
    play(steps("In your tests"), clone)


def test_make_run_prints_what_works_when_it_is_pasted(clone: Clone) -> None:
    (contributing,) = blocks(CONTRIBUTING)
    run, test = (line.partition("  #")[0].strip() for line in contributing.text.splitlines())
    assert (run, test) == ("make run", "make test")
    assert "pytest" in clone.shown("make -n test")
    with clone.running(shlex.split(run)) as server:
        banner = until_call(server)
        pasted = next(line for line in banner if line.startswith("curl "))
        answer = clone.json(pasted)["data"]
        assert answer["status"] == "Accepted"
        assert clone.json(banner[-1])["data"]["status"] == "Accepted"
        (inbox,) = [line.strip() for line in banner if line.startswith(" ") and " inbox " in line]
        url = banner[0].rpartition(" ")[2]
        assert "Succesful" in clone.shown(f".venv/bin/reseller-sim advance 5s --url {url}")
        told = [item["json"]["data"] for item in clone.json(f"{inbox} --json")["items"]]
        of_it = [one["status"] for one in told if one["refid"] == answer["refid"]]
        assert of_it == ["Processing", "Succesful"]


def until_call(server: subprocess.Popen[str]) -> list[str]:
    """The lines of a banner, which ends with a `call`; before them make says what it does once."""
    assert server.stdout is not None
    assert server.stderr is not None
    lines = [server.stdout.readline().rstrip("\n")]
    while " call " not in lines[-1]:
        line = server.stdout.readline()
        assert line, "\n".join([*lines, server.stderr.read()])
        lines.append(line.rstrip("\n"))
    answering = next(number for number, line in enumerate(lines) if " answers at " in line)
    assert "once" in "".join(lines[:answering])
    return lines[answering:]
