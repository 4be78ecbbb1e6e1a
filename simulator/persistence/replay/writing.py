"""Writes a tape as lines: its head, its entries, its end."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from hashlib import sha256
from itertools import count
from typing import Any

import msgspec

from simulator.persistence.replay import lines
from simulator.persistence.replay.entry_codec import Places, line_of, resumed_line_of
from simulator.persistence.replay.head import End, MarkState, TakenTape
from simulator.persistence.tape.entries import (
    Entry,
    InboxCleared,
    InboxReceived,
    RequestBegan,
    RequestResumed,
    RequestShown,
    plain,
)
from simulator.runtime.journal import Exchange

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


def entry_line(entry: Entry, began: Places) -> bytes:
    """The line of an entry; `began` has the number of the line in which each request that waits began."""
    return written_line(line_of(entry, began))


def resumed_line(entry: RequestResumed, began: Places) -> bytes:
    """The line of a request that goes on, with its body, since the line in which it began was written before that."""
    return written_line(resumed_line_of(entry, began))


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
