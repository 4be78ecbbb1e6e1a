"""A proxy that has a server below a prefix, as a team's gateway does: `/tools/sim/_sim/` there is `/_sim/` here."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

PIECE_BYTES = 65_536
HEAD_BYTES_MAX = 65_536


@contextmanager
def prefixed(url: str, prefix: str) -> Iterator[str]:
    """The address below which the server at `url` is: one request a connection, passed on as it comes."""
    target = urlsplit(url)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_accept, args=(listener, (target.hostname, target.port), prefix), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}{prefix}"
    finally:
        listener.close()


def _accept(listener: socket.socket, target: tuple[str | None, int | None], prefix: str) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_pass_on, args=(client, target, prefix), daemon=True).start()


def _pass_on(client: socket.socket, target: tuple[str | None, int | None], prefix: str) -> None:
    with client, suppress(OSError):
        head = b""
        while b"\r\n\r\n" not in head and len(head) < HEAD_BYTES_MAX:
            piece = client.recv(PIECE_BYTES)
            if not piece:
                return
            head += piece
        method, _, rest = head.partition(b" ")
        if not rest.startswith(prefix.encode() + b"/"):
            client.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            return
        line, _, fields = rest[len(prefix) :].partition(b"\r\n")
        with socket.create_connection(target) as server:
            server.sendall(method + b" " + line + b"\r\nConnection: close\r\n" + _without_connection(fields))
            threading.Thread(target=_copy, args=(client, server), daemon=True).start()
            _copy(server, client)


def _without_connection(fields: bytes) -> bytes:
    head, _, body = fields.partition(b"\r\n\r\n")
    kept = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    return b"\r\n".join(kept) + b"\r\n\r\n" + body


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(PIECE_BYTES):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
