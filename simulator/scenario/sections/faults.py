"""Reads a fault's `then`: what it does to an exchange."""

from collections.abc import Iterator
from datetime import timedelta

from simulator.contract.body import BadJson, decode_any
from simulator.domain.model.faults import (
    JSON,
    CutAnswer,
    Denial,
    DrippingAnswer,
    ExtraHeaders,
    Failure,
    FaultThen,
    InternalError,
    MalformedAnswer,
    NoAnswer,
    NonceServiceDown,
    ScriptedAnswer,
)
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.headers import headers

# The keys that apply to the answer of an executed request.
AFTER_COMMIT = ("status", "headers", "disconnect", "malformed", "drip", "delay")

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


def fault(item: Reader) -> FaultThen:
    """A fault's `then`. Keys without effect are reported."""
    _refuse_misplaced(item)
    return FaultThen(
        failures=tuple(_failures(item)),
        denial=_denial(item),
        delay=_delay(item["delay"]),
        after_commit=item["after_commit"].boolean(),
        is_delay_virtual=item["delay"].is_mapping,
    )


def _refuse_misplaced(item: Reader) -> None:
    if item["body"].is_given and not item["status"].is_given:
        item["body"].problem("misplaced", "a body needs a 'status' beside it", at_key=True)
    closes = item["disconnect"].boolean() or item["disconnect"].text()
    if item["after_commit"].boolean() and not any(item[key].is_given for key in AFTER_COMMIT):
        *others, last = map(repr, AFTER_COMMIT)
        text = f"after_commit needs {', '.join(others)} or {last} beside it"
        item["after_commit"].problem("misplaced", f"{text}: what happens to the answer", at_key=True)
    for spoiler in ("malformed", "drip", "headers"):
        has_head = spoiler == "headers" and item["disconnect"].text() == "body"
        if closes and item[spoiler].is_given and not has_head:
            text = f"a closed connection has no answer for {spoiler!r}; remove one of the two"
            item[spoiler].problem("misplaced", text, at_key=True)


def _failures(item: Reader) -> Iterator[Failure]:
    """In the order of application."""
    status, body, disconnect = item["status"].optional_integer(), item["body"].node, item["disconnect"]
    if status is not None:
        content = body.plain() if body is not None else None
        yield ScriptedAnswer(status, content, _type_of(content) if isinstance(content, str) else JSON)
    if found := headers(item["headers"]):
        yield ExtraHeaders(tuple((name.encode(), value.encode()) for name, value in found))
    if disconnect.boolean() or disconnect.text() == "head":
        yield NoAnswer()
    elif disconnect.text():
        yield CutAnswer()
    if item["malformed"].boolean():
        yield MalformedAnswer()
    pace = item["drip"]["bytes_per_second"].optional_amount()
    if pace is not None:
        yield DrippingAnswer(float(pace))


def _type_of(text: str) -> str:
    """The media type of a body that is written as text, by what it looks like."""
    if text.lstrip().startswith("<"):
        return HTML
    try:
        decode_any(text.encode())
    except BadJson:
        return TEXT
    return JSON


def _denial(item: Reader) -> Denial | None:
    if item["nonce_service"].text() == "down":
        return NonceServiceDown()
    return InternalError() if item["internal_error"].boolean() else None


def _delay(item: Reader) -> tuple[timedelta, timedelta] | None:
    """`5s`, or `[200ms, 2s]` to draw from; either within `virtual`."""
    if not item.is_given:
        return None
    if item.is_mapping:
        return _delay(item["virtual"])
    if not item.is_list:
        exactly = item.duration()
        return exactly, exactly
    spans = [entry.duration() for entry in item.items()]
    if len(spans) != 2:
        return None
    low, high = spans
    if low > high:
        item.problem("out_of_range", "the first delay is longer than the second")
    return low, high
