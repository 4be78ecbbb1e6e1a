"""The messages of one inbox: the requests that came under a name, and what it replies."""

from collections import deque
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Protocol

from simulator.domain.model.inboxes import InboxProgram, InboxReply
from simulator.runtime.inbox_budget import Received, program_size
from simulator.runtime.ring import Notifier


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
