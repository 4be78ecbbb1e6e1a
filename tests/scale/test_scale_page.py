"""docs/scale.md, played: three servers and HAProxy in a folder, with other ports than the page's."""

import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.pages import ADDRESS, assert_shown, blocks, empty_folder, printed_on_terminal
from tests.support.processes import ROOT, Serving, free_port, serving
from tests.support.sharded import Proxy, haproxy

pytestmark = [pytest.mark.slow, pytest.mark.needs("haproxy")]

PAGE = (ROOT / "docs" / "scale.md").read_text("utf-8")
PLAYED = PAGE.partition("## Owners of requests")[0]


class Terminals:
    """Programs that the page starts in terminals of their own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._servers: dict[str, Serving] = {}
        self._known: set[str] = set()
        self._proxy: Proxy | None = None

    def do(self, line: str) -> None:
        """Start a server or the proxy, end servers, or reload the configuration of the proxy."""
        program, *words = shlex.split(line)
        if program == "haproxy":
            assert words == ["-f", "haproxy.cfg"]
            self._proxy = self._stack.enter_context(haproxy(self._folder / "haproxy.cfg"))
            self._known = set(self._servers)
        elif program == "systemctl":
            assert words == ["reload", "haproxy"]
            assert self._proxy is not None
            self._proxy.reload()
            self._known = set(self._servers)
            self._await("DOWN", [one for one in self._servers if self._servers[one].process.poll() is not None])
        elif program == "kill":
            self._end([word.removeprefix("PID-OF-") for word in words if word != "-9"], is_killed="-9" in words)
        else:
            self._serve(*words)

    def _serve(self, verb: str, *flags: str) -> None:
        name = flags[flags.index("--shard") + 1]
        is_back = name in self._servers
        started = serving(*flags, "--json", verb=verb, folder=str(self._folder))
        self._servers[name] = self._stack.enter_context(started)
        if is_back:
            self._await("UP", [name])

    def _end(self, names: list[str], *, is_killed: bool) -> None:
        for name in names:
            process = self._servers[name].process
            process.kill() if is_killed else process.terminate()
            process.wait()
        self._await("DOWN", names)

    def _await(self, state: str, names: list[str]) -> None:
        """Wait until the proxy sees these servers so, as far as it knows them."""
        assert self._proxy is not None
        self._proxy.await_said(*(f"Server anywhere/{name} is {state}" for name in names if name in self._known))


def with_ports(text: str, ports: dict[str, str]) -> str:
    return re.sub(r"\b808[0-4]\b", lambda found: ports[found[0]], text)


def test_the_page_is_played(tmp_path: Path) -> None:
    folder = empty_folder(tmp_path)
    ports = {port: str(free_port()) for port in ("8080", "8081", "8082", "8083", "8084")}
    url = ADDRESS.replace("8080", ports["8080"])
    shown = ""
    with ExitStack() as stack:
        terminals = Terminals(folder, stack)
        for action, name, language, text in blocks(PLAYED):
            if action:
                with (folder / name).open("a" if action == "append" else "w") as file:
                    file.write(with_ports(text, ports))
            elif language == "sh":
                listen = f" --listen 127.0.0.1:{ports['8080']}"
                shown = printed_on_terminal(re.sub(r"(shard-config \S+)", rf"\1{listen}", text), folder, url)
            elif language == "console":
                for line in text.splitlines():
                    terminals.do(with_ports(line, ports))
            else:
                assert_shown(text, shown)
