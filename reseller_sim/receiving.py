"""The HTTP server of the receiver: bounded in what it reads, how long that takes and how many send at a time."""

import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email import errors
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader
from typing import Any

from reseller_sim.clocks import real_monotonic
from reseller_sim.exchange import Until

LOOPBACK = "127.0.0.1"
BODY_BYTES_MAX = 1 << 20
CONNECTIONS_MAX = 256
REQUEST_S = 30.0  # from the end of the answer before: after this a connection is closed, whatever it still sends
DIGITS_MAX = 9
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEAD_DEFECTS = (  # lines without a colon or with a blank before it; a multipart body has defects of its own
    errors.MissingHeaderBodySeparatorDefect,
    errors.FirstHeaderLineIsContinuationDefect,
    errors.MisplacedEnvelopeHeaderDefect,
    errors.InvalidHeaderDefect,
)
WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the receiver answers: a status, after a delay, with a body; or it ends the connection without an answer."""

    status: int = 200
    delay_s: float = 0.0
    disconnect: bool = False
    body: bytes = b""
    content_type: str = "text/plain"


Take = Callable[[str, str, dict[str, str], bytes], Reply]


class Server(ThreadingHTTPServer):
    """Gives each message to `take`, which chooses its answer, and calls `left_out` for one that is too long; delays end
    when `closed` is set."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, take: Take, left_out: Callable[[], None], closed: threading.Event) -> None:
        self.take = take
        self.left_out = left_out
        self.closed = closed
        self._connections: set[socket.socket] = set()
        self._changing = threading.Lock()
        super().__init__((LOOPBACK, 0), _Handler)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Close one more connection than there may be at a time."""
        with self._changing:
            is_welcome = len(self._connections) < CONNECTIONS_MAX and not self.closed.is_set()
            if is_welcome:
                self._connections.add(request)
        return is_welcome

    def shutdown_request(self, request: Any) -> None:
        """A connection is over."""
        with self._changing:
            self._connections.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        """Wake up whoever reads or writes."""
        with self._changing:
            for one in self._connections:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_S
    server: Server

    def setup(self) -> None:
        super().setup()
        self._until = Until(self.rfile.detach(), self.connection, real_monotonic() + REQUEST_S)
        self.rfile = BufferedReader(self._until)

    def handle_one_request(self) -> None:
        self._until.ends = real_monotonic() + REQUEST_S
        super().handle_one_request()

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Every method is received alike."""
        if name.startswith("do_"):
            return self._receive
        raise AttributeError(name)

    def _receive(self) -> None:
        if self._until.has_ended:  # in the middle of the headers
            self.close_connection = True
            return
        if not self._is_request():
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        length = self.headers.get("Content-Length", "0")  # without a length the body is empty, as servers have it
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED)
            return
        if len(length) > DIGITS_MAX or int(length) > BODY_BYTES_MAX:
            self.server.left_out()
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            reply = self.server.take(self.command, self.path, headers, body)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        was_closed = reply.delay_s > 0 and self.server.closed.wait(reply.delay_s)
        if was_closed or reply.disconnect:
            self.close_connection = True
        else:
            self._answer(reply)

    def _is_request(self) -> bool:
        """Whether the head is one that every server would read alike."""
        if self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.0"  # so that the refusal has a status line
            return False
        return (
            _METHOD.fullmatch(self.command) is not None
            and not any(isinstance(one, HEAD_DEFECTS) for one in self.headers.defects)
            and not any("\r" in value or "\n" in value for value in self.headers.values())
            and len(set(self.headers.get_all("Content-Length", []))) <= 1
        )

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        self._answer(Reply(status))

    def _answer(self, reply: Reply) -> None:
        self.connection.settimeout(REQUEST_S)
        self.send_response(reply.status)
        has_body = reply.status not in WITHOUT_BODY
        if has_body:
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if has_body and self.command != "HEAD":
            self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """It records instead of printing."""
