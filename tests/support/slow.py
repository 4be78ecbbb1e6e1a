"""A request whose body comes later than its head."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.client import HOST, Client, Response
from tests.support.contract_check import assert_in_contract


async def slow_body(
    client: Client,
    method: str,
    path: str,
    body: bytes,
    headers: dict[str, str],
    meanwhile: Callable[[], Awaitable[Any]],
) -> Response:
    """Send a head, let something happen, send the body."""
    pairs = [("host", HOST), ("content-length", str(len(body))), *headers.items()]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "root_path": "",
        "extensions": {},
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await meanwhile()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await client.app(scope, receive, send)
    named = {name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]}
    answer = Response(sent[0]["status"], named, b"".join(message.get("body", b"") for message in sent[1:]))
    assert_in_contract(method, path, answer.status, answer.headers, answer.body)
    return answer
