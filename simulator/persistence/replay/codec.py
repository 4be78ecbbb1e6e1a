"""The codec of tapes: each entry as a line of JSON, and back. `docs/tape.md` describes the lines.

Most entries are written unchanged. Bytes in UTF-8 are written as text, others in Base64; headers, queries and targets
as Latin-1. The later lines of a request that waited refer to its first line by number.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from itertools import chain
from operator import attrgetter, or_
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from simulator.domain.model.delivery_attempts import OutgoingRequest
from simulator.persistence.tape import entries
from simulator.persistence.tape.entries import Entry, Line, Resumption, Time, plain
from simulator.runtime.journal import Exchange

Began = dict[int, Exchange]
"""The requests that began to wait, by the numbers of their lines."""
Numbers = dict[int, int]
"""The numbers of the lines of requests that began to wait, by the identity of their records."""


class BadTape(Exception):
    """The input is not a tape, or is damaged; the text says where and why."""


class EncodedBytes(msgspec.Struct, frozen=True):
    """Bytes that are not text."""

    base64: str


Spelled = str | EncodedBytes
Pairs = tuple[tuple[str, str], ...]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class AnswerLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a request, with its record in the journal; `duration_us` was measured and is not compared."""

    n: Count
    status: Annotated[int, msgspec.Meta(ge=0, le=999)] = 0
    headers: Pairs = ()
    body: Spelled = ""
    ending: str = ""
    reseller: Spelled = ""
    selected_rule: Spelled = ""
    rule: Spelled = ""
    fault: Spelled = ""
    error: Spelled = ""
    diagnosis: Spelled = ""
    public_diagnosis: Spelled = msgspec.field(default="", name="told")
    trxid: Spelled = ""
    refid: Spelled = ""
    owner: str = ""
    duration_us: Count = 0


class RequestLine(Line, frozen=True, tag="request", kw_only=True):
    """A request. `waits` is set when it could not be answered in a single turn, `shown` when it was only added to the
    journal; `answer` is absent when the request had no answer yet."""

    now: Time
    wall: Time
    method: str
    path: Spelled
    query: str = ""
    headers: Pairs = ()
    body: Spelled = ""
    client: str = ""
    target: str = ""
    replay_of: Count = 0
    prefix: str = ""
    scheme: str = ""
    awaited: bool = False
    waits: bool = False
    shown: bool = False
    answer: AnswerLine | None = None


class ResumedLine(Line, frozen=True, tag="resumed", kw_only=True):
    """A request of an earlier line, counted from 1, continues; with its body if that line was written before the body
    arrived."""

    request: int
    now: Time
    wall: Time
    how: Resumption = msgspec.field(default_factory=lambda: Resumption.READY)  # written always: it is not nothing
    body: Spelled = ""


class AnsweredLine(Line, frozen=True, tag="answered", kw_only=True):
    """The answer to a request of an earlier line, which had no answer when it was written."""

    request: int
    answer: AnswerLine


class AttemptLine(Line, frozen=True, tag="attempt"):
    """An attempt of a callback or webhook, with its request."""

    now: Time
    wall: Time
    job: str
    attempt: int
    method: str
    url: str
    headers: Pairs = ()
    body: Spelled | None = None


class MessageLine(Line, frozen=True, tag="inbox_message"):
    """An inbox received a request from outside."""

    now: Time
    wall: Time
    name: str
    method: str
    query: str = ""
    headers: Pairs = ()
    body: Spelled = ""


class AnsweredRequest(NamedTuple):
    """The record of a request that waited, with its answer."""

    exchange: Exchange


_ENCODER: Final = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)
_LINE: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(reduce(or_, Line.__subclasses__()), float_hook=Decimal)
_TEXTS: Final = tuple(name for name, kind in AnswerLine.__annotations__.items() if kind == Spelled and name != "body")
_texts: Final = attrgetter(*_TEXTS)


def entry_from(number: int, line: bytes, began: Began, called: int | None = None) -> Entry | AnsweredRequest:
    """Return the entry in the line of this number, or the answer to a request in `began`. Messages use the number
    `called` for the line. Raises `BadTape`."""
    try:
        return _entry(_LINE.decode(line), number, began)
    except (msgspec.DecodeError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise BadTape(f"line {called or number} cannot be understood ({error})") from None


def _entry(line: Line, number: int, began: Began) -> Entry | AnsweredRequest:
    match line:
        case RequestLine():
            exchange = _exchange(line)
            if line.waits:
                began[number] = exchange
                return entries.RequestBegan(exchange)
            return entries.RequestShown(exchange) if line.shown else exchange
        case AnsweredLine():
            exchange = _recorded(line.request, began)
            _put_answer(exchange, line.answer)
            return AnsweredRequest(exchange)
        case ResumedLine():
            exchange = _recorded(line.request, began)
            if line.body:
                exchange.body = _bytes(line.body)
            return entries.RequestResumed(exchange, line.now, line.wall, line.how)
        case AttemptLine():
            body = None if line.body is None else _bytes(line.body)
            sent = OutgoingRequest(line.method, line.url, line.headers, body)
            return entries.AttemptSent(line.now, line.wall, line.job, line.attempt, sent)
        case MessageLine():
            query, headers = line.query.encode("latin-1"), _headers(line.headers)
            return entries.InboxReceived(line.now, line.wall, line.name, line.method, query, headers, _bytes(line.body))
    return line  # type: ignore[return-value]  # it is an entry itself


def _recorded(number: int, began: Began) -> Exchange:
    if number not in began:
        raise ValueError(f"entry {number} is no request that waits")
    return began[number]


def entry_line(entry: Entry, numbers: Numbers, *, with_body: bool = False) -> bytes:
    """Return the line of an entry. `with_body` is for a request that continues and whose first line was written before
    its body arrived."""
    to_line = _LINES.get(type(entry))
    if to_line is None:
        return written_line(entry)
    line = to_line(entry, numbers)
    if with_body and isinstance(entry, entries.RequestResumed):
        line = msgspec.structs.replace(line, body=_spelled(entry.exchange.body))
    return written_line(line)


def answered_line(exchange: Exchange, number: int) -> bytes:
    """Return the line of an answer to the request that began in the line of this number."""
    return written_line(AnsweredLine(request=number, answer=_answer(exchange)))


def written_line(content: Any) -> bytes:
    """Return the line of a head, an entry or an end, with its line end."""
    try:
        return _ENCODER.encode(content) + b"\n"
    except UnicodeEncodeError:  # a requested name has a lone surrogate, so it does not exist
        plain_content = msgspec.to_builtins(content, enc_hook=plain, builtin_types=(Decimal,))
        return _ENCODER.encode(_without_surrogates(plain_content)) + b"\n"


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return [_without_surrogates(item) for item in value] if isinstance(value, list | tuple) else value


def _attempt_line(entry: entries.AttemptSent, _: Numbers) -> AttemptLine:
    sent, body = entry.request, entry.request.body
    request = sent.method, sent.url, sent.headers, None if body is None else _spelled(body)
    return AttemptLine(entry.now, entry.wall, entry.job, entry.attempt, *request)


def _message_line(entry: entries.InboxReceived, _: Numbers) -> MessageLine:
    query, headers, body = entry.query.decode("latin-1"), _pairs(entry.headers), _spelled(entry.body)
    return MessageLine(entry.now, entry.wall, entry.name, entry.method, query, headers, body)


def _request_line(exchange: Any, *, waits: bool = False, shown: bool = False) -> RequestLine:
    return RequestLine(
        now=exchange.at,
        wall=exchange.wall or exchange.at,
        method=exchange.method,
        path=_spelled_text(exchange.path),
        query=exchange.query.decode("latin-1"),
        headers=exchange.header_texts,
        body=_spelled(exchange.body),
        client=exchange.client,
        target=exchange.target.decode("latin-1"),
        replay_of=exchange.replay_of,
        prefix=exchange.prefix,
        scheme=exchange.scheme,
        awaited=exchange.is_awaited,
        waits=waits,
        shown=shown,
        answer=_answer(exchange) if exchange.n or exchange.status else None,
    )


_LINES: Final[dict[type, Callable[[Any, Numbers], Line]]] = {
    Exchange: lambda entry, _: _request_line(entry),
    entries.RequestBegan: lambda entry, _: _request_line(entry.exchange, waits=True),
    entries.RequestShown: lambda entry, _: _request_line(entry.exchange, shown=True),
    entries.RequestResumed: lambda entry, numbers: ResumedLine(
        request=numbers[id(entry.exchange)], now=entry.now, wall=entry.wall, how=entry.how
    ),
    entries.AttemptSent: _attempt_line,
    entries.InboxReceived: _message_line,
}


def _answer(exchange: Exchange) -> AnswerLine:
    headers = _pairs(exchange.own_headers) if exchange.own_headers else ()
    body, texts = _spelled(exchange.content), _texts(exchange)
    if not "".join(texts).isascii():
        texts = tuple(map(_spelled_text, texts))
    others = headers, body, exchange.ending, *texts, exchange.owner, exchange.duration_us
    return AnswerLine(exchange.n, exchange.status, *others)


def _exchange(line: RequestLine) -> Exchange:
    exchange = Exchange(
        at=line.now,
        wall=line.wall,
        method=line.method,
        path=_text(line.path),
        query=line.query.encode("latin-1"),
        packed_headers="\n".join(chain.from_iterable(line.headers)).encode("latin-1"),
        client=line.client,
        body=_bytes(line.body),
        target=line.target.encode("latin-1"),
        replay_of=line.replay_of,
        prefix=line.prefix,
        is_awaited=line.awaited,
        scheme=line.scheme,
    )
    if line.answer:
        _put_answer(exchange, line.answer)
    return exchange


def _put_answer(exchange: Exchange, answer: AnswerLine) -> None:
    exchange.n, exchange.status, exchange.duration_us = answer.n, answer.status, answer.duration_us
    exchange.ending, exchange.owner = answer.ending, answer.owner
    exchange.own_headers, exchange.content = _headers(answer.headers), _bytes(answer.body)
    for name, text in zip(_TEXTS, _texts(answer), strict=True):
        setattr(exchange, name, _text(text))


def _spelled(content: bytes) -> Spelled:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return EncodedBytes(b64encode(content).decode())


def _bytes(text: Spelled) -> bytes:
    return text.encode() if isinstance(text, str) else b64decode(text.base64, validate=True)


def _spelled_text(text: str) -> Spelled:
    """Encode a text, in Base64 when it has lone surrogates."""
    return text if text.isascii() else _spelled(text.encode("utf-8", "surrogatepass"))


def _text(text: Spelled) -> str:
    return text if isinstance(text, str) else _bytes(text).decode("utf-8", "surrogatepass")


def _pairs(headers: tuple[tuple[bytes, bytes], ...]) -> Pairs:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


def _headers(pairs: Pairs) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs)
