"""Helpers for tables of bad requests: how a request is sent, how its answer is summarised, and which state must not
change.

A table is a list of tuples: a name, the request, and the summary of its answer by `said`. To cover another case, add a
line. Every endpoint of the contract (`operations`) gets each bad input, so new endpoints are covered without a new
line. `conftest` checks that no request changes anything.
"""

import asyncio
import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from time import perf_counter
from typing import Any

from simulator.contract.openapi import CONTROL, OPENAPI, load
from simulator.runtime.live_sandbox import LiveSandbox
from tests.support.anatomy import anatomy
from tests.support.client import (
    HOST,
    Client,
    Response,
    exchange,
)
from tests.support.contract_check import INBOX_PREFIX, assert_in_contract, is_of_control
from tests.support.signing import sign

NOTHING = "nothing"
PATIENCE_S = 20.0  # no request of these tables may take longer, however slow the machine is
_nonces = count(1)

Headers = dict[str, str]


@dataclass(frozen=True)
class Operation:
    """A method of a path of the contract. `path` has values for its parameters, which name existing objects if these
    are known."""

    document: str
    method: str
    path: str
    template: str
    query: tuple[str, ...]
    takes_body: bool
    needs_body: bool
    is_stream: bool  # its answer never ends

    @property
    def names_nothing(self) -> bool:
        """Whether a parameter of the path names no existing object, so that 404 is a valid answer."""
        return NOTHING in self.path

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


def said(answer: Response) -> str:
    """Return the status, and the parts of an error that are for programs: its code, the reason of a payment, the fields
    at fault."""
    if answer.status in (0, 204) or not answer.body or "json" not in answer.headers.get("content-type", ""):
        return str(answer.status)
    body = answer.json
    if "error" in body:
        return f"{answer.status} {body['error']}"
    if isinstance(body.get("data"), dict) and body["data"].get("status") == "Failed" and answer.status == 400:
        return f"400 {body['data']['remarks']}"
    if isinstance(body.get("errors"), dict):
        return f"{answer.status} {','.join(sorted(body['errors']))}".strip()
    return str(answer.status)


def ask(
    client: Client,
    method: str,
    target: str,
    body: bytes = b"",
    headers: Headers | Iterable[tuple[str, str]] = (),
    *,
    signed: bool = True,
) -> Response:
    """Send a request and check that the answer is in time and in the contract, and that the journal has it once if it
    should.

    A request of the reseller API is signed by default. `headers` override headers of the signature by name.
    """
    path, _, query = target.partition("?")
    is_control = is_of_control(path)
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    names = {name.lower() for name, _ in pairs}
    if signed and not is_control:
        made = _signature(client, method, query, body)
        pairs = [(name, value) for name, value in made.items() if name.lower() not in names] + pairs
    if body and not names & {"content-length", "transfer-encoding"}:
        pairs.append(("content-length", str(len(body))))
    if "host" not in names:
        pairs.append(("host", HOST))
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": query.encode("latin-1"),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "root_path": "",
        "extensions": {},
    }
    journaled = client.live.journal.last_n
    # clock: a bound of 20 s, for what blocks the loop and so is beyond a bounded wait
    began = perf_counter()
    answer = client.run(asyncio.wait_for(exchange(client.app, scope, body), PATIENCE_S))
    assert perf_counter() - began < PATIENCE_S
    assert_in_contract(method, path, answer.status, answer.headers, answer.body)
    assert client.live.journal.last_n - journaled == (not is_control)
    return answer


def ids(rows: Iterable[Any]) -> list[str]:
    """The names of a table's rows, their first columns, for pytest."""
    return [str(row[0])[:60] for row in rows]


def operations(document: str = OPENAPI, **known: str) -> list[Operation]:
    """Everything that a document of the contract describes; `known` fills path parameters, others name nothing."""
    found = []
    for template, item in load(document)["paths"].items():
        for method, one in item.items():
            if method not in ("get", "put", "post", "delete", "patch") or template.startswith(INBOX_PREFIX):
                continue
            parameters = [
                _resolved(document, each) for each in (*item.get("parameters", ()), *one.get("parameters", ()))
            ]
            found.append(
                Operation(
                    document,
                    method.upper(),
                    re.sub(r"\{([^}]+)\}", lambda match: known.get(match[1], NOTHING), template),
                    template,
                    tuple(each["name"] for each in parameters if each["in"] == "query"),
                    "requestBody" in one,
                    bool(one.get("requestBody", {}).get("required")),
                    "text/event-stream" in one["responses"].get("200", {}).get("content", ()),
                )
            )
    return found


def control_operations() -> list[Operation]:
    """Return the operations of the control API, with the default sandbox and its objects as parameters."""
    known = {"code": "RS001", "name": "callbacks", "n": "1", "key": "test_key_RS001", "product": "RELOAD"}
    found = operations(CONTROL, sandbox="default", **known)
    places = {
        "/products/RS001": "/products/GAME",
        f"/categories/{NOTHING}": "/categories/games",
        f"/groups/{NOTHING}": "/groups/leisure",
    }
    for wrong, right in places.items():
        found = [replace(one, path=one.path.replace(wrong, right)) for one in found]
    return found


def _resolved(document: str, part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    found: Any = load(document)
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    assert isinstance(found, dict)
    return found


def _signature(client: Client, method: str, query: str, body: bytes) -> Headers:
    nonce, stamp = f"hostile-{next(_nonces):012d}", str(int(client.wall().timestamp()))
    secret = base64.b64decode(client.secret)
    return {
        "X-Api-Key": client.key,
        "X-Timestamp": stamp,
        "X-Nonce": nonce,
        "X-Signature": sign(method, query, body, timestamp=stamp, nonce=nonce, secret=secret),
    }


# State that must not change

# The parts of a sandbox's state that a refused request may change, and the shared, frozen parts.
_EXPECTED = frozenset({"compiler", "noted", "nonces", "rates", "now", "scenario", "catalog", "_magic", "_magic_by_id"})


def facts(client: Client) -> dict[str, Any]:
    """All that the sandboxes know, as plain values that can be compared: money, payments, rules, agenda, clocks."""
    return {live.id: _facts(live) for live in client.app.sandboxes}


def _facts(live: LiveSandbox) -> Any:
    clock = (live.clock.mode, live.clock.rate, live.clock.now())
    return clock, live.core.violations(), live.inboxes.counts(), anatomy(live.core.state, _EXPECTED)
