"""A reader that follows a stream of events while other actions run."""

import asyncio
import json
from typing import Any

from tests.support.client import Client, Response
from tests.support.contract_check import assert_in_contract


def told_in(answer: Response) -> list[Any]:
    """The events in the answer of a stream."""
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in answer.body.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if "data" in fields:
            event = json.loads(fields["data"])
            assert (fields["id"], fields["event"]) == (event["id"], event["kind"])
            found.append(event)
    return found


class Following:
    """A stream that is open while other things happen; `may_read` is cleared while its client does not read."""

    def __init__(self, client: Client, path: str, query: str = "", token: str = "", method: str = "GET") -> None:
        self._headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
        self._method = method
        self._client, self._path, self._query = client, path, query
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.body = b""
        self.has_come = asyncio.Event()

    async def __aenter__(self) -> "Following":
        self.task = asyncio.create_task(self.run())
        await self.until(": events of")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def until(self, text: str) -> None:
        """Wait until this has come."""
        while text not in self.body.decode():
            assert not self.task.done(), self.body
            self.has_come.clear()
            await asyncio.wait_for(self.has_come.wait(), 10)

    @property
    def events(self) -> list[Any]:
        answer = Response(200, {"content-type": "text/event-stream"}, self.body)
        assert_in_contract("GET", "/_sim" + self._path, answer.status, answer.headers, answer.body)
        return told_in(answer)

    async def run(self) -> None:
        """Follow it to its end."""
        scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": self._method,
            "scheme": "http",
            "path": "/_sim" + self._path,
        }
        scope |= {"raw_path": b"", "query_string": self._query.encode(), "headers": self._headers}
        scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8080), "root_path": "", "extensions": {}}
        await self._client.app(scope, self._receive, self._send)

    async def _receive(self) -> Any:
        return await asyncio.Event().wait()

    async def _send(self, message: Any) -> None:
        await self.may_read.wait()
        self.body += message.get("body", b"")
        self.has_come.set()
