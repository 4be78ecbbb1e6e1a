"""Differences between a sandbox and its replay: the first difference, with both sides."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

import msgspec

from simulator.domain.agenda import AgendaResult
from simulator.domain.commands import Command, EndAttempt
from simulator.domain.model.delivery_attempts import OutgoingRequest
from simulator.persistence.tape.entries import AttemptSent, CommandApplied, Due, Entry
from simulator.runtime.command_log import due_of
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


def of_requests(entry: int, recorded: Exchange, replayed: Exchange) -> Difference | None:
    """Return the first difference between two records of a request, including its answer."""
    for name in _COMPARED:
        before, after = getattr(recorded, name), getattr(replayed, name)
        if before != after:
            called = f"{recorded.method} {recorded.path}"
            return Difference(entry, f"request {recorded.n} ({called}): {name}", before, after)
    return None


def of_answers(entry: int, recorded: CommandApplied, replayed: str) -> Difference | None:
    """Return the difference between two answers to a command, if any."""
    if recorded.answer == replayed:
        return None
    return Difference(entry, f"{type(recorded.command).__name__}: answer", recorded.answer, replayed)


def of_order(entry: int, command: Command, now: datetime, earlier: datetime) -> Difference | None:
    """Return the difference of a command that has an earlier time than the clock was set to before it, if any."""
    if earlier <= now:
        return None
    return Difference(entry, f"{type(command).__name__}: now", now, f"not before {earlier.isoformat()}")


def of_attempts(
    entry: int, job: str, number: int, recorded: OutgoingRequest, replayed: OutgoingRequest
) -> Difference | None:
    """Return the first difference between the requests of two attempts of a callback or webhook."""
    for name in OutgoingRequest.__struct_fields__:
        before, after = getattr(recorded, name), getattr(replayed, name)
        is_equal = before == after or (name == "headers" and _without_source(before) == _without_source(after))
        if not is_equal:
            return Difference(entry, f"attempt {number} of {job}: {name}", before, after)
    return None


def _without_source(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return headers without the source address, which earlier versions did not draw."""
    return tuple(header for header in headers if header[0] != "X-Forwarded-For")


def unbegun(live: LiveSandbox) -> Due:
    """Return the attempts of a sandbox that are due and wait for their turn."""
    sends = live.core.state.in_flight.values()
    return tuple((one.job.id, one.attempt.number) for one in sends if not live.courier.sent.is_begun(one.job.id))


def unbegun_of(entries: Iterable[Entry]) -> Due:
    """Return the attempts that are due and have not begun, from the entries of a whole tape."""
    due: dict[str, int] = {}
    for one in entries:
        if isinstance(one, CommandApplied):
            due.update(one.due)
        elif isinstance(one, AttemptSent):
            due.pop(one.job, None)
    return tuple(due.items())


def of_time(place: int, recorded: Due, fired: list[AgendaResult]) -> Difference | None:
    """Return the first difference between the attempts that a passing of time made due on the tape, and in a replay."""
    replayed = due_of(fired)
    if recorded == replayed:
        return None
    found = _of_due(place, recorded, replayed, "is sent", "not sent")
    return found or Difference(place, "the order of attempts", _listed(recorded), _listed(replayed))


def of_end(place: int, recorded: Due, live: LiveSandbox) -> Difference | None:
    """Return the first difference between the attempts not begun at the end of a tape, and in a replay."""
    replayed = unbegun(live)
    if extra := [one for one in replayed if one not in recorded]:
        return Difference(place, _called(*extra[0]), "not sent", "is sent")
    return _of_due(place, recorded, replayed, "is due", "is not due")


def of_beginning(place: int, entry: AttemptSent, live: LiveSandbox) -> Difference | None:
    """Return why an attempt of the tape cannot begin, if so."""
    send = live.core.state.in_flight.get(entry.job)
    if send is None or send.attempt.number != entry.attempt:
        return Difference(place, _called(entry.job, entry.attempt), "is sent", "is not due")
    if live.courier.sent.is_begun(entry.job):
        return Difference(place, _called(entry.job, entry.attempt), "is sent again", "was sent")
    return None


def of_ending(place: int, command: EndAttempt, live: LiveSandbox) -> Difference | None:
    """Return why an attempt of the tape cannot end, if so."""
    called, send = _called(command.job, command.attempt), live.core.state.in_flight.get(command.job)
    if send is None:
        return Difference(place, f"the end of {called}", command.result, "nothing of this job is in flight")
    if send.attempt.number != command.attempt:
        text = f"attempt {send.attempt.number} is in flight"
        return Difference(place, f"the end of {called}", command.result, text)
    if not live.courier.sent.is_begun(command.job):
        return Difference(place, called, "not sent", "is sent")
    return None


def _of_due(place: int, recorded: Due, replayed: Due, there: str, not_there: str) -> Difference | None:
    if extra := [one for one in replayed if one not in recorded]:
        return Difference(place, _called(*extra[0]), not_there, there)
    if missing := [one for one in recorded if one not in replayed]:
        return Difference(place, _called(*missing[0]), there, not_there)
    return None


def _called(job: str, attempt: int) -> str:
    return f"attempt {attempt} of {job}"


def _listed(due: Due) -> str:
    return ", ".join(_called(*one) for one in due)
