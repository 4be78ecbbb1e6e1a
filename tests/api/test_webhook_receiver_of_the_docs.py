"""The receiver of docs/webhooks.md, which readers will copy: it verifies, takes an event once, passes the probes."""

import re
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from simulator.runtime.clock import wall_clock
from tests.support.client import running
from tests.support.pages import blocks
from tests.support.webhooks import deposit, secret_of

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"
LAST_LINE = 'HTTPServer(("127.0.0.1", 9000), Events).serve_forever()'


def receiver_of_the_docs(server: Any, secret: str) -> Any:
    """The example with a secret and a free port, not served yet."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found, "the page has an example"
    code = found[1].replace("5f1c…", secret)
    assert LAST_LINE in code
    names: dict[str, Any] = {}
    exec(code.replace(LAST_LINE, ""), names)  # noqa: S102  # our own docs
    server.RequestHandlerClass = names["Events"]
    return names


def test_the_receiver_of_the_docs_accepts_each_genuine_event_once_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer

    with running(wall=wall_clock) as client, HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        names = receiver_of_the_docs(server, secret_of(client, f"http://127.0.0.1:{server.server_port}/events"))
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            deposit(client, "12.50")
            client.advance()
            results = client.sim("POST", "/sandboxes/default/probes", {"reseller": "RS001"}).json["probes"]
        finally:
            server.shutdown()
            thread.join()
        assert {one["verdict"] for one in results if one["probe"].startswith("webhook-")} == {"ok"}
        assert capsys.readouterr().out.splitlines()[0] == "12.5 added, balance 5012.5"
        assert len(names["seen"]) == 2


def test_the_receivers_for_tests_of_the_docs_print_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    page = blocks(PAGE.read_text("utf-8"))
    places = [n for n, block in enumerate(page) if "import Receiver" in block.text]
    assert len(places) == 2
    for place in places:
        exec(page[place].text, {})  # noqa: S102  # our own docs
        assert capsys.readouterr().out == page[place + 1].text
