"""The tutorial of docs/scenarios.md, run from an empty folder: each command, and the output that the page shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import (
    DEADLINE_S,
    PROGRAM,
    Serving,
    environment,
    serving,
)

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text("utf-8")
TUTORIAL = PAGE.partition("## In ten minutes\n")[2].partition("\n## ")[0]
BLOCK = re.compile(r"(?:<!-- (file|append): (\S+) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
ADDRESS = "http://127.0.0.1:8080"
CURL = """#!{python}
import sys, urllib.request
words = sys.argv[1:]
body = words[words.index("-d") + 1].encode() if "-d" in words else None
url = next(word for word in words if word.startswith("http"))
print(urllib.request.urlopen(urllib.request.Request(url, body)).read().decode(), end="")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, and beside it the commands that the tutorial wants on the path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program(programs / "reseller-sim", f'#!/bin/sh\nexec {" ".join(PROGRAM)} "$@"\n')
    if shutil.which("curl") is None:
        program(programs / "curl", CURL.format(python=sys.executable))
    empty = tmp_path / "empty"
    empty.mkdir()
    return empty


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def printed(commands: str, folder: Path, url: str) -> str:
    """What a terminal would show of some commands; those that fail go on."""
    variables = environment(PATH=f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}")
    if url:
        variables["RESELLER_SIM_URL"] = url
    variables["PYTHONPATH"] = str(Path(__file__).parents[2])
    done = subprocess.run(
        ["/bin/sh", "-c", commands.replace(ADDRESS, url)],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=4 * DEADLINE_S,
        check=False,
    )
    shown = done.stdout.decode()
    return shown.replace(url.removeprefix("http://"), ADDRESS.removeprefix("http://")) if url else shown


def assert_shown(expected: str, shown: str) -> None:
    """Each line is somewhere in what was shown; `…` stands for anything."""
    for line in expected.splitlines():
        assert re.search(".*?".join(map(re.escape, line.split("…"))), shown), f"{line!r} is not in {shown}"


def await_line(server: Serving, wanted: str) -> None:
    assert server.process.stderr is not None
    while wanted not in (line := server.process.stderr.readline()):
        assert line, f"{wanted!r} was not printed"


def test_the_tutorial_works_from_an_empty_folder(folder: Path) -> None:
    blocks = BLOCK.findall(TUTORIAL)
    begin = next(place for place, block in enumerate(blocks) if "reseller-sim serve" in block[3])
    shown = follow(blocks[:begin], folder)
    assert "mine.yaml: ok" in shown
    with serving(str(folder / "mine.yaml"), "--watch", "--port", "0", "--json") as server:
        follow(blocks[begin + 1 :], folder, server)
    assert "$schema=./scenario.schema.json" in (folder / "mine.yaml").read_text()
    assert (folder / "scenario.schema.json").is_file()


def follow(blocks: list[tuple[str, str, str, str]], folder: Path, server: Serving | None = None) -> str:
    """Do what the blocks say, in their order; returns what was shown last."""
    shown = ""
    for action, name, language, text in blocks:
        if language == "yaml":
            with (folder / name).open("a" if action == "append" else "x") as file:
                file.write(text)
            if server is not None:
                await_line(server, "mine.yaml: loaded")
        elif language == "sh":
            shown = printed(text, folder, server.ready["url"] if server else "")
        else:
            assert_shown(text, shown)
    return shown


def test_check_reports_the_mistake_of_the_tutorial_as_printed(folder: Path) -> None:
    (first,) = (text for action, _, _, text in BLOCK.findall(TUTORIAL) if action == "file")
    (folder / "mine.yaml").write_text(first.replace("suffix", "sufix"))
    shown = printed("reseller-sim check mine.yaml", folder, "")
    assert f"`{shown.strip()}`" in TUTORIAL
