"""A server in a thread that is no simulator: one answer for each method and path, whatever it is asked."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase

Write = Callable[[BufferedIOBase], None]


def sends(body: bytes, status: int = 200) -> Write:
    """A complete answer."""
    head = b"HTTP/1.0 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(body))

    def write(out: BufferedIOBase) -> None:
        out.write(head + body)

    return write


@contextmanager
def answering_by_path(answers: Mapping[str, Write]) -> Iterator[str]:
    """The URL of a server; `answers` are by path, without query, `*` is for all others."""

    class Handler(BaseHTTPRequestHandler):
        def parse_request(self) -> bool:
            """Every method is answered alike."""
            is_fine = super().parse_request()
            self.command = "ANY"
            return is_fine

        def do_ANY(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.partition("?")[0]
            answers.get(path, answers.get("*", sends(b"", 404)))(self.wfile)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
