"""Servers on one PostgreSQL, and payments at them."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from simulator.staging.signed_requests import Credentials, sign
from tests.support.client import Response
from tests.support.processes import DEADLINE_S, Serving, ask, serving

JSON = {"content-type": "application/json"}
LEASE_S = 2.0


@contextmanager
def server(database: str, *flags: str, lease_s: float = LEASE_S, **variables: Any) -> Iterator[Serving]:
    """Run a server on a database."""
    words = ("--port", "0", "--json", "--store", database, "--lease", f"{lease_s}s", *flags)
    with serving(*words, **variables) as running:
        yield running


def control(running: Serving, method: str, path: str, body: Any = None) -> Response:
    """Send a request to the control API."""
    content = None if body is None else json.dumps(body).encode()
    return ask(f"{running.ready['url']}/_sim{path}", method, content, JSON if content else {})


def pay(running: Serving, refid: str, sandbox: str = "default", timeout_s: float = DEADLINE_S) -> Response:
    """Pay with the first reseller of the scenario."""
    reseller = running.ready["resellers"][0]
    body = json.dumps({"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": 10}).encode()
    address = f"{running.ready['url']}/s/{sandbox}"
    credentials = Credentials(reseller["api_key"], reseller["api_secret"])
    signed = sign("POST", address, "/v2/topup", body, credentials)
    return ask(signed.url, "POST", body, dict(signed.headers), timeout_s)


def refids(running: Serving, sandbox: str = "default") -> set[str]:
    """Return the refids of all payments of a sandbox."""
    answer = control(running, "GET", f"/sandboxes/{sandbox}/transactions?limit=1000")
    return {row["refid"] for row in answer.json["transactions"]}


def await_true(is_true: Callable[[], bool], deadline_s: float = DEADLINE_S) -> float:
    """Wait until a condition holds, and return for how long."""
    began_s = time.monotonic()  # clock: other processes have to act
    while not is_true():
        assert time.monotonic() - began_s < deadline_s, "it takes too long"
        time.sleep(0.05)  # sleep: other processes have to act
    return time.monotonic() - began_s
