"""Scripted answers: the effects of a fault on an exchange, the replies of inboxes, and the headers of both."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType

from simulator.contract.body import BadJson, decode_any
from simulator.domain.model.draw import Spread
from simulator.domain.model.fault_kinds import (
    JSON,
    WITHOUT_BODY,
    AnswerDamage,
    Denial,
    DrippingAnswer,
    ExtraHeaders,
    Failure,
    FaultThen,
    ScriptedAnswer,
)
from simulator.domain.model.inbox_programs import INBOX_NAME, InboxProgram, InboxReply, TimedReply
from simulator.scenario.reading.nodes import shown
from simulator.scenario.reading.value_reader import ValueReader, read_object
from simulator.scenario.sections.times import WINDOW_KEYS, delay, read_window, spread

CONTENT_TYPE = "content-type"
OWN_PREFIX = "x-sim-"

# The body, the connection and the time of the answer determine these.
FRAMING = frozenset({"connection", "content-length", "date", "keep-alive", "trailer", "transfer-encoding", "upgrade"})

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)


def headers(section: ValueReader) -> tuple[tuple[str, str], ...]:
    """Return names and values as written. Names that HTTP or the simulator itself uses are reported."""
    seen: set[str] = set()
    for name, entry in section.entries():
        lower = name.lower()
        if not _NAME.fullmatch(name):
            _refuse(section, entry, "bad_header", f"{shown(name)} must be the name of a header")
        elif lower in FRAMING or lower.startswith(OWN_PREFIX):
            _refuse(section, entry, "bad_header", f"{shown(name)} is set by the server itself; it cannot be chosen")
        elif lower in seen:
            _refuse(section, entry, "duplicate", f"the header {shown(name)} is written twice")
        seen.add(lower)
    return tuple((name, entry.text()) for name, entry in section.entries())


def _refuse(section: ValueReader, entry: ValueReader, code: str, message: str) -> None:
    """Report a header at its name, with the path of all headers, since a name may have any character."""
    section.report.add(entry.key_position, section.path, code, message)


# The keys that apply to the answer of an executed request.
AFTER_COMMIT = ("status", "headers", "disconnect", "malformed", "drip", "delay", "hold")

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


def fault(item: ValueReader) -> FaultThen:
    """Return a fault's `then`. Keys without effect are reported."""
    _refuse_misplaced(item)
    return FaultThen(
        failures=tuple(_failures(item)),
        denial=_denial(item),
        delay=_delay(item["delay"]),
        after_commit=item["after_commit"].boolean(),
        hold=item["hold"].text(),
        is_delay_virtual=item["delay"]["virtual"].is_given,
    )


def _refuse_misplaced(item: ValueReader) -> None:
    if not item["status"].is_given:
        item.misplaced("a body needs a 'status' beside it", "body")
    if item["after_commit"].boolean() and not any(item[key].is_given for key in AFTER_COMMIT):
        *others, last = map(repr, AFTER_COMMIT)
        text = f"after_commit needs {', '.join(others)} or {last} beside it"
        item.misplaced(f"{text}: what happens to the answer", "after_commit")
    if item["disconnect"].boolean() or item["disconnect"].text():
        of_head = () if item["disconnect"].text() == "body" else ("headers",)
        item.misplaced(
            "a closed connection has no answer for {!r}; remove one of the two", "malformed", "drip", *of_head
        )


def _failures(item: ValueReader) -> Iterator[Failure]:
    """Yield the failures in the order of application."""
    status, content, disconnect = item["status"].optional_integer(), item["body"].plain, item["disconnect"]
    if status is not None:
        yield ScriptedAnswer(status, content, _type_of(content) if isinstance(content, str) else JSON)
    if found := headers(item["headers"]):
        yield ExtraHeaders(tuple((name.encode(), value.encode()) for name, value in found))
    if disconnect.boolean() or disconnect.text() == "head":
        yield AnswerDamage.NO_ANSWER
    elif disconnect.text():
        yield AnswerDamage.CUT
    if item["malformed"].boolean():
        yield AnswerDamage.MALFORMED
    pace = item["drip"]["bytes_per_second"].optional_amount()
    if pace is not None:
        yield DrippingAnswer(float(pace))


def _type_of(text: str) -> str:
    """Return the media type of a body that is written as text, by its content."""
    if text.lstrip().startswith("<"):
        return HTML
    try:
        decode_any(text.encode())
    except BadJson:
        return TEXT
    return JSON


def _denial(item: ValueReader) -> Denial | None:
    if item["nonce_service"].text() == "down":
        return Denial.NONCE_SERVICE_DOWN
    return Denial.INTERNAL_ERROR if item["internal_error"].boolean() else None


def _delay(item: ValueReader) -> tuple[timedelta, timedelta] | Spread | None:
    """Parse `5s`, or `[200ms, 2s]` to draw from, either within `virtual`; or `{median: 80ms, p99: 2s}`."""
    if not item.is_given:
        return None
    if item.is_mapping and item["virtual"].is_given:
        item.misplaced("a virtual delay has no {!r}; remove one of the two", "median", "p99")
        return _delay(item["virtual"])
    if item.is_mapping:
        for key in ("median", "p99"):
            if not item[key].is_given:
                item.problem("missing_key", f"{key!r} is missing")
        return spread(item)
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


DELAY_MAX = timedelta(minutes=5)

# The keys that a closed connection excludes.
ANSWER = ("status", "body", "headers")


def inboxes(section: ValueReader) -> Mapping[str, InboxProgram]:
    """Return the program of each listed inbox."""
    found: dict[str, InboxProgram] = {}
    for name, entry in section.entries():
        if not INBOX_NAME.fullmatch(name):
            text = f"an inbox's name has 1 to 64 letters, digits, '.', '_' or '-', not {name[:100]!r}"
            entry.problem("bad_inbox_name", text, at_key=True)
        found[name] = _program(entry)
    return MappingProxyType(found)


def build_inbox(data: Mapping[str, object]) -> InboxProgram:
    """Return the program of an inbox from an object; an empty object gives an empty program. Raises `ScenarioError`."""
    return read_object(data, "inbox", "inbox", _program) if data else InboxProgram()


def _program(item: ValueReader) -> InboxProgram:
    replies = item if item.is_list else item["replies"]
    return InboxProgram(
        replies=tuple(_reply(reply) for reply in replies.items()),
        repeat=item["repeat"].boolean(),
        during=tuple(timed for one in item["during"].items() if (timed := _timed(one)) is not None),
    )


def _timed(item: ValueReader) -> TimedReply | None:
    reply, window = _reply(item), read_window(item)
    if not any(item[key].is_given for key in WINDOW_KEYS):
        item.problem("missing_key", f"a reply by time needs exactly one of {', '.join(map(repr, WINDOW_KEYS))}")
    return TimedReply(window, reply) if window is not None else None


def _reply(item: ValueReader) -> InboxReply:
    status, body = item["status"].integer(200), item["body"].text()
    if status in WITHOUT_BODY and body:
        item["body"].problem("misplaced", f"an answer with status {status} has no body")
    waits = delay(item["delay"])
    if (waits.p99 if isinstance(waits, Spread) else waits) > DELAY_MAX:
        item["delay"].problem("out_of_range", f"an inbox waits at most {DELAY_MAX.seconds // 60} minutes")
    disconnect = item["disconnect"].boolean()
    if disconnect:
        item.misplaced("a closed connection has no {!r}; remove one of the two", *ANSWER)
    return InboxReply(status, waits, body, headers(item["headers"]), disconnect)
