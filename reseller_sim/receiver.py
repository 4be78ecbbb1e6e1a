"""A real receiver of callbacks and webhooks on a loopback port: it records, verifies, and misbehaves as planned."""

import json
import socket
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer, ThreadingTCPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from reseller_sim.exchange import Content, Socket, real_time
from reseller_sim.signatures import Verdict, key_of, verify_webhook

__tracebackhide__ = True  # pytest shows the line of the test
LOOPBACK = "127.0.0.1"
MESSAGES_MAX = 10_000
BODY_BYTES_MAX = 1 << 20
REQUEST_S = 30.0
DAY_S = 86_400
SHOWN_CHARS = 200
UNCHECKED = Verdict(False, "no secret was given; name it with verify(secret)")
UNSIGNED = Verdict(False, "it has no header webhook-signature; transaction callbacks are unsigned")


@dataclass(frozen=True)
class Message(Content):
    """A received request. `n` counts from 1, `at` is the time of its arrival, and the names of `headers` are in lower
    case. `status` is the status of the answer, None if the connection was closed without an answer."""

    n: int
    at: datetime
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    status: int | None = None
    _secrets: Sequence[str] = field(default=(), repr=False, compare=False)  # of the receiver, to which more may come

    @property
    def signature(self) -> Verdict:
        """The verdict on the signature by the secrets of the receiver, at the time of its arrival."""
        if "webhook-signature" not in self.headers:
            return UNSIGNED
        now = self.at.timestamp()
        verdicts = [verify_webhook(one, self.headers, self.body, now=now) for one in self._secrets]
        return next(filter(None, verdicts), [UNCHECKED, *verdicts][-1])

    @property
    def data(self) -> Mapping[str, Any]:
        """The content of a callback or an event: the member `data` of its body. With GET it is the query merged with
        the JSON in the query's `message`, which has the status by name. Empty for any other content."""
        if self.method == "GET":
            return {**self.query, **_members(self.query.get("message", ""))}
        found = _members(self.body)
        inner = found.get("data", found)
        return inner if isinstance(inner, dict) else {}

    def verify(self, secret: str) -> Verdict:
        """Judge its signature by a webhook's secret; the timestamp is compared with the present."""
        return verify_webhook(secret, self.headers, self.body)


def _members(text: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def from_inbox(item: Mapping[str, Any], path: str) -> Message:
    """Return a message of an inbox, as the control API shows it."""
    headers = {name.lower(): value for name, value in item["headers"]}
    at, body = datetime.fromisoformat(item["at"]), item["body"].encode()
    return Message(item["n"], at, item["method"], path, item["query"], headers, body, item.get("status"))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the receiver: a status, after a delay, with a body; or it ends the connection without an answer."""

    status: int = 200
    delay_s: float = 0.0
    disconnect: bool = False
    body: bytes = b""
    content_type: str = "text/plain"


class Receiver(AbstractContextManager["Receiver"]):
    """Listens on a free port of 127.0.0.1 from its creation until `close`, which `with` calls.

    It answers 200 until `reply` says otherwise, and keeps the latest 10,000 messages. A body of more than one MiB and a
    chunked one are refused and not kept; `left_out` counts the messages that are not kept.
    """

    def __init__(self, *, secret: str | None = None) -> None:
        self._secrets: list[str] = []
        if secret is not None:
            self.verify(secret)
        self._messages: deque[Message] = deque(maxlen=MESSAGES_MAX)
        self._replies: deque[Reply] = deque()
        self._changed = threading.Condition()
        self.clear()
        self._is_closed = threading.Event()
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="receiver", daemon=True).start()

    @property
    def url(self) -> str:
        """Its address; any path below it is received as well."""
        return f"http://{LOOPBACK}:{self._server.server_address[1]}"

    @property
    def received(self) -> list[Message]:
        """The stored messages, oldest first."""
        with self._changed:
            return list(self._messages)

    def verify(self, secret: str) -> None:
        """Judge the signatures of all webhooks, earlier ones too, by this secret; after several calls by each of them.
        Raises `ValueError` for a secret that is not hexadecimal."""
        key_of(secret)
        self._secrets.append(secret)

    def reply(
        self,
        status: int = 200,
        *,
        delay_s: float = 0.0,
        disconnect: bool = False,
        body: str | bytes | bytearray = b"",
        content_type: str = "text/plain",
        times: int = 1,
    ) -> "Receiver":
        """Answer the next `times` messages that nothing is planned for like this, and the last plan all that follow."""
        limits = {"status": (status, 200, 599), "delay_s": (delay_s, 0, DAY_S), "times": (times, 1, MESSAGES_MAX)}
        for name, (value, least, most) in limits.items():
            is_number = type(value) is int or (name == "delay_s" and type(value) is float)
            if not is_number or not least <= value <= most:
                raise ValueError(f"{name} must be from {least} to {most}, not {value!r}")
        sent = body.encode() if isinstance(body, str) else bytes(body)
        with self._changed:
            self._replies.extend([Reply(status, delay_s, disconnect, sent, content_type)] * times)
        return self

    def wait_for(self, n: int = 1, *, timeout_s: float = 10) -> list[Message]:
        """Return all messages since the beginning or the latest `clear` as soon as at least `n` have arrived. Raises
        `AssertionError` with the messages so far when `timeout_s` seconds pass first."""
        with self._changed:
            came = self._changed.wait_for(lambda: self._count >= n, timeout_s)
            count = self._count
        if not came:
            lines = [f"\n  {one.method} {one.path}: {one.text[:SHOWN_CHARS]}" for one in self.received]
            raise AssertionError(f"{count} messages came in {timeout_s} s, not {n}{''.join(lines)}")
        return self.received

    def clear(self) -> None:
        """Forget the messages and the planned replies."""
        with self._changed:
            self._messages.clear()
            self._replies.clear()
            self._last = Reply()
            self._count = self.left_out = 0

    def close(self) -> None:
        """Stop listening and end its delays. Messages are kept."""
        self._is_closed.set()
        self._server.shutdown()
        self._server.server_close()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _take(self, method: str, target: str, headers: dict[str, str], body: bytes | None) -> Reply:
        """Record a message and choose its answer; a body of None is too long."""
        parts, at = urlsplit(target), datetime.fromtimestamp(real_time(), UTC)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        with self._changed:
            self.left_out += body is None or len(self._messages) == MESSAGES_MAX
            if body is None:
                return Reply(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            reply = self._last = self._replies.popleft() if self._replies else self._last
            self._count += 1
            status = None if reply.disconnect else reply.status
            message = Message(self._count, at, method, parts.path, query, headers, body, status, self._secrets)
            self._messages.append(message)
            self._changed.notify_all()
        return reply


class _Server(ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, receiver: Receiver) -> None:
        BaseServer.__init__(self, (LOOPBACK, 0), _Handler)
        self.receiver = receiver
        self.socket = Socket()
        self.server_bind()
        self.server_activate()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept by the class of the standard library, which `accept` itself would look up."""
        number, address = self.socket._accept()  # type: ignore[attr-defined]  # of the class below `socket`
        return Socket(fileno=number), address

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_S
    server: _Server

    def _receive(self) -> None:
        self.close_connection = True
        length = self.headers.get("Content-Length", "0")  # without a length the body is empty, as servers have it
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            return self._answer(Reply(HTTPStatus.LENGTH_REQUIRED))
        is_kept = int(length[:9]) <= BODY_BYTES_MAX
        body = self.rfile.read(int(length)) if is_kept else None
        if body is not None and len(body) < int(length):
            return None
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.receiver._take(self.command, self.path, headers, body)
        if not (reply.delay_s and self.server.receiver._is_closed.wait(reply.delay_s)) and not reply.disconnect:
            self._answer(reply)
        return None

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _receive  # their names

    def _answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Connection", "close")
        if reply.status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED):
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """Record instead of printing."""
