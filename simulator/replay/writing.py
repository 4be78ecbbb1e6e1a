"""Writes a tape as lines: its head, its entries, its end."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import count
from typing import Any

import msgspec

from simulator.replay import lines
from simulator.replay.head import End, TakenTape
from simulator.runtime.journal import Exchange
from simulator.tape.entries import (
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
from simulator.tape.inputs import plain

_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)


def tape_lines(tape: TakenTape) -> Iterator[bytes]:
    """A tape, line by line, each with its line end; with all secrets that are on it."""
    yield _line(tape.head)
    yield from entry_lines(tape.entries)
    yield _line(End(end=len(tape.entries), left_out=tape.left_out))


def entry_lines(entries: Sequence[Entry]) -> Iterator[bytes]:
    """The lines of entries; the requests that wait among them begin there, too."""
    began: dict[int, int] = {}
    for place, entry in zip(count(1), entries, strict=False):
        if isinstance(entry, RequestBegan):
            began[id(entry.exchange)] = place
        yield _line(_LINES[type(entry)](entry, began))


def _line(content: Any) -> bytes:
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


Began = dict[int, int]


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
    CommandApplied: lambda one, _: lines.CommandLine(now=one.now, command=one.command),
    AttemptSent: _attempt,
    ClockSet: lambda one, _: lines.ClockLine(now=one.now, mode=one.mode, rate=one.rate),
    InboxReceived: _message,
    InboxProgrammed: _replies,
    InboxCleared: lambda one, _: lines.InboxClearedLine(now=one.now, name=one.name),
}
