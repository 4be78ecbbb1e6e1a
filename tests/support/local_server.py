"""HTTP servers of the standard library on a loopback port, in a thread of the test's process."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that logs nothing."""

    def respond(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """Send a response with the length of its body, unless `headers` have another Content-Length."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def local_server(handler: Callable[..., Any]) -> Iterator[str]:
    """Serve requests with a handler class, each connection in a thread of its own; yield the URL of the server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
