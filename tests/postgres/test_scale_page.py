"""docs/scale.md, played: two servers on a database, with other ports and another address than the page's."""

import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.pages import ADDRESS, assert_shown, blocks, empty_folder, printed_on_terminal
from tests.support.processes import ROOT, Serving, free_port, serving
from tests.support.sharing import await_true, control

pytestmark = [pytest.mark.slow, pytest.mark.needs("initdb")]

PAGE = (ROOT / "docs" / "scale.md").read_text("utf-8")
PLAYED = PAGE.partition("## The address and the password")[0]
WRITTEN = "postgresql://sim@127.0.0.1/sim"


def test_the_page_is_played(database: str, tmp_path: Path) -> None:
    folder, shown = empty_folder(tmp_path), ""
    ports = {port: str(free_port()) for port in ("8081", "8082")}
    servers: list[Serving] = []
    with ExitStack() as stack:
        for _, _, language, written in blocks(PLAYED):
            text = re.sub(r"\b808[12]\b", lambda found: ports[found[0]], written).replace(WRITTEN, database)
            if language == "sh":
                shown = printed_on_terminal(text, folder, ADDRESS)
            elif language == "text":
                assert_shown(text, shown)
            elif "kill -9" in text:
                servers[0].process.kill()
                servers[0].process.wait()
                await_true(lambda: control(servers[1], "GET", "/sandboxes/shop").status == 200)
            elif "serve" in text:
                for line in text.splitlines():
                    _, verb, *flags = shlex.split(line)
                    started = serving(*flags, "--lease", "2s", "--json", verb=verb, folder=str(folder))
                    servers.append(stack.enter_context(started))
        control_of_default = control(servers[1], "GET", "/sandboxes/default")
        assert control_of_default.status == 200
