"""Documentation pages whose commands are run: their blocks, and what a terminal would show of each.

A block below `<!-- file: NAME -->` writes that file, one below `<!-- append: NAME -->` appends to it. A `sh` block is
run; the `text` block below it must be in what it printed.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.support.processes import DEADLINE_S, PROGRAM, ROOT, Serving, environment
from tests.support.terminal import shown_on_terminal

SCENARIOS = (ROOT / "docs" / "scenarios.md").read_text("utf-8")
RECIPES = (ROOT / "docs" / "recipes.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8080"
_BLOCK = re.compile(r"(?:<!-- (file|append): (\S+) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
CURL = """#!{python}
import sys, urllib.error, urllib.request
words = sys.argv[1:]
after = dict(zip(words, words[1:]))
body = after["-d"].encode() if "-d" in words else None
if "--data-binary" in words:
    name = after["--data-binary"][1:]
    body = sys.stdin.buffer.read() if name == "-" else open(name, "rb").read()
headers = dict([after["-H"].split(": ")]) if "-H" in words else {{}}
url = next(word for word in words if word.startswith("http"))
try:
    answer = urllib.request.urlopen(urllib.request.Request(url, body, headers))
except urllib.error.HTTPError as error:
    answer = error
print(answer.read().decode(), end="")
"""


class Block(NamedTuple):
    """A block of a page. `action` is `file`, `append` or empty, and `name` names the file."""

    action: str
    name: str
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page, or of a part of a page."""
    return [Block(*found) for found in _BLOCK.findall(page)]


def empty_folder(tmp_path: Path) -> Path:
    """Return an empty folder, next to a folder with the commands that the pages expect on the PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    _program(programs / "reseller-sim", f'#!/bin/sh\nexec {" ".join(PROGRAM)} "$@"\n')
    if shutil.which("curl") is None:
        _program(programs / "curl", CURL.format(python=sys.executable))
    empty = tmp_path / "empty"
    empty.mkdir()
    return empty


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def printed(commands: str, folder: Path, url: str, deadline_s: float = 4 * DEADLINE_S) -> str:
    """Return the terminal output of some commands. A failed command does not stop the others."""
    done = subprocess.run(
        _shell(commands, url),
        cwd=folder,
        env=_variables(folder, url),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=deadline_s,
        check=False,
    )
    return _with_address(done.stdout.decode(), url)


def printed_on_terminal(commands: str, folder: Path, url: str) -> str:
    """Return the output on a terminal, which has tables and indented JSON."""
    variables = {**_variables(folder, url), "NO_COLOR": "1"}
    shown = shown_on_terminal(_shell(commands, url), variables, folder=folder, deadline_s=12 * DEADLINE_S)
    return _with_address(shown, url)


def _shell(commands: str, url: str) -> list[str]:
    return ["/bin/sh", "-c", commands.replace(ADDRESS, url)]


def _variables(folder: Path, url: str) -> dict[str, str]:
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    simulator = {"RESELLER_SIM_URL": url} if url else {}
    return {**environment(PATH=path, PYTHONPATH=str(ROOT)), **simulator}


def _with_address(shown: str, url: str) -> str:
    """Replace the server's address by the address that the pages use."""
    return shown.replace(url.removeprefix("http://"), ADDRESS.removeprefix("http://")) if url else shown


def assert_shown(expected: str, shown: str) -> None:
    """Assert that the lines appear in order in the output; `…` stands for anything within a line."""
    behind = 0
    for line in expected.splitlines():
        found = re.compile(".*?".join(map(re.escape, line.split("…")))).search(shown, behind)
        assert found, f"{line!r} is not in {shown[behind:]}"
        behind = found.end()


def await_line(server: Serving, wanted: str) -> None:
    """Wait until the server prints this."""
    assert server.process.stderr is not None
    while wanted not in (line := server.process.stderr.readline()):
        assert line, f"{wanted!r} was not printed"


def follow(
    steps: list[Block],
    folder: Path,
    server: Serving | None = None,
    show: Callable[[str, Path, str], str] = printed,
) -> str:
    """Follow the blocks in order, and return the last output. `show` is `printed` or `printed_on_terminal`."""
    shown = ""
    for action, name, language, text in steps:
        if action:
            with (folder / name).open("a" if action == "append" else "x") as file:
                file.write(text)
            if server is not None:
                await_line(server, f"{name}: loaded")
        elif language == "sh":
            shown = show(text, folder, server.ready["url"] if server else "")
        else:
            assert_shown(text, shown)
    return shown
