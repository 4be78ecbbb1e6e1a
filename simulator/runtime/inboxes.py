"""The inboxes of a sandbox: callbacks and webhooks can be addressed to them, and their replies can be set.

Anyone can post to an inbox under any name. So the inboxes of a sandbox share a budget, and so do all inboxes of the
server: above the limit of bytes the oldest message is evicted, above the limit of names the least recently used inbox.
An inbox is deleted with its last message unless a task waits for it or its replies have been set.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from simulator.domain.errors import Conflict
from simulator.domain.model import draw
from simulator.domain.model.draw import Spread
from simulator.domain.model.inbox_programs import InboxProgram, InboxReply
from simulator.domain.model.resellers import SecretLog
from simulator.domain.model.scenario import Limits
from simulator.persistence.tape.entries import Entry, InboxCleared, InboxProgrammed, InboxReceived
from simulator.persistence.tape.tape import ENTRY_BYTES, Tape
from simulator.runtime.clock import Clock
from simulator.runtime.inbox_messages import Inbox, InboxBudget, InboxMessage, program_size
from simulator.runtime.journal import packed

INBOX_PATH = "/_sim/inbox/"
"""Where requests from outside arrive: `/_sim/inbox/{sandbox}/{name}`."""

BODY_BYTES_MAX = 1024 * 1024

SERVER_BYTES_MAX = 256 * 1024 * 1024
"""The limit for the messages and names of all sandboxes; `limits.inboxes_bytes` is the limit of a single sandbox."""

NO_PROGRAMS: Mapping[str, InboxProgram] = MappingProxyType({})

_serials = count(1)


def server_budget() -> InboxBudget:
    """Return a budget for the inboxes of all sandboxes."""
    return InboxBudget(SERVER_BYTES_MAX)


class Inboxes:
    """A sandbox's inboxes by name, created on first use. `server` is the budget of all sandboxes; `started` is when the
    sandbox started, `secrets` are its own."""

    def __init__(
        self, limits: Limits, server: InboxBudget, started: datetime, secrets: SecretLog, seed: int = 0
    ) -> None:
        self.started, self._seed = started, seed
        self._secrets = secrets
        self._count_max = limits.inbox
        self._bytes_max = limits.inbox_bytes
        self.budget: InboxBudget = InboxBudget(limits.inboxes_bytes, limits.inboxes)
        self._budgets = (self.budget, server)
        self._by_name: dict[str, Inbox] = {}
        # Numbers and losses of deleted inboxes: a later inbox of the same name continues its numbers and reports its
        # loss.
        self._last_n = 0
        self._left_out = 0
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Return whether `close` was called."""
        return self._is_closed

    def peek(self, name: str) -> Inbox:
        """Return the inbox of this name, or an empty inbox that is not stored when the name is unknown."""
        return self._by_name.get(name) or Inbox(self, name, self._last_n, self._left_out)

    def __iter__(self) -> Iterator[Inbox]:
        """Yield all inboxes, ordered by name."""
        return iter(sorted(self._by_name.values(), key=lambda inbox: inbox.name))

    @property
    def gone(self) -> tuple[int, int]:
        """Return the latest message number of deleted inboxes, and how many messages they evicted."""
        return self._last_n, self._left_out

    def restore(
        self, inboxes: "Iterable[Inbox]", messages: "Iterable[tuple[Inbox, InboxMessage]]", gone: tuple[int, int]
    ) -> None:
        """Replace all inboxes with these, in order of last use, and add their messages in order of arrival."""
        for name in list(self._by_name):
            self.forget(name)
        for inbox in inboxes:
            self._by_name[inbox.name] = inbox
            for budget in self._budgets if not inbox.is_programmed else ():
                budget.use(inbox)
        for inbox, message in messages:
            message.serial = next(_serials)
            inbox.received.append(message)
            inbox.bytes += message.size
            for budget in self._budgets:
                budget.add(message, inbox)
        self._last_n, self._left_out = gone

    def join(self, server: InboxBudget) -> None:
        """Share the budget of a server, which then counts everything in these inboxes."""
        server.take_in(self.budget)
        self._budgets = (self.budget, server)
        self._return_to_budgets()

    def counts(self) -> dict[str, int]:
        """Return the number of stored requests by inbox name."""
        return {name: len(inbox.received) for name, inbox in self._by_name.items()}

    def receive(self, came: InboxReceived) -> InboxReply:
        """Record a request and return the reply."""
        inbox = self._used(came.name)
        reply = inbox.next_reply(came.now, self.started)
        if isinstance(reply.delay, Spread):
            waits = reply.delay.at(draw.fraction(self._seed, "inbox delay", came.name, inbox.last_n + 1))
            reply = replace(reply, delay=waits)
        if not self._is_closed:
            inbox.last_n += 1
            message = InboxMessage(
                serial=next(_serials),
                at=came.now,
                method=came.method,
                query=came.query,
                packed_headers=packed(came.headers),
                body=came.body,
                status=0 if reply.disconnect else reply.status,
                n=inbox.last_n,
                wall=came.wall,
                replacements=self._secrets.replacements,
            )
            self._keep(inbox, message)
        return reply

    def _used(self, name: str) -> Inbox:
        """Return the inbox of this name as the most recently used, creating it if needed."""
        inbox = self.peek(name)
        if self._is_closed:
            inbox.notifier.close()
            return inbox
        self._by_name[name] = inbox
        if not inbox.is_programmed:
            for budget in self._budgets:
                budget.use(inbox)
        return inbox

    def _keep(self, inbox: Inbox, message: InboxMessage) -> None:
        inbox.received.append(message)
        inbox.bytes += message.size
        for budget in self._budgets:
            budget.add(message, inbox)
        while inbox.bytes > self._bytes_max or len(inbox.received) > self._count_max:
            self.evict_oldest(inbox)
        self.drop_if_useless(inbox)
        self._return_to_budgets()
        inbox.notifier.notify()

    def _return_to_budgets(self) -> None:
        """Evict messages and inboxes above the budgets, also of other sandboxes for the server's budget."""
        for budget in self._budgets:
            while (idle := budget.too_idle()) is not None:
                idle.home.drop(idle)
            while (oldest := budget.too_old()) is not None:
                oldest.home.evict_oldest(oldest)
                oldest.home.drop_if_useless(oldest)

    def evict_oldest(self, inbox: Inbox) -> None:
        """Evict the first message of an inbox, and remember its loss."""
        message = inbox.received.popleft()
        inbox.bytes -= message.size
        inbox.evicted += 1
        for budget in self._budgets:
            budget.remove(message)

    def drop_if_useless(self, inbox: Inbox) -> None:
        """Drop an inbox that is empty and has no waiters."""
        is_useless = not (inbox.received or inbox.waiters or inbox.is_programmed)
        if is_useless and self._by_name.get(inbox.name) is inbox:
            self.drop(inbox)

    def drop(self, inbox: Inbox) -> None:
        """Evict an inbox with all its messages, and remember its loss."""
        while inbox.received:
            self.evict_oldest(inbox)
        self._left_out += inbox.evicted
        self._last_n = max(self._last_n, inbox.last_n)
        self._remove(inbox)

    def _remove(self, inbox: Inbox) -> None:
        del self._by_name[inbox.name]
        for budget in self._budgets:
            for message in inbox.received:
                budget.remove(message)
            budget.release(inbox)
        inbox.received.clear()
        inbox.notifier.close()

    async def wait(self, name: str, count_min: int, after: int, timeout_s: float) -> tuple[Inbox, bool]:
        """Wait until an inbox has `count_min` messages with a number above `after`: stored and new messages, even
        if they are evicted meanwhile. Return False on timeout or when the inbox closes."""
        inbox = self._used(name)
        kept, last_n = inbox.count_after(after), max(inbox.last_n, after)
        inbox.waiters += 1
        self._return_to_budgets()
        try:
            complete = await inbox.notifier.wait_until(lambda: kept + inbox.last_n - last_n >= count_min, timeout_s)
        finally:
            inbox.waiters -= 1
            self.drop_if_useless(inbox)
        return inbox, complete

    def set_program(self, name: str, program: InboxProgram) -> None:
        """Program an inbox. Raises `Conflict` when too many inboxes are programmed, or when their programs exceed the
        byte budget of the messages."""
        others = [inbox for inbox in self._by_name.values() if inbox.is_programmed and inbox.name != name]
        is_more = not program.is_empty
        if is_more and len(others) >= self.budget.names_max:
            text = f"{len(others)} other inboxes have replies; delete some first"
            raise Conflict("too_many_inboxes", text, "name")
        if is_more and sum(one.program_bytes for one in others) + program_size(program) > self.budget.bytes_max:
            text = f"the replies of all inboxes would take over {self.budget.bytes_max} bytes; delete some first"
            raise Conflict("too_many_replies", text, "replies")
        self._set_program(name, program)

    def follow(self, programs: Mapping[str, InboxProgram], before: Mapping[str, InboxProgram] = NO_PROGRAMS) -> None:
        """Apply the programs of a scenario where they differ from `before`; unchanged programs keep their position.
        Inboxes of `before` that the scenario omits answer 200 again."""
        for name in {**before, **programs}:
            wanted = programs.get(name, InboxProgram())
            if wanted != before.get(name, InboxProgram()):
                self._set_program(name, wanted)

    def _set_program(self, name: str, program: InboxProgram) -> None:
        inbox = self._used(name)
        inbox.set_program(program)
        for budget in self._budgets:
            if inbox.is_programmed:
                budget.release(inbox)
            else:
                budget.use(inbox)
        self.drop_if_useless(inbox)
        self._return_to_budgets()

    def forget(self, name: str) -> None:
        """Delete an inbox with its contents and wake its waiters."""
        inbox = self._by_name.get(name)
        if inbox is not None:
            self._remove(inbox)

    @property
    def has_waiters(self) -> bool:
        """Return whether a task waits for an inbox."""
        return any(inbox.waiters for inbox in self._by_name.values())

    def end_waits(self) -> None:
        """Wake all waiters for good."""
        for inbox in self._by_name.values():
            inbox.notifier.close()

    def close(self) -> None:
        """Wake all waiters, delete all contents, and keep nothing from now on."""
        self._is_closed = True
        for inbox in list(self._by_name.values()):
            self._remove(inbox)


class InboxInputs:
    """The inputs of a sandbox's inboxes from outside, which are recorded on its tape. The sandbox's own deliveries to
    its inboxes are not, since a replay repeats them."""

    def __init__(self, inboxes: Inboxes, clock: Clock, tape: Tape) -> None:
        self._inboxes = inboxes
        self._clock = clock
        self._tape = tape

    def receive(
        self, inbox: str, method: str, query: bytes, headers: tuple[tuple[bytes, bytes], ...], body: bytes
    ) -> InboxReply:
        """Store a request in an inbox, and return the inbox's reply."""
        wall = self._clock.wall()
        entry = InboxReceived(self._clock.at(wall), wall, inbox, method, query, headers, body)
        self._record(entry, ENTRY_BYTES + len(body))
        return self._inboxes.receive(entry)

    def set_program(self, inbox: str, document: Mapping[str, Any], program: InboxProgram) -> None:
        """Set the replies of an inbox, from a document and the program compiled from it. Raises `Conflict`."""
        self._inboxes.set_program(inbox, program)
        self._record(InboxProgrammed(self._clock.now(), inbox, document))

    def clear(self, inbox: str) -> None:
        """Delete the messages and replies of an inbox."""
        self._inboxes.forget(inbox)
        self._record(InboxCleared(self._clock.now(), inbox))

    def _record(self, entry: Entry, size: int = ENTRY_BYTES) -> None:
        if not self._inboxes.is_closed:  # else the life of this tape is ending
            self._tape.add(entry, size)
