"""A proxy between a client and the simulator that changes the answers of each path in turn."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from tests.support.local_server import QuietHandler, local_server
from tests.support.processes import DEADLINE_S

Edit = Callable[[Any], None]
HEADERS = ("Content-Type", "X-Api-Key", "X-Timestamp", "X-Nonce", "X-Signature")


@contextmanager
def editing(upstream: str, edits: Mapping[str, Edit]) -> Iterator[str]:
    """Yield the URL of a server that forwards requests to `upstream` and edits the 200 answers of a path."""

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            sent = {name: self.headers[name] for name in HEADERS if name in self.headers}
            status, kind, answer = _asked(upstream, self.command, self.path, body, sent)
            edit = edits.get(urlsplit(self.path).path)
            if edit is not None and status == 200:
                value = json.loads(answer)
                edit(value)
                answer = json.dumps(value).encode()
            if status:
                self.respond(status, answer, {"Content-Type": kind})
            self.close_connection = self.close_connection or not status

        do_GET = do_POST = do_PUT = _pass_on  # names of the base class

    with local_server(Handler) as url:
        yield url


def _asked(upstream: str, method: str, target: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
    """Status, type and body; the status 0 where there was no complete answer."""
    connection = HTTPConnection(urlsplit(upstream).netloc, timeout=DEADLINE_S)
    try:
        connection.request(method, target, body or None, dict(headers))
        response = connection.getresponse()
        return response.status, response.headers.get("Content-Type", ""), response.read()
    except (OSError, HTTPException):
        return 0, "", b""
    finally:
        connection.close()
