"""The console of a real server in a real Chromium: one of each for a module, a fresh sandbox for a test."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.support.browser import page as opened_page
from tests.support.client import Response
from tests.support.processes import Serving, ask, serving
from tests.support.signing import sign

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

_ids = count(1)
UNTIL_S = 60


class Console:
    """A sandbox, and the page that shows it. `mistakes` is all that the page logged as an error or failed to load."""

    def __init__(self, server: Serving, page: "Page", mistakes: list[str]) -> None:
        self.server = server
        self.url: str = server.ready["url"]
        self.page, self.mistakes = page, mistakes
        self.sandbox = ""
        self.reseller: dict[str, Any] = {}

    def new_sandbox(self, scenario: object = "default", mode: str = "manual") -> None:
        """Create a sandbox with a manual clock, without opening it in the page."""
        asked = {"id": f"console-{next(_ids)}", "scenario": scenario, "clock": {"mode": mode}}
        made = self.control("POST", "sandboxes", asked)
        self.sandbox, self.reseller = made["id"], made["resellers"][0]

    def open(self, view: str = "live") -> "Page":
        """Lead the page to a view of the sandbox, such as `payments/TRXID?at=…`."""
        self.page.goto(f"{self.url}/_sim/s/{self.sandbox}/{view}")
        return self.page

    def control(self, method: str, path: str, body: object = None) -> Any:
        """A request to the control API, which has to be accepted; its JSON."""
        sent = None if body is None else json.dumps(body).encode()
        token = self.server.ready["control_token"]
        answer = ask(f"{self.url}/_sim/{path}", method, sent, {"Authorization": f"Bearer {token}"} if token else {})
        assert answer.status < 300, answer.body
        return answer.json if answer.body else None

    def mine(self, method: str, path: str, body: object = None) -> Any:
        """Call the control API below the sandbox: `mine("POST", "clock/advance", {"seconds": 5})`."""
        return self.control(method, f"sandboxes/{self.sandbox}/{path}".rstrip("/"), body)

    def call(self, method: str, path: str, body: object = None) -> Response:
        """A signed request of the reseller."""
        sent = b"" if body is None else json.dumps(body).encode()
        # clock: the timestamp of a signature, and the bound of a wait
        moment, nonce = str(int(time.time())), f"console-nonce-{next(_ids):012d}"
        secret = base64.b64decode(self.reseller["api_secret"])
        signature = sign(method, path.partition("?")[2], sent, timestamp=moment, nonce=nonce, secret=secret)
        names = ("X-Api-Key", "X-Timestamp", "X-Nonce", "X-Signature")
        signed = dict(zip(names, (self.reseller["api_key"], moment, nonce, signature), strict=True))
        return ask(f"{self.url}/s/{self.sandbox}{path}", method, sent or None, signed)

    def pay(self, refid: str, **changes: str) -> str:
        """A payment; its trxid."""
        self.pay_only(refid, **changes)
        found = self.mine("GET", f"transactions?refid={quote(refid)}")["transactions"]
        return str(found[0]["trxid"]) if found else ""

    def pay_only(self, refid: str, **changes: str) -> None:
        """The same, without asking for its trxid."""
        body = {"refid": refid, "product": "FP", "account": "0123456789", "amount": "5"} | changes
        self.call("POST", "/v2/topup", body)

    def inbox(self, name: str, body: bytes, headers: dict[str, str]) -> None:
        """A message from a stranger."""
        ask(f"{self.url}/_sim/inbox/{self.sandbox}/{name}", "POST", body, headers)

    def forgive(self, status: int) -> None:
        """Remove the browser's log entry about a refusal with this status, which the test provoked."""
        said = f"Failed to load resource: the server responded with a status of {status}"
        found = [one for one in self.mistakes if one.startswith(said)]
        assert found, self.mistakes
        self.mistakes.remove(found[0])

    def until(self, expression: str) -> None:
        """Wait until an expression is true in the page. The page's policy forbids `wait_for_function`."""
        deadline = time.monotonic() + UNTIL_S
        while not self.page.evaluate(expression):
            assert time.monotonic() < deadline, expression
            self.page.wait_for_timeout(20)

    def forget_refusals(self) -> None:
        """Remove the browser's log entries about refusals (4xx), which are no mistakes of a page that shows the
        answer."""
        self.mistakes[:] = [one for one in self.mistakes if "the server responded with a status of 4" not in one]

    def row(self, text: str) -> "Locator":
        """The rows of the list that is shown which have this text, newest first."""
        return self.page.locator("sim-list .rows .row", has_text=text)


@contextmanager
def console(*flags: str) -> Iterator[Console]:
    """A server with these flags of `serve`, and a page. At the end the page must have made no mistake."""
    with serving("--port", "0", "--json", *flags) as server, opened_page() as (page, mistakes):
        shown = Console(server, page, mistakes)
        yield shown
        assert mistakes == [], mistakes
