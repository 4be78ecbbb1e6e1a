"""Payments with incomplete bodies: the sender leaves, or sends more than the server reads."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.client import Client


async def unfinished(
    client: Client,
    announced: bytes | None,
    body: bytes,
    *,
    leaves: bool = False,
    meanwhile: Callable[[], Awaitable[Any]] | None = None,
) -> None:
    """Send a payment with a body of the `announced` length, or in chunks if that is None. Only `body` is sent; then the
    sender leaves, or the body is complete. `meanwhile` runs before the last message."""
    length = (b"content-length", announced) if announced else (b"transfer-encoding", b"chunked")
    pairs = [(b"host", b"x"), length]
    pairs += [(name.lower().encode(), value.encode()) for name, value in client.signature("POST", "", b"").items()]
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": leaves}]
    messages += [{"type": "http.disconnect"}] if leaves else []
    scope = {"type": "http", "method": "POST", "path": "/v2/topup", "raw_path": b"/v2/topup", "query_string": b""}
    scope |= {"headers": pairs, "client": ("127.0.0.1", 1)}

    async def receive() -> dict[str, Any]:
        if meanwhile is not None and len(messages) == 1:
            await meanwhile()
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        pass

    await client.app(scope, receive, send)
