"""Payments of which only a part comes: their senders leave, or send more than is read."""

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
    """A request with a body of the `announced` length, in chunks if that is None, of which `body` comes; then its
    sender leaves, or it is whole. `meanwhile` happens before the last message."""
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
