"""Lets a sandbox that is rebuilt have the very records of the tape that it is rebuilt from, in the place of equal ones.

A request with its answer is a kilobyte or more, and is on the tape and in the journal. It never changes once it is
answered, so a fork needs none of its own.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from simulator.domain.model.effects import Outgoing
from simulator.persistence.tape.entries import AttemptSent, Entry, RequestBegan, RequestResumed, RequestShown
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox

Record = TypeVar("Record")

_OF_ONE_REQUEST = RequestBegan, RequestResumed, RequestShown
"""What refers to a request, which several entries may have together."""


class Shared(NamedTuple):
    """The records of a tape: requests by their numbers in the journal, and what attempts sent, by job and attempt."""

    requests: dict[int, Exchange]
    sent: dict[tuple[str, int], Outgoing]

    def request(self, own: Exchange) -> Exchange:
        """The one of the tape that equals this one, else this one."""
        return _same(own, self.requests.get(own.n))

    def outgoing(self, job: str, attempt: int, own: Outgoing) -> Outgoing:
        """The same of what an attempt sent."""
        return _same(own, self.sent.get((job, attempt)))


def shared_of(entries: Iterable[Entry]) -> Shared:
    """The records of these entries, in which nothing changes any more."""
    shared = Shared({}, {})
    for one in entries:
        found = one.exchange if isinstance(one, _OF_ONE_REQUEST) else one
        if isinstance(found, Exchange) and found.n:
            shared.requests[found.n] = found
        elif isinstance(one, AttemptSent):
            shared.sent[one.job, one.attempt] = one.request
    return shared


def share(live: LiveSandbox, entries: Sequence[Entry], begin: int) -> None:
    """Let a sandbox that has played these entries, the first of them at the place `begin`, have them on its tape and in
    its logs. It may be done beside the event loop, as long as nobody else has the sandbox."""
    shared, tape, sent = shared_of(entries), live.tape, live.courier.sent
    tape.restore(_entries(list(tape), entries, begin), tape.bytes, tape.left_out, tape.left_bytes)
    for n, one in shared.requests.items():
        if live.journal.find(n) == one:
            live.journal.put(one)
    sent.restore((job, attempt, shared.outgoing(job, attempt, one)) for job, attempt, one in list(sent))


def _entries(own: list[Entry], theirs: Sequence[Entry], begin: int) -> list[Entry]:
    """The entries of a tape with those of another one behind the first `begin`, where they are equal."""
    waited: dict[int, Any] = {}  # by the identity of the record of its own
    for place, (one, other) in enumerate(zip(own[begin:], theirs, strict=False), begin):
        if isinstance(one, RequestBegan) and isinstance(other, RequestBegan) and one.exchange.n and one == other:
            waited[id(one.exchange)] = other.exchange
        if not isinstance(one, _OF_ONE_REQUEST):
            own[place] = _same(one, other)
        elif (exchange := waited.get(id(one.exchange))) is not None:
            own[place] = other if one == other else replace(one, exchange=exchange)
    return own


def _same(own: Record, theirs: Record | None) -> Record:
    """The other one, if they are equal."""
    return theirs if theirs is not None and type(own) is type(theirs) and own == theirs else own
