"""The entries of a tape from its lines, when they are decoded."""

from collections.abc import Callable
from typing import Any, NamedTuple

from simulator.persistence.replay import lines
from simulator.persistence.tape.entries import (
    AttemptSent,
    ClockSet,
    CommandApplied,
    Entry,
    InboxCleared,
    InboxProgrammed,
    InboxReceived,
    RequestBegan,
    RequestResumed,
    RequestShown,
)
from simulator.runtime.journal import Exchange

Began = dict[int, Exchange]
"""The requests that began to wait, by the places of their lines."""


class Answered(NamedTuple):
    """The record of a request that waited, which has its answer now."""

    exchange: Exchange


def entry_of(line: lines.Line, place: int, began: Began) -> Entry | Answered:
    """The entry in the line at a place, or the answer to one of those that `began` to wait.
    Raises `ValueError`, `LookupError` or `TypeError`."""
    if isinstance(line, lines.RequestLine):
        return _request(line, place, began)
    return _ENTRIES[type(line)](line, began)


def _request(line: lines.RequestLine, place: int, began: Began) -> Entry:
    one = lines.exchange_of(line)
    if line.waits:
        began[place] = one
        return RequestBegan(one)
    return RequestShown(one) if line.shown else one


def _resumed(line: lines.ResumedLine, began: Began) -> Entry:
    one = _recorded(line.request, began)
    if line.body:
        one.body = lines.bytes_of(line.body)
    return RequestResumed(one, line.now, line.wall, line.how)


def _answered(line: lines.AnsweredLine, began: Began) -> Answered:
    one = _recorded(line.request, began)
    lines.put_answer(one, line.answer)
    return Answered(one)


def _recorded(place: int, began: Began) -> Exchange:
    """The record of the request that began in the line of this number."""
    found = began.get(place)
    if found is None:
        raise ValueError(f"entry {place} is no request that waits")
    return found


def _attempt(line: lines.AttemptLine, began: Began) -> Entry:
    return AttemptSent(line.now, line.wall, line.job, line.attempt, lines.outgoing_of(line))


def _message(line: lines.InboxMessageLine, began: Began) -> Entry:
    headers, body = lines.headers_of(line.headers), lines.bytes_of(line.body)
    return InboxReceived(line.now, line.wall, line.name, line.method, line.query.encode("latin-1"), headers, body)


_ENTRIES: dict[type, Callable[[Any, Began], Entry | Answered]] = {
    lines.ResumedLine: _resumed,
    lines.AnsweredLine: _answered,
    lines.CommandLine: lambda one, _: CommandApplied(one.now, one.command, one.due, one.trace, one.answer),
    lines.AttemptLine: _attempt,
    lines.ClockLine: lambda one, _: ClockSet(one.now, one.mode, one.rate),
    lines.InboxMessageLine: _message,
    lines.InboxRepliesLine: lambda one, _: InboxProgrammed(one.now, one.name, one.document),
    lines.InboxClearedLine: lambda one, _: InboxCleared(one.now, one.name),
}
