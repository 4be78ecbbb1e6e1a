"""docs/proxy.md, played: a simulator is the staging, and its inbox the receiver."""

import re
import shlex
import signal
from pathlib import Path

import pytest

from simulator.contract.openapi import PROXY, load
from simulator.control.access import Guard
from simulator.staging.proxy.proxy_control import ProxyControl
from simulator.staging.proxy.secrets import SeenSecrets, Signatures
from simulator.staging.proxy.watcher import Watcher
from tests.support.pages import ADDRESS, assert_shown, blocks, empty_folder, printed
from tests.support.processes import ROOT, serving
from tests.support.proxies import audit

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "proxy.md").read_text("utf-8")
PROXY_ADDRESS = "http://127.0.0.1:8090"


def shown_by(commands: str, folder: Path, upstream: str, proxy: str) -> str:
    """Return the output of a terminal, with the addresses of the page."""
    text = commands.replace(ADDRESS, upstream).replace(PROXY_ADDRESS, proxy)
    return printed(text, folder, "").replace(upstream, ADDRESS).replace(proxy, PROXY_ADDRESS)


def test_the_page_is_played(tmp_path: Path) -> None:
    folder = empty_folder(tmp_path)
    started, *steps = blocks(PAGE)
    with serving("--port", "0", "--json", "--clock", "manual") as server:
        upstream = server.ready["url"]
        _, verb, *flags = shlex.split(started.text.replace(ADDRESS, upstream))
        with serving(*flags, "--port", "0", "--json", verb=verb) as proxy:
            shown = ""
            for step in steps:
                if step.language == "sh":
                    shown = shown_by(step.text, folder, upstream, proxy.ready["url"])
                else:
                    assert_shown(step.text, shown)
            assert proxy.stop(signal.SIGTERM) == (0, "", "")


def test_the_page_and_the_contract_list_every_path_of_the_proxy() -> None:
    watcher = Watcher(Signatures(), SeenSecrets())
    paths = list(ProxyControl(watcher, Guard(None, ()), audit, {}).paths)
    listed = re.findall(r"^\| `GET (\S+)` \|", PAGE, re.MULTILINE)
    assert listed == paths == [path.replace("{sandbox}", "default") for path in load(PROXY)["paths"]]
