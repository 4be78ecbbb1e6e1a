"""How inboxes reply: a list of replies for each, or an object that repeats them or has replies by time."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from simulator.domain.model.faults import WITHOUT_BODY
from simulator.domain.model.inboxes import INBOX_NAME, InboxProgram, InboxReply, TimedReply
from simulator.scenario.reading.check import check
from simulator.scenario.reading.document import Report
from simulator.scenario.reading.load import load_object
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.headers import headers
from simulator.scenario.sections.windows import KEYS, read_window

DELAY_MAX = timedelta(minutes=5)

# What a closed connection has not.
ANSWER = ("status", "body", "headers")


def inboxes(section: Reader) -> Mapping[str, InboxProgram]:
    """The program of each inbox that is named."""
    found: dict[str, InboxProgram] = {}
    for name, entry in section.entries():
        if not INBOX_NAME.fullmatch(name):
            text = f"an inbox's name has 1 to 64 letters, digits, '.', '_' or '-', not {name[:100]!r}"
            entry.problem("bad_inbox_name", text, at_key=True)
        found[name] = _program(entry)
    return MappingProxyType(found)


def build_inbox(data: Mapping[str, object]) -> InboxProgram:
    """The program of one inbox from an object, an empty one for none. Raises `ScenarioError`."""
    if not data:
        return InboxProgram()
    document = load_object(data, "inbox")
    report = Report(document.problems)
    check(document, report, "inbox")
    program = _program(Reader.of(document.root, report))
    report.raise_if_any()
    return program


def _program(item: Reader) -> InboxProgram:
    replies = item if item.is_list else item["replies"]
    return InboxProgram(
        replies=tuple(_reply(one) for one in replies.items()),
        repeat=item["repeat"].boolean(),
        during=tuple(timed for one in item["during"].items() if (timed := _timed(one)) is not None),
    )


def _timed(item: Reader) -> TimedReply | None:
    reply, window = _reply(item), read_window(item)
    if not any(item[key].is_given for key in KEYS):
        item.problem("missing_key", f"a reply by time has one of {', '.join(map(repr, KEYS))}")
    return TimedReply(window, reply) if window is not None else None


def _reply(item: Reader) -> InboxReply:
    status, body = item["status"].integer(200), item["body"].text()
    if status in WITHOUT_BODY and body:
        item["body"].problem("misplaced", f"an answer with status {status} has no body")
    delay = item["delay"].duration()
    if delay > DELAY_MAX:
        item["delay"].problem("out_of_range", f"an inbox waits at most {DELAY_MAX.seconds // 60} minutes")
    disconnect = item["disconnect"].boolean()
    for key in ANSWER:
        if disconnect and item[key].is_given:
            item[key].problem("misplaced", f"a closed connection has no {key!r}; remove one of the two", at_key=True)
    return InboxReply(status, delay, body, headers(item["headers"]), disconnect)
