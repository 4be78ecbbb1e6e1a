"""A stand-in for the real service: canned answers by path, with whatever shape a test gives them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

# A status, the body as bytes or as a value, and headers; a body alone is a 200.
Answer = tuple[int, Any, dict[str, str]]


class FakeAccount:
    """`url` is its address, `asked` the targets of all requests. Paths without an answer are 404."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[str] = []


@contextmanager
def answering(answers: Mapping[str, Any]) -> Iterator[FakeAccount]:
    """A server on a loopback port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            account.asked.append(self.path)
            answer = answers.get(self.path.partition("?")[0], (404, {"message": "no", "errors": {}}, {}))
            status, body, headers = answer if isinstance(answer, tuple) else (200, answer, {})
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    account = FakeAccount(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield account
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
