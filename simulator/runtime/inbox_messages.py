"""The messages and replies of one inbox, and the memory that inboxes may take together: of a sandbox, of the server."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, islice
from sys import getsizeof
from typing import Generic, Protocol, TypeVar

import msgspec

from simulator.domain.model.inboxes import InboxProgram, InboxReply
from simulator.runtime.journal import unpacked
from simulator.runtime.ring import Notifier

# Measured: a message beside its texts, with its places in an inbox and in two budgets; an inbox without messages; and a
# reply or a header of one beside its texts.
MESSAGE_BYTES = 750
NAME_BYTES = 2500
REPLY_BYTES = 250
WINDOW_BYTES = 1000


class Received(msgspec.Struct, gc=False, kw_only=True):
    """One received request. `status` is that of the reply, 0 when there was none; `n` its number in its inbox, `serial`
    that in the server. `wall` is the wall time at which it came, and `replacements` how many secrets of the sandbox had
    been replaced by then."""

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
        """Its headers as received."""
        return unpacked(self.packed_headers)

    @property
    def size(self) -> int:
        """The memory of this request, in bytes."""
        return MESSAGE_BYTES + len(self.method) + len(self.query) + len(self.packed_headers) + len(self.body)


def program_size(program: InboxProgram) -> int:
    """The memory of a program that was set, in bytes."""
    timed = (WINDOW_BYTES + _reply_size(one.reply) for one in program.during)
    return sum(map(_reply_size, program.replies)) + sum(timed)


def _reply_size(reply: InboxReply) -> int:
    """The memory of a reply that was set, in bytes."""
    texts = chain((reply.body,), chain.from_iterable(reply.headers))
    return REPLY_BYTES * (1 + len(reply.headers)) + sum(map(getsizeof, texts))


class BudgetHolder(Protocol):
    """An inbox, as far as its budgets know it."""

    waiters: int


Box = TypeVar("Box", bound=BudgetHolder)


class InboxBudget(Generic[Box]):
    """The messages of several inboxes by age, and their names by last use. It counts; its owner evicts.

    Names are counted of inboxes without replies of their own, since anybody can make those.
    """

    def __init__(self, bytes_max: int, names_max: int) -> None:
        self.bytes_max = bytes_max
        self.names_max = names_max
        self._message_bytes = 0
        self._messages: OrderedDict[int, Box] = OrderedDict()
        self._names: OrderedDict[Box, None] = OrderedDict()

    @property
    def bytes(self) -> int:
        """What all of it takes."""
        return self._message_bytes + NAME_BYTES * len(self._names)

    @property
    def by_use(self) -> list[Box]:
        """Those whose names are counted, in order of their last use."""
        return list(self._names)

    @property
    def by_age(self) -> Iterable[Box]:
        """The inbox of each message, the oldest message first."""
        return self._messages.values()

    @property
    def names(self) -> int:
        """How many names are counted."""
        return len(self._names)

    def add(self, message: Received, box: Box) -> None:
        """Count the newest message."""
        self._messages[message.serial] = box
        self._message_bytes += message.size

    def remove(self, message: Received) -> None:
        """Count a message no more."""
        del self._messages[message.serial]
        self._message_bytes -= message.size

    def take_in(self, other: "InboxBudget[Box]") -> None:
        """Count all that another budget counts, too, as the newest."""
        self._messages |= other._messages
        self._message_bytes += other._message_bytes
        self._names |= other._names

    def use(self, box: Box) -> None:
        """Count the name of this inbox as the one used last."""
        self._names[box] = None
        self._names.move_to_end(box)

    def release(self, box: Box) -> None:
        """Count this name no more."""
        self._names.pop(box, None)

    def too_old(self) -> Box | None:
        """The inbox whose oldest message must go: that of the oldest of all, while there are too many bytes."""
        return next(iter(self._messages.values()), None) if self.bytes > self.bytes_max else None

    def too_idle(self) -> Box | None:
        """The inbox that must go, while there are too many names: the one used longest ago. Nobody waits for it."""
        names = self._names
        for _ in range(len(names) if len(names) > self.names_max else 0):
            box = next(iter(names))
            if not box.waiters:
                return box
            names.move_to_end(box)
        return None


class Home(Protocol):
    """Where an inbox is: the inboxes of a sandbox."""

    def evict_oldest(self, inbox: "Inbox") -> None: ...

    def drop(self, inbox: "Inbox") -> None: ...

    def drop_if_useless(self, inbox: "Inbox") -> None: ...


class Inbox:
    """The requests received under one name, and the program of its replies.

    The numbers of the requests have no gaps. `waiters` is how many tasks wait for more of them.
    """

    def __init__(self, home: Home, name: str, last_n: int = 0, left_out_before: int = 0) -> None:
        self.home = home
        self.name = name
        self.received: deque[Received] = deque()
        self.bytes = 0
        self.last_n = last_n
        self.evicted = 0
        self.left_out_before = left_out_before
        self.waiters = 0
        self.notifier = Notifier()
        self.set_program(InboxProgram())

    @property
    def left_out(self) -> int:
        """How many were evicted: its own, and those of inboxes that were dropped before this one was created."""
        return self.left_out_before + self.evicted

    def set_program(self, program: InboxProgram, replied: int = 0) -> None:
        """Reply by this program, of which so many replies were used."""
        self.program = program
        self.program_bytes = program_size(program)
        self._replied = replied

    @property
    def replied(self) -> int:
        """How many replies of the program were used since it was set; those that the time decides do not count."""
        return self._replied

    @property
    def is_programmed(self) -> bool:
        """True when somebody has set its replies."""
        return not self.program.is_empty

    def next_reply(self, now: datetime, start: datetime) -> InboxReply:
        """The reply to a request at `now`; one that the time decides does not use up the others."""
        timed = self.program.timed(now, start)
        if timed is not None:
            return timed
        self._replied += 1
        return self.program.reply(self._replied - 1)

    def count_after(self, n: int) -> int:
        """How many of the kept ones have a number above `n`."""
        return max(0, min(len(self.received), self.last_n - n))

    def after(self, n: int) -> Iterator[Received]:
        """The kept ones with a number above `n`, oldest first."""
        return islice(self.received, len(self.received) - self.count_after(n), None)
