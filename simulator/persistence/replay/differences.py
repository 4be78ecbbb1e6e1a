"""Differences between a sandbox and its replay: the first difference, with both sides."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from simulator.domain.model.delivery_attempts import OutgoingRequest
from simulator.persistence.tape.entries import AttemptSent, Due
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox

_NOT_COMPARED: Final = frozenset({"duration_us", "owner"})  # measured by the wall; the sandbox's own id, if any
_FIRST: Final = ("status", "content", "own_headers")  # what clients see
_COMPARED: Final = tuple(
    dict.fromkeys((*_FIRST, *(each for each in Exchange.__struct_fields__ if each not in _NOT_COMPARED)))
)


class Difference(msgspec.Struct, frozen=True):
    """A difference: `entry` is its number on the tape, `what` names the differing part, `recorded` is its value on the
    tape and `replayed` its value in the replay."""

    entry: int
    what: str
    recorded: Any
    replayed: Any


def of_value(entry: int, what: str, recorded: Any, replayed: Any) -> Difference | None:
    """Return the difference between two values, if any."""
    return None if recorded == replayed else Difference(entry, what, recorded, replayed)


def of_requests(entry: int, recorded: Exchange, replayed: Exchange) -> Difference | None:
    """Return the first difference between two records of a request, including its answer."""
    what = f"request {recorded.n} ({recorded.method} {recorded.path})"
    return _of_members(entry, what, _COMPARED, recorded, replayed)


def of_attempts(entry: int, sent: AttemptSent, replayed: OutgoingRequest) -> Difference | None:
    """Return the first difference between the requests of an attempt of a callback or webhook."""
    recorded, what = sent.request, _called(sent.job, sent.attempt)
    if _without_source(recorded.headers) == _without_source(replayed.headers):
        replayed = replace(replayed, headers=recorded.headers)
    return _of_members(entry, what, OutgoingRequest.__struct_fields__, recorded, replayed)


def _of_members(entry: int, what: str, names: Iterable[str], recorded: Any, replayed: Any) -> Difference | None:
    found = (of_value(entry, f"{what}: {name}", getattr(recorded, name), getattr(replayed, name)) for name in names)
    return next(filter(None, found), None)


def _without_source(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return headers without the source address, which earlier versions did not draw."""
    return tuple(header for header in headers if header[0] != "X-Forwarded-For")


def unbegun(live: LiveSandbox) -> Due:
    """Return the attempts of a sandbox that are due and wait for their turn."""
    sends = live.core.state.in_flight.values()
    return tuple((one.job.id, one.attempt.number) for one in sends if not live.courier.sent.is_begun(one.job.id))


def of_due(entry: int, recorded: Due, replayed: Due) -> Difference | None:
    """Return the first difference between the attempts that are due on the tape, and in a replay."""
    if extra := [one for one in replayed if one not in recorded]:
        return Difference(entry, _called(*extra[0]), "is not due", "is due")
    if missing := [one for one in recorded if one not in replayed]:
        return Difference(entry, _called(*missing[0]), "is due", "is not due")
    return None


def of_attempt(entry: int, job: str, attempt: int, live: LiveSandbox, *, ends: bool) -> Difference | None:
    """Return why an attempt of the tape cannot begin, or end, if so."""
    send, recorded = live.core.state.in_flight.get(job), "ends" if ends else "is sent"
    if send is None or send.attempt.number != attempt:
        return Difference(entry, _called(job, attempt), recorded, "is not in flight" if ends else "is not due")
    if live.courier.sent.is_begun(job) is ends:
        return None
    return Difference(entry, _called(job, attempt), recorded, "is not sent before" if ends else "was sent before")


def _called(job: str, attempt: int) -> str:
    return f"attempt {attempt} of {job}"
