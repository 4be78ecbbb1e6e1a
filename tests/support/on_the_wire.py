"""A new sandbox for a test in a server that its module shares, and the raw bytes of its answers."""

import asyncio
import base64
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.connections import connected
from tests.support.processes import Serving, ask
from tests.support.signing import sign

PATIENCE_S = 30.0


@dataclass(frozen=True)
class WiredSandbox:
    """A sandbox of a server that listens on `port` of this machine."""

    port: int
    id: str
    key: str
    secret: str

    def request(self, method: str, path: str, body: Any = None, nonce: str = "n" * 16) -> bytes:
        """One signed request as bytes; the server is asked to close after it."""
        content = json.dumps(body).encode() if body else b""
        # clock: the timestamp of a signature
        stamp = str(int(time.time()))
        signature = sign(method, "", content, timestamp=stamp, nonce=nonce, secret=base64.b64decode(self.secret))
        return (
            f"{method} /s/{self.id}{path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: {self.key}\r\nX-Timestamp: {stamp}\r\n"
            f"X-Nonce: {nonce}\r\nX-Signature: {signature}\r\nContent-Length: {len(content)}\r\n"
            "Connection: close\r\n\r\n"
        ).encode() + content

    async def exchange(self, content: bytes) -> bytes:
        """All bytes that come back until the server closes."""
        async with connected(self.port) as (reader, writer):
            writer.write(content)
            try:
                return await asyncio.wait_for(reader.read(), PATIENCE_S)
            except ConnectionResetError:
                return b""

    def pay(self, body: dict[str, Any], nonce: str = "n" * 16) -> bytes:
        """Return the raw answer to a payment."""
        return asyncio.run(self.exchange(self.request("POST", "/v2/topup", body, nonce)))

    @property
    def payments(self) -> int:
        """The number of payments."""
        listed = ask(f"http://127.0.0.1:{self.port}/_sim/sandboxes/{self.id}/transactions").json
        return len(listed["transactions"])


def sandbox_with(server: Serving, faults: Sequence[Any] = (), clock: str = "manual") -> WiredSandbox:
    """A new sandbox of the default scenario with these faults."""
    scenario = {"scenario": "faults", "extends": "default", "clock": clock, "faults": list(faults)}
    url: str = server.ready["url"]
    made = ask(f"{url}/_sim/sandboxes", "POST", json.dumps({"scenario": scenario}).encode())
    assert made.status == 201, made.body
    reseller = made.json["resellers"][0]
    return WiredSandbox(int(url.rpartition(":")[2]), made.json["id"], reseller["api_key"], reseller["api_secret"])
