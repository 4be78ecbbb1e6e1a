"""Requests that were played against the simulator, as examples of the contract's operations.

A story is a sequence of calls against a simulator of its own, whose clock and seed are fixed. Every exchange is
remembered; the first of an operation and status is its example.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from simulator import __version__
from simulator.contract.openapi import CONTROL, OPENAPI, load
from simulator.contract.responses import path_item
from tests.support.client import Client, Response, running
from tests.support.contract_check import is_of_control
from tests.support.contract_responses import FILE

METHODS = ("get", "put", "post", "delete", "patch")
MEASURED = {"duration_us": 850, "time": 0.85, "wait": 0.85}  # what differs each time
SIGNED_ANEW = re.compile("(X-Nonce: again-|X-Signature: v1=)[^']+")  # a new value each time
EVENT_ID = re.compile(r"^[0-9a-f]{8}\.([0-9]+\.[0-9]+)$")
EXAMPLE_VERSION = "0.1.0"
LISTED_MAX = 3  # of a longer list an example shows the beginning
METRIC_LINES = 6  # of the metrics, too: later lines are measurements
DEFAULT = "/sandboxes/default"


@dataclass(frozen=True)
class Exchange:
    """A request and its response, with their operation. Bodies are None if they are missing."""

    document: str
    template: str
    method: str
    path_values: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any
    status: int
    answer: Any
    headers: Mapping[str, str]
    sent_headers: Mapping[str, str]

    @property
    def operation(self) -> dict[str, Any]:
        """The operation in the document; empty for a method that the path does not support."""
        found: dict[str, Any] = load(self.document)["paths"][self.template].get(self.method, {})
        return found


class Player:
    """Plays the requests of a story and records the exchanges. `seen` is called after each exchange of a described
    operation."""

    def __init__(self, client: Client, seen: Callable[[Exchange], object]) -> None:
        self.client = client
        self._seen = seen
        self._nonces = count(1)

    def call(self, method: str, target: str, body: Any = None, **more: Any) -> Response:
        """A signed request of the reseller API."""
        nonce = f"example-nonce-{next(self._nonces):04d}"
        response = self.client.call(method, target, body, **{"nonce": nonce, **more})
        self._remember(method, target, body, response, more.get("headers"))
        return response

    def send(self, method: str, target: str, body: Any = None, **headers: str) -> Response:
        """A request that is not signed, of either API; texts are sent as they are."""
        path, _, query = target.partition("?")
        content = body.encode() if isinstance(body, str) else self.client.encoded(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.client.send(method, path, query, content, named)
        self._remember(method, target, body, response, named)
        return response

    def sim(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        """A request of the control API; `path` comes after `/_sim`."""
        return self.send(method, f"/_sim{path}", body, **headers)

    def beside(self, others: list[tuple[str, str, Any]], method: str, path: str, body: Any = None) -> None:
        """A request of the control API while others are under way, which are not remembered."""

        async def all_at_once() -> Response:
            under_way = [asyncio.ensure_future(self.client.asim(*other)) for other in others]
            for _ in range(4):
                await asyncio.sleep(0)
            response = await self.client.asim(method, path, body)
            for one in under_way:
                one.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
            return response

        self._remember(method, f"/_sim{path}", body, self.client.run(all_at_once()))

    def pay(self, refid: str, product: str = "RELOAD", account: str = "0123456789", amount: Any = "10") -> Response:
        """A payment."""
        body = {"refid": refid, "product": product, "account": account, "amount": amount}
        return self.call("POST", "/v2/topup", body)

    def advance(self, seconds: float | None = None) -> Response:
        """Let time pass."""
        wanted = {"until": "idle"} if seconds is None else {"seconds": seconds}
        return self.sim("POST", f"{DEFAULT}/clock/advance", wanted)

    def _remember(
        self, method: str, target: str, body: Any, response: Response, headers: Mapping[str, str] | None = None
    ) -> None:
        path, _, query = target.partition("?")
        document = CONTROL if is_of_control(path) else OPENAPI
        item = path_item(load(document), path)
        template = next((name for name, one in load(document)["paths"].items() if one is item), "")
        if template:
            names = dict(zip(template.split("/"), path.split("/"), strict=True))
            values = dict(_value(part, value) for part, value in names.items() if part.startswith("{"))
            is_text = response.headers.get("content-type", "").startswith("text/plain")
            content = _first_event(response) or response.body
            is_file = response.headers.get("content-type", "") == FILE
            answer = content.decode() if is_text else json.loads(content) if content and not is_file else None
            sent = dict(parse_qsl(query))
            if isinstance(body, str) and body.startswith(("username=", "refresh_token=")):
                body = dict(parse_qsl(body))
            said = (document, template, method.lower(), values, sent, body)
            self._seen(Exchange(*said, response.status, answer, response.headers, headers or {}))


def _value(part: str, value: str) -> tuple[str, str]:
    """Return the name and value of a parameter in a path, without any suffix."""
    name, _, behind = part[1:].partition("}")
    return name, value.removesuffix(behind)


Story = Callable[[Player], None]


@contextmanager
def player(seen: Callable[[Exchange], object], scenario: Any = "default", **options: Any) -> Iterator[Player]:
    """Yield a player with a new simulator."""
    with running(scenario, **options) as client:
        yield Player(client, seen)


def shown(exchange: Exchange) -> Any:
    """Return an answer as an example: shortened lists, fixed measurements, and only the outline of contracts and
    schemas."""
    answer = exchange.answer
    if exchange.template.endswith("openapi.json"):
        answer = {key: value for key, value in answer.items() if key in ("openapi", "info", "servers", "tags")}
        answer |= {"paths": {}, "components": {}}
    if exchange.template.endswith(".schema.json"):
        answer = {"$schema": answer["$schema"], "properties": {}, "definitions": {}}
    if exchange.template.endswith("/metrics") and exchange.status == HTTPStatus.OK:
        answer = "".join(answer.splitlines(keepends=True)[:METRIC_LINES])
    if exchange.template.endswith("/explain") and exchange.status == HTTPStatus.OK:
        answer = answer | {"curl": SIGNED_ANEW.sub(r"\1...", answer["curl"])}
    return _shortened(answer)


def _first_event(response: Response) -> bytes:
    """The data of a stream's first event; empty for another answer."""
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return b""
    return next(line[6:] for line in response.body.split(b"\n") if line.startswith(b"data: "))


def _stable_text(value: str) -> str:
    """Return a text without what differs between servers, the boot in the id of an event, and between commits."""
    return EVENT_ID.sub(r"0123abcd.\1", value).replace(__version__, EXAMPLE_VERSION)


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return _stable_text(value)
    if isinstance(value, list):
        return [_shortened(each) for each in value[:LISTED_MAX]]
    if isinstance(value, dict):
        return {
            name: MEASURED[name] if name in MEASURED and isinstance(each, int | float) else _shortened(each)
            for name, each in value.items()
        }
    return value
