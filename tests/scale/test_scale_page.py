"""docs/scale.md, played: three servers and HAProxy in a folder, with other ports than the page's."""

import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.pages import ADDRESS, assert_shown, blocks, empty_folder, printed_on_terminal
from tests.support.processes import ROOT, Serving, free_port, serving
from tests.support.sharded import Proxy, haproxy

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "scale.md").read_text("utf-8")
PLAYED = PAGE.partition("## What goes where")[0]


class Terminals:
    """What the page starts in terminals of their own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._servers: dict[str, Serving] = {}
        self._proxy: Proxy | None = None

    def do(self, line: str) -> None:
        """Start a server or the proxy, or kill a server."""
        program, *words = shlex.split(line)
        if program == "haproxy":
            assert words == ["-f", "haproxy.cfg"]
            self._proxy = self._stack.enter_context(haproxy(self._folder / "haproxy.cfg"))
        elif program == "kill":
            server = self._servers[words[-1].removeprefix("PID-OF-")]
            server.process.kill()
            server.process.wait()
        else:
            verb, *flags = words
            name = flags[flags.index("--shard") + 1]
            is_back = name in self._servers
            started = serving(*flags, "--json", verb=verb, folder=str(self._folder))
            self._servers[name] = self._stack.enter_context(started)
            if is_back:
                assert self._proxy is not None
                self._proxy.await_said(f"Server anywhere/{name} is UP")


def with_ports(text: str, ports: dict[str, str]) -> str:
    return re.sub(r"\b808[0-3]\b", lambda found: ports[found[0]], text)


def test_the_page_is_played(tmp_path: Path) -> None:
    folder = empty_folder(tmp_path)
    ports = {port: str(free_port()) for port in ("8080", "8081", "8082", "8083")}
    url = ADDRESS.replace("8080", ports["8080"])
    shown = ""
    with ExitStack() as stack:
        terminals = Terminals(folder, stack)
        for action, name, language, text in blocks(PLAYED):
            if action:
                (folder / name).write_text(with_ports(text, ports))
            elif language == "sh":
                listen = f" --listen 127.0.0.1:{ports['8080']}"
                shown = printed_on_terminal(re.sub(r"(shard-config \S+)", rf"\1{listen}", text), folder, url)
            elif language == "console":
                for line in text.splitlines():
                    terminals.do(with_ports(line, ports))
            else:
                assert_shown(text, shown)
