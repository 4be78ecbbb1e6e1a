"""A stand-in for the real service: canned answers by path, of any shape."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.support.local_server import QuietHandler, local_server

# A status, the body as bytes or as a value, and headers; a body alone is a 200.
Answer = tuple[int, Any, dict[str, str]]


class FakeAccount:
    """`url` is its address, `asked` the targets of all requests. Paths without an answer are 404."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[str] = []


@contextmanager
def answering(answers: Mapping[str, Any]) -> Iterator[FakeAccount]:
    """A server on a loopback port."""
    account = FakeAccount()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            account.asked.append(self.path)
            answer = answers.get(self.path.partition("?")[0], (404, {"message": "no", "errors": {}}, {}))
            status, body, headers = answer if isinstance(answer, tuple) else (200, answer, {})
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.respond(status, content, headers)

    with local_server(Handler) as account.url:
        yield account
