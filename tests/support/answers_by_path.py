"""A server in a thread with a fixed answer for each method and path."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase

from tests.support.local_server import QuietHandler, local_server

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

    class Handler(QuietHandler):
        def parse_request(self) -> bool:
            """Every method is answered alike."""
            is_fine = super().parse_request()
            self.command = "ANY"
            return is_fine

        def do_ANY(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.partition("?")[0]
            answers.get(path, answers.get("*", sends(b"", 404)))(self.wfile)

    with local_server(Handler) as url:
        yield url
