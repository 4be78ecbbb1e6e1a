"""The messages and replies of an inbox, and the memory that the inboxes of a sandbox or server may take together."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, islice
from math import inf
from sys import getsizeof
from typing import Protocol

import msgspec

from simulator.domain.model.inbox_programs import InboxProgram, InboxReply
from simulator.runtime.journal import unpacked
from simulator.runtime.wait_limits import Notifier

# Measured: a message without its texts, with its places in an inbox and in two budgets; an inbox without messages; a
# reply, or a header of a reply, without its texts.
MESSAGE_BYTES = 750
NAME_BYTES = 2500
REPLY_BYTES = 250
WINDOW_BYTES = 1000


class InboxMessage(msgspec.Struct, gc=False, kw_only=True):
    """A received request. `status` is the status of the reply, 0 without a reply. `n` is its number in the inbox,
    `serial` its number in the server. `wall` is the wall time of its arrival, and `replacements` the number of secrets
    that the sandbox had replaced by then."""

    serial: int
    at: datetime
    method: str
    query: bytes
    packed_headers: bytes
    body: bytes
    status: int
    n: int
    wall: datetime
    replacements: int

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return its headers as received."""
        return unpacked(self.packed_headers)

    @property
    def size(self) -> int:
        """Return the memory of this request, in bytes."""
        return MESSAGE_BYTES + len(self.method) + len(self.query) + len(self.packed_headers) + len(self.body)


def program_size(program: InboxProgram) -> int:
    """Return the memory of a program that was set, in bytes."""
    timed = (WINDOW_BYTES + _reply_size(item.reply) for item in program.during)
    return sum(map(_reply_size, program.replies)) + sum(timed)


def _reply_size(reply: InboxReply) -> int:
    """Return the memory of a reply that was set, in bytes."""
    texts = chain((reply.body,), chain.from_iterable(reply.headers))
    return REPLY_BYTES * (1 + len(reply.headers)) + sum(map(getsizeof, texts))


class Home(Protocol):
    """The inboxes of a sandbox, as an inbox sees them."""

    def evict_oldest(self, inbox: "Inbox") -> None: ...

    def drop(self, inbox: "Inbox") -> None: ...

    def drop_if_useless(self, inbox: "Inbox") -> None: ...


class Inbox:
    """The requests received under a name, and the program of the replies.

    The numbers of the requests have no gaps. `waiters` is the number of tasks that wait for more of them. `replied` is
    the number of used replies of the program since it was set, without replies that depend on the time.
    """

    def __init__(self, home: Home, name: str, last_n: int = 0, left_out_before: int = 0) -> None:
        self.home = home
        self.name = name
        self.received: deque[InboxMessage] = deque()
        self.bytes = 0
        self.last_n = last_n
        self.evicted = 0
        self.left_out_before = left_out_before
        self.waiters = 0
        self.notifier = Notifier()
        self.set_program(InboxProgram())

    @property
    def left_out(self) -> int:
        """Return the number of evicted messages, including messages of dropped inboxes of this name."""
        return self.left_out_before + self.evicted

    def set_program(self, program: InboxProgram, replied: int = 0) -> None:
        """Reply by this program; `replied` counts its used replies."""
        self.program = program
        self.program_bytes = program_size(program)
        self.replied = replied

    @property
    def is_programmed(self) -> bool:
        """Return whether its replies have been set."""
        return not self.program.is_empty

    def next_reply(self, now: datetime, start: datetime) -> InboxReply:
        """Return the reply to a request at `now`; a reply that depends on the time does not use up the others."""
        timed = self.program.timed(now, start)
        if timed is not None:
            return timed
        self.replied += 1
        return self.program.reply(self.replied - 1)

    def count_after(self, n: int) -> int:
        """Return how many stored requests have a number above `n`."""
        return max(0, min(len(self.received), self.last_n - n))

    def after(self, n: int) -> Iterator[InboxMessage]:
        """Yield the stored requests with a number above `n`, oldest first."""
        return islice(self.received, len(self.received) - self.count_after(n), None)


class InboxBudget:
    """The messages of several inboxes by age, and their names by last use. It only counts; its owner evicts.

    Only the names of inboxes without programmed replies count, since anyone can create such inboxes.
    """

    def __init__(self, bytes_max: int, names_max: float = inf) -> None:
        self.bytes_max = bytes_max
        self.names_max = names_max
        self._message_bytes = 0
        self._messages: OrderedDict[int, Inbox] = OrderedDict()  # a dict is slow to find its first item after evictions
        self._names: OrderedDict[Inbox, None] = OrderedDict()

    @property
    def bytes(self) -> int:
        """Return the bytes of all messages."""
        return self._message_bytes + NAME_BYTES * len(self._names)

    @property
    def by_use(self) -> list[Inbox]:
        """Return the inboxes whose names count, least recently used first."""
        return list(self._names)

    @property
    def by_age(self) -> Iterable[Inbox]:
        """Yield the inbox of each message, oldest message first."""
        return self._messages.values()

    @property
    def names(self) -> int:
        """Return how many names count."""
        return len(self._names)

    def add(self, message: InboxMessage, inbox: Inbox) -> None:
        """Count the newest message."""
        self._messages[message.serial] = inbox
        self._message_bytes += message.size

    def remove(self, message: InboxMessage) -> None:
        """Stop counting a message."""
        del self._messages[message.serial]
        self._message_bytes -= message.size

    def take_in(self, other: "InboxBudget") -> None:
        """Add everything that another budget counts, as the newest."""
        self._messages |= other._messages
        self._message_bytes += other._message_bytes
        self._names |= other._names

    def use(self, inbox: Inbox) -> None:
        """Count the name of this inbox as the most recently used."""
        self._names[inbox] = None
        self._names.move_to_end(inbox)

    def release(self, inbox: Inbox) -> None:
        """Stop counting this name."""
        self._names.pop(inbox, None)

    def too_old(self) -> Inbox | None:
        """Return the inbox with the oldest message of all, which must be evicted, while there are too many bytes."""
        return next(iter(self._messages.values()), None) if self.bytes > self.bytes_max else None

    def too_idle(self) -> Inbox | None:
        """Return the least recently used inbox without waiters while there are too many names: it must be evicted."""
        names = self._names
        for _ in range(len(names) if len(names) > self.names_max else 0):
            inbox = next(iter(names))
            if not inbox.waiters:
                return inbox
            names.move_to_end(inbox)
        return None
