"""Inboxes: callbacks and webhooks can be addressed to them, and their replies can be set."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from simulator.domain.errors import Conflict
from simulator.domain.model.inboxes import InboxReply
from simulator.runtime.ring import Ring

INBOX_PATH = "/_sim/inbox/"
"""Where requests from outside arrive: `/_sim/inbox/{sandbox}/{name}`."""

BODY_BYTES_MAX = 1024 * 1024
INBOXES_MAX = 1000
_HEADER_BYTES = 120  # overhead of a stored header beside its text


@dataclass(slots=True)
class Received:
    """One received request. `status` is that of the reply."""

    at: datetime
    method: str
    query: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    status: int
    n: int = 0  # assigned by the ring

    @property
    def size(self) -> int:
        """The approximate memory of this request, in bytes."""
        headers = sum(len(name) + len(value) + _HEADER_BYTES for name, value in self.headers)
        return 600 + headers + len(self.body) + len(self.query)


@dataclass(slots=True)
class Inbox:
    """The requests received under one name, and the replies queued for the next ones; the last reply repeats."""

    received: Ring[Received]
    replies: deque[InboxReply] = field(default_factory=lambda: deque([InboxReply()]))

    def set_replies(self, replies: Iterable[InboxReply]) -> None:
        """Queue these for the next requests, in order; the last one repeats."""
        self.replies = deque(replies) or deque([InboxReply()])

    def take(
        self,
        at: datetime,
        method: str,
        query: bytes,
        headers: tuple[tuple[bytes, bytes], ...],
        body: bytes,
    ) -> InboxReply:
        """Record a request and return the reply."""
        reply = self.replies.popleft() if len(self.replies) > 1 else self.replies[0]
        received = Received(at=at, method=method, query=query, headers=headers, body=body, status=reply.status)
        self.received.add(received)
        return reply


class Inboxes:
    """A sandbox's inboxes by name, created on first use."""

    def __init__(self, count_max: int, bytes_max: int) -> None:
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._by_name: dict[str, Inbox] = {}

    def __getitem__(self, name: str) -> Inbox:
        inbox = self._by_name.get(name)
        if inbox is None:
            if len(self._by_name) >= INBOXES_MAX:
                text = f"a sandbox has at most {INBOXES_MAX} inboxes; delete some first"
                raise Conflict("too_many_inboxes", text, "name")
            inbox = self._by_name[name] = Inbox(Ring(self._count_max, self._bytes_max))
        return inbox

    def follow(self, replies: Mapping[str, tuple[InboxReply, ...]], before: Iterable[str] = ()) -> None:
        """Answer as a scenario says; inboxes of `before` that it omits answer 200 again."""
        for name in {*before, *replies}:
            self[name].set_replies(replies.get(name, ()))

    def peek(self, name: str) -> Inbox:
        """The inbox of this name, or an empty one that is not stored when the name is unknown."""
        return self._by_name.get(name) or Inbox(Ring(self._count_max, self._bytes_max))

    def forget(self, name: str) -> None:
        """Delete an inbox with its contents and wake its waiters."""
        inbox = self._by_name.pop(name, None)
        if inbox is not None:
            inbox.received.notifier.close()

    @property
    def has_waiters(self) -> bool:
        """True while somebody waits for one of them."""
        return any(inbox.received.notifier.waiting for inbox in self._by_name.values())

    def close(self) -> None:
        """Wake all waiters."""
        for inbox in self._by_name.values():
            inbox.received.notifier.close()
