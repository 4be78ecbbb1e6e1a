"""A real receiver of callbacks and webhooks on a loopback port: it records, verifies, and misbehaves as told."""

import threading
from collections import deque
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from reseller_sim.arguments import checked
from reseller_sim.clocks import real_time
from reseller_sim.messages import UNCHECKED, UNSIGNED, Message
from reseller_sim.parameters import Count, Header, Seconds, between
from reseller_sim.receiving import LOOPBACK, Reply, Server
from reseller_sim.webhooks import Verdict, key_of, verify_webhook

MESSAGES_MAX = 10_000
BYTES_MAX = 64 << 20
Status = Annotated[int, between(200, 599, "a status")]


@checked
class Receiver:
    """Listens on a free port of 127.0.0.1 from its creation until `close`, which `with` calls.

    It answers 200 until `reply` says otherwise, and keeps the latest 10,000 messages, at most 64 MiB of them. A body
    of more than one MiB is refused and not kept; `left_out` counts those messages, and those that were discarded. What
    is no request or is chunked is refused and not counted; one without a length has an empty body. A request has 30
    seconds to arrive, and of 256 connections the next one is closed at once.
    """

    def __init__(self, *, secret: str | None = None) -> None:
        self.left_out = 0
        self._secrets: list[str] = []
        if secret is not None:
            self.verify(secret)
        self._messages: deque[Message] = deque()
        self._bytes = 0
        self._count = 0
        self._replies: deque[Reply] = deque()
        self._last = Reply()
        self._changed = threading.Condition()
        self._is_closed = threading.Event()
        self._server = Server(self._take, self._leave_out, self._is_closed)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="receiver", daemon=True).start()

    @property
    def url(self) -> str:
        """Its address; any path below it is received as well."""
        return f"http://{LOOPBACK}:{self._server.server_port}"

    @property
    def received(self) -> list[Message]:
        """The messages that it kept, oldest first, each with what is known of its signature."""
        with self._changed:
            found = list(self._messages)
        return [self._judged(one) for one in found]

    def verify(self, secret: str) -> None:
        """Judge the signatures of all webhooks, earlier ones too, by this secret; after several calls by each of them.

        Raises `ValueError` for a secret that is not hexadecimal.
        """
        key_of(secret)
        self._secrets.append(secret)

    def reply(
        self,
        status: Status = 200,
        *,
        delay_s: Seconds = 0.0,
        disconnect: bool = False,
        body: str | bytes | bytearray = b"",
        content_type: Header = "text/plain",
        times: Count = 1,
    ) -> "Receiver":
        """Answer the next `times` messages that nothing is planned for like this, and the last plan all that follow.
        Raises `ValueError` for a status outside 200 to 599, a delay of more than a day, a bad content type, and times
        outside 1 to 10,000."""
        sent = body.encode() if isinstance(body, str) else bytes(body)
        planned = Reply(status, delay_s, disconnect, sent, content_type)
        with self._changed:
            self._replies.extend([planned] * times)
        return self

    def wait_for(self, n: Count = 1, *, timeout_s: Seconds = 10) -> list[Message]:
        """All messages as soon as there were `n` since the beginning or the latest `clear`. Raises `AssertionError`
        with those that came when `timeout_s` seconds pass before."""
        with self._changed:
            came = self._changed.wait_for(lambda: self._count >= n, timeout_s)
            count = self._count
        if not came:
            lines = [f"\n  {one.method} {one.path}: {one.text[:200]}" for one in self.received]
            raise AssertionError(f"{count} messages came in {timeout_s} s, not {n}{''.join(lines)}")
        return self.received

    def clear(self) -> None:
        """Forget the messages and what was planned."""
        with self._changed:
            self._messages.clear()
            self._replies.clear()
            self._last = Reply()
            self._bytes = self._count = self.left_out = 0

    def close(self) -> None:
        """Stop listening and end its delays. What it received is kept."""
        if not self._is_closed.is_set():
            self._is_closed.set()
            self._server.shutdown()
            self._server.server_close()
            self._server.end_connections()

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Receiver({self.url!r})"

    def _judged(self, message: Message) -> Message:
        if "webhook-signature" not in message.headers:
            return message
        return replace(message, signature=self._verdict(message))

    def _verdict(self, message: Message) -> Verdict:
        came_s = message.at.timestamp()
        verdicts = [verify_webhook(one, message.headers, message.body, now=came_s) for one in self._secrets]
        return next((one for one in verdicts if one), verdicts[-1] if verdicts else UNCHECKED)

    def _take(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Reply:
        """Record a message and choose its answer. Raises `ValueError` for a target that is no URL."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        with self._changed:
            reply = self._last = self._replies.popleft() if self._replies else self._last
            self._count += 1
            status = None if reply.disconnect else reply.status
            at = datetime.fromtimestamp(real_time(), UTC)
            self._messages.append(Message(self._count, at, method, parts.path, query, headers, body, status, UNSIGNED))
            self._bytes += _size(self._messages[-1])
            while len(self._messages) > MESSAGES_MAX or self._bytes > BYTES_MAX:
                self._bytes -= _size(self._messages.popleft())
                self.left_out += 1
            self._changed.notify_all()
        return reply

    def _leave_out(self) -> None:
        """Count a message that was refused since it is too long."""
        with self._changed:
            self.left_out += 1


def _size(message: Message) -> int:
    head = (
        len(message.method) + len(message.path) + sum(len(name) + len(text) for name, text in message.headers.items())
    )
    return len(message.body) + head + sum(len(name) + len(text) for name, text in message.query.items())
