"""Writes a tape as lines: its head, its entries, its end."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from hashlib import sha256
from itertools import count
from typing import Any

import msgspec

from simulator.persistence.replay import lines
from simulator.persistence.replay.head import End, MarkState, TakenTape
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
from simulator.persistence.tape.inputs import plain
from simulator.runtime.journal import Exchange

Began = dict[int, int]

_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)


def tape_lines(tape: TakenTape) -> Iterator[bytes]:
    """A tape, line by line, each with its line end; with all secrets that are on it."""
    yield written_line(tape.head)
    yield from entry_lines(tape.entries)
    yield written_line(
        End(
            end=len(tape.entries),
            left_out=tape.left_out,
            now=tape.now,
            due=tape.due,
            ended=tape.ended,
            state=tape.state,
            marks=tape.marks,
            outside=outside_digest(tape.entries, tape.marks),
        )
    )


def outside_digest(entries: Iterable[Entry], marks: Iterable[MarkState]) -> str:
    """A digest of all that a replay takes as it is: messages to inboxes and requests that another program answered, and
    where marks are. Sixteen hexadecimal digits."""
    found = sha256()
    for entry in entries:
        if isinstance(entry, InboxReceived | InboxCleared | RequestShown):
            found.update(entry_line(entry, {}))
    for mark in marks:
        found.update(written_line([mark.mark, mark.n]))
    return found.hexdigest()[:16]


def entry_lines(entries: Sequence[Entry]) -> Iterator[bytes]:
    """The lines of entries; the requests that wait among them begin there, too."""
    began: dict[int, int] = {}
    for place, entry in zip(count(1), entries, strict=False):
        if isinstance(entry, RequestBegan):
            began[id(entry.exchange)] = place
        yield entry_line(entry, began)


def entry_line(entry: Entry, began: Began) -> bytes:
    """The line of an entry; `began` has the number of the line in which each request that waits began."""
    return written_line(_LINES[type(entry)](entry, began))


def resumed_line(entry: RequestResumed, began: Began) -> bytes:
    """The line of a request that goes on, with its body, since the line in which it began was written before that."""
    body = lines.spelled(entry.exchange.body) if isinstance(entry.exchange, Exchange) else ""
    return written_line(msgspec.structs.replace(_resumed(entry, began), body=body))


def answered_line(one: Exchange, place: int) -> bytes:
    """The line of an answer to the request that began in the line of this number."""
    return written_line(lines.AnsweredLine(request=place, answer=lines.answer_of(one)))


def written_line(content: Any) -> bytes:
    """The line of a head, an entry or an end, with its line end."""
    try:
        return _ENCODER.encode(content) + b"\n"
    except UnicodeEncodeError:  # somebody asked for a name with a lone surrogate, which nothing has
        plain_content = msgspec.to_builtins(content, enc_hook=plain, builtin_types=(Decimal,))
        return _ENCODER.encode(_without_surrogates(plain_content)) + b"\n"


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    return [_without_surrogates(one) for one in value] if isinstance(value, list | tuple) else value


def _resumed(entry: RequestResumed, began: Began) -> lines.ResumedLine:
    place = began[id(entry.exchange)]
    return lines.ResumedLine(request=place, now=entry.now, wall=entry.wall, how=entry.how)


def _attempt(entry: AttemptSent, began: Began) -> lines.AttemptLine:
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


def _message(entry: InboxReceived, began: Began) -> lines.InboxMessageLine:
    return lines.InboxMessageLine(
        now=entry.now,
        wall=entry.wall,
        name=entry.name,
        method=entry.method,
        query=entry.query.decode("latin-1"),
        headers=lines.pairs_of(entry.headers),
        body=lines.spelled(entry.body),
    )


def _replies(entry: InboxProgrammed, began: Began) -> lines.InboxRepliesLine:
    return lines.InboxRepliesLine(now=entry.now, name=entry.name, document=dict(entry.document))


_LINES: dict[type, Callable[[Any, Began], lines.Line]] = {
    Exchange: lambda one, _: lines.request_line(one),
    RequestBegan: lambda one, _: lines.request_line(one.exchange, waits=True),
    RequestShown: lambda one, _: lines.request_line(one.exchange, shown=True),
    RequestResumed: _resumed,
    CommandApplied: lambda one, _: lines.CommandLine(
        now=one.now, command=one.command, due=one.due, trace=one.trace, answer=one.answer
    ),
    AttemptSent: _attempt,
    ClockSet: lambda one, _: lines.ClockLine(now=one.now, mode=one.mode, rate=one.rate),
    InboxReceived: _message,
    InboxProgrammed: _replies,
    InboxCleared: lambda one, _: lines.InboxClearedLine(now=one.now, name=one.name),
}
