"""The entries of a tape as lines of JSON, and back. `docs/tape.md` describes them.

Bytes that are UTF-8 are written as text, others in Base64; headers, queries and targets as Latin-1. The lines of a
request that waited name its first line by its number.
"""

from base64 import b64decode, b64encode
from datetime import datetime
from typing import Any

import msgspec

from simulator.domain.model.effects import Outgoing
from simulator.persistence.tape.entries import AnyCommand, Due, Resumption
from simulator.runtime.journal import Exchange, packed


class Encoded(msgspec.Struct, frozen=True):
    """Bytes that are no text."""

    base64: str


Spelled = str | Encoded
Pairs = tuple[tuple[str, str], ...]


class Line(msgspec.Struct, frozen=True, tag_field="entry", omit_defaults=True, kw_only=True):
    """The base of all lines."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What was answered, and what the journal says of it; `duration_us` was measured and is not compared."""

    n: int
    status: int = 0
    headers: Pairs = ()
    body: Spelled = ""
    ending: str = ""
    reseller: Spelled = ""
    selected_rule: Spelled = ""
    rule: Spelled = ""
    fault: Spelled = ""
    error: str = ""
    diagnosis: Spelled = ""
    told: Spelled = ""
    trxid: Spelled = ""
    refid: Spelled = ""
    owner: str = ""
    duration_us: int = 0


class RequestLine(Line, frozen=True, tag="request", kw_only=True):
    """A request. `waits` when it could not be answered in one turn; `shown` when it only came into the journal;
    `answer` is absent when there was none yet."""

    now: datetime
    wall: datetime
    method: str
    path: Spelled
    query: str = ""
    headers: Pairs = ()
    body: Spelled = ""
    client: str = ""
    target: str = ""
    replay_of: int = 0
    prefix: str = ""
    scheme: str = ""
    awaited: bool = False
    waits: bool = False
    shown: bool = False
    answer: Answer | None = None


class ResumedLine(Line, frozen=True, tag="resumed", kw_only=True):
    """A request of an earlier line, counted from 1, goes on; with its body, where that line was written before it
    came."""

    request: int
    now: datetime
    wall: datetime
    how: Resumption = msgspec.field(default_factory=lambda: Resumption.READY)  # written always: it is not nothing
    body: Spelled = ""


class CommandLine(Line, frozen=True, tag="command", kw_only=True):
    """A command of the control API, of the clock, or the end of an attempt, the attempts that it made due, and what it
    answered."""

    now: datetime
    command: AnyCommand
    due: Due = ()
    trace: Pairs = ()
    answer: str = ""


class AttemptLine(Line, frozen=True, tag="attempt", kw_only=True):
    """An attempt of a callback or webhook, and what was sent."""

    now: datetime
    wall: datetime
    job: str
    attempt: int
    method: str
    url: str
    headers: Pairs = ()
    body: Spelled | None = None


class ClockLine(Line, frozen=True, tag="clock", kw_only=True):
    """The clock was moved or set."""

    now: datetime
    mode: str
    rate: float


class InboxMessageLine(Line, frozen=True, tag="inbox_message", kw_only=True):
    """An inbox received a request from outside."""

    now: datetime
    wall: datetime
    name: str
    method: str
    query: str = ""
    headers: Pairs = ()
    body: Spelled = ""


class InboxRepliesLine(Line, frozen=True, tag="inbox_replies", kw_only=True):
    """The replies of an inbox were set."""

    now: datetime
    name: str
    document: dict[str, Any]


class InboxClearedLine(Line, frozen=True, tag="inbox_cleared", kw_only=True):
    """An inbox was emptied."""

    now: datetime
    name: str


ANSWERED = b'{"entry":"answered"'
"""What the lines begin with that are no entries of their own."""


class AnsweredLine(Line, frozen=True, tag="answered", kw_only=True):
    """A request of an earlier line, which had no answer when it was written, was answered."""

    request: int
    answer: Answer


def spelled(content: bytes) -> Spelled:
    """Bytes as text, or in Base64."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return Encoded(b64encode(content).decode())


def bytes_of(text: Spelled) -> bytes:
    """The bytes of a text. Raises `ValueError` for what is no Base64."""
    return text.encode() if isinstance(text, str) else b64decode(text.base64, validate=True)


def spelled_text(text: str) -> Spelled:
    """A text, in Base64 when it has lone surrogates."""
    return text if text.isascii() else spelled(text.encode("utf-8", "surrogatepass"))


def text_of(text: Spelled) -> str:
    """The text of `spelled_text`."""
    return text if isinstance(text, str) else bytes_of(text).decode("utf-8", "surrogatepass")


def pairs_of(headers: list[tuple[bytes, bytes]] | tuple[tuple[bytes, bytes], ...]) -> Pairs:
    """Headers as text."""
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


def headers_of(pairs: Pairs) -> tuple[tuple[bytes, bytes], ...]:
    """Headers as bytes. Raises `ValueError` for what is no Latin-1."""
    return tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs)


_TEXTS = ("reseller", "selected_rule", "rule", "fault", "diagnosis", "told", "trxid", "refid")


def request_line(one: Exchange, *, waits: bool = False, shown: bool = False) -> RequestLine:
    """The line of a request."""
    return RequestLine(
        now=one.at,
        wall=one.wall or one.at,
        method=one.method,
        path=spelled_text(one.path),
        query=one.query.decode("latin-1"),
        headers=one.header_texts,
        body=spelled(one.body),
        client=one.client,
        target=one.target.decode("latin-1"),
        replay_of=one.replay_of,
        prefix=one.prefix,
        scheme=one.scheme,
        awaited=one.is_awaited,
        waits=waits,
        shown=shown,
        answer=answer_of(one) if one.n or one.status else None,
    )


def answer_of(one: Exchange) -> Answer:
    """What was answered to a request."""
    texts = {name: spelled_text(getattr(one, name)) for name in _TEXTS}
    return Answer(
        n=one.n,
        status=one.status,
        headers=pairs_of(one.own_headers),
        body=spelled(one.content),
        ending=one.ending,
        error=one.error,
        owner=one.owner,
        duration_us=one.duration_us,
        **texts,
    )


def exchange_of(line: RequestLine) -> Exchange:
    """The record of a request, as the journal has it. Raises `ValueError`."""
    one = Exchange(
        at=line.now,
        wall=line.wall,
        method=line.method,
        path=text_of(line.path),
        query=line.query.encode("latin-1"),
        packed_headers=packed(headers_of(line.headers)),
        body=bytes_of(line.body),
        client=line.client,
        target=line.target.encode("latin-1"),
        replay_of=line.replay_of,
        prefix=line.prefix,
        scheme=line.scheme,
        is_awaited=line.awaited,
    )
    if line.answer:
        put_answer(one, line.answer)
    return one


def put_answer(one: Exchange, answer: Answer) -> None:
    """Let the record of a request have its answer. Raises `ValueError`."""
    one.n, one.status, one.ending, one.error = answer.n, answer.status, answer.ending, answer.error
    one.own_headers, one.content = headers_of(answer.headers), bytes_of(answer.body)
    one.owner, one.duration_us = answer.owner, answer.duration_us
    for name in _TEXTS:
        setattr(one, name, text_of(getattr(answer, name)))


def outgoing_of(line: AttemptLine) -> Outgoing:
    """What an attempt sent."""
    body = None if line.body is None else bytes_of(line.body)
    return Outgoing(line.method, line.url, line.headers, body)
