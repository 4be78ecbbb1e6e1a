"""Reads a body before its request begins, while nothing may wait for one in a sandbox.

A snapshot of a sandbox is taken when no request waits there. Whoever sends bodies slowly, one beside the other, could
put it off for ever. A request whose body is read ahead begins when all of it is here, and never waits for it.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any

from simulator.api.body import BodyTooLarge, is_announced, refuse_declared
from simulator.api.call import Receive
from simulator.auth.signature import BODY_BYTES_MAX


async def read_ahead(headers: Mapping[bytes, bytes], receive: Receive) -> Receive:
    """What has the body of a request at once that `receive` has yet to receive, up to its end, its bound, or the end of
    the connection."""
    try:
        refuse_declared(headers, BODY_BYTES_MAX)
    except BodyTooLarge:
        return receive  # it is refused by its head
    if not is_announced(headers):
        return receive
    found: deque[Any] = deque()
    total, is_over = 0, False
    while not is_over:
        message = await receive()
        found.append(message)
        total += len(message.get("body", b""))
        is_over = message["type"] != "http.request" or not message.get("more_body") or total > BODY_BYTES_MAX

    async def again() -> Any:
        return found.popleft() if found else await receive()

    return again
