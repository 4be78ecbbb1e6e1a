"""The codec of entries: the line of each entry, and the entry of each line."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

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


Places = dict[int, int]
"""The places of the lines of requests that began to wait, by the identity of their records."""


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


def line_of(entry: Entry, places: Places) -> lines.Line:
    """Return the line of an entry."""
    return _LINES[type(entry)](entry, places)


def resumed_line_of(entry: RequestResumed, places: Places) -> lines.Line:
    """Return the line of a request that goes on, with its body: the line in which it began was written before that."""
    body = lines.spelled(entry.exchange.body) if isinstance(entry.exchange, Exchange) else ""
    return msgspec.structs.replace(_resumed_line(entry, places), body=body)


def _resumed_line(entry: RequestResumed, began: Places) -> lines.ResumedLine:
    place = began[id(entry.exchange)]
    return lines.ResumedLine(request=place, now=entry.now, wall=entry.wall, how=entry.how)


def _attempt_line(entry: AttemptSent, began: Places) -> lines.AttemptLine:
    sent = entry.request
    return lines.AttemptLine(
        now=entry.now,
        wall=entry.wall,
        job=entry.job,
        attempt=entry.attempt,
        method=sent.method,
        url=sent.url,
        headers=sent.headers,
        body=None if sent.body is None else lines.spelled(sent.body),
    )


def _message_line(entry: InboxReceived, began: Places) -> lines.InboxMessageLine:
    return lines.InboxMessageLine(
        now=entry.now,
        wall=entry.wall,
        name=entry.name,
        method=entry.method,
        query=entry.query.decode("latin-1"),
        headers=lines.pairs_of(entry.headers),
        body=lines.spelled(entry.body),
    )


def _replies_line(entry: InboxProgrammed, began: Places) -> lines.InboxRepliesLine:
    return lines.InboxRepliesLine(now=entry.now, name=entry.name, document=dict(entry.document))


_LINES: dict[type, Callable[[Any, Places], lines.Line]] = {
    Exchange: lambda one, _: lines.request_line(one),
    RequestBegan: lambda one, _: lines.request_line(one.exchange, waits=True),
    RequestShown: lambda one, _: lines.request_line(one.exchange, shown=True),
    RequestResumed: _resumed_line,
    CommandApplied: lambda one, _: lines.CommandLine(
        now=one.now, command=one.command, due=one.due, trace=one.trace, answer=one.answer
    ),
    AttemptSent: _attempt_line,
    ClockSet: lambda one, _: lines.ClockLine(now=one.now, mode=one.mode, rate=one.rate),
    InboxReceived: _message_line,
    InboxProgrammed: _replies_line,
    InboxCleared: lambda one, _: lines.InboxClearedLine(now=one.now, name=one.name),
}
