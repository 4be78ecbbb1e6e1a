"""The memory that inboxes may take together: of one sandbox, and of the whole server."""

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from sys import getsizeof
from typing import Generic, Protocol, TypeVar

import msgspec

from simulator.domain.model.inboxes import InboxProgram, InboxReply
from simulator.runtime.journal import unpacked

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


class Holder(Protocol):
    """An inbox, as far as its budgets know it."""

    waiters: int


Box = TypeVar("Box", bound=Holder)


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
