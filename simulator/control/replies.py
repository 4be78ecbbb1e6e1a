"""The programs of inboxes: read from a request as a scenario writes them, and shown as far as they are left."""

import re
from datetime import time
from typing import Any, Final

from simulator.control.http import InvalidInput
from simulator.domain.model.inboxes import InboxProgram, InboxReply
from simulator.domain.model.windows import Window
from simulator.runtime.inbox_messages import Inbox
from simulator.scenario.reading.document import ScenarioError
from simulator.scenario.sections.inboxes import build_inbox
from simulator.scenario.sections.windows import DAYS
from simulator.shortened import shortened

LISTS: Final = ("replies", "during")
SHOWN_MAX: Final = 20  # replies of each list, and headers of each reply
TEXT_CHARS_MAX: Final = 200
_INDEX: Final = re.compile(r"\[([0-9]+)\]")


def document_of(wanted: dict[str, Any]) -> dict[str, Any]:
    """What a request's body asks for, as a scenario writes it; its delays may be seconds. Empty for nothing."""
    document: dict[str, Any] = {key: value for key, value in wanted.items() if value != []}
    for key in LISTS:
        if key in document:
            document[key] = [_with_duration(one) for one in document[key]]
    return document


def program_of(document: dict[str, Any]) -> InboxProgram:
    """The program of a document. Raises `InvalidInput`."""
    try:
        return build_inbox(document)
    except ScenarioError as error:
        first = error.problems[0]
        raise InvalidInput(first.message, _INDEX.sub(r".\1", first.path)) from None


def _with_duration(one: dict[str, Any]) -> dict[str, Any]:
    delay = one.get("delay", "")
    return one if isinstance(delay, str) else one | {"delay": f"{round(delay * 1000)}ms"}


def left(inbox: Inbox) -> dict[str, Any]:
    """What is left of an inbox's program, the next reply first: the last one repeats, or with `repeat` all of them.
    Long lists and texts are shown in part; `count` has all replies that are left."""
    program, used = inbox.program, inbox.replied
    replies = program.replies
    if program.repeat and replies:
        at = used % len(replies)
        replies = replies[at:] + replies[:at]
    elif replies:
        replies = replies[min(used, len(replies) - 1) :]
    return {
        "replies": [_reply(one) for one in replies[:SHOWN_MAX]],
        "count": len(replies),
        "repeat": program.repeat,
        "during": [_window(one.window) | _reply(one.reply) for one in program.during[:SHOWN_MAX]],
    }


def _reply(one: InboxReply) -> dict[str, Any]:
    headers = one.headers[:SHOWN_MAX]
    return {
        "status": 0 if one.disconnect else one.status,
        "delay": one.delay.total_seconds(),
        "body": shortened(one.body, TEXT_CHARS_MAX),
        "headers": {name: shortened(value, TEXT_CHARS_MAX) for name, value in headers},
        "disconnect": one.disconnect,
    }


def _window(window: Window) -> dict[str, Any]:
    """The parts that a window has: time of day in the service's zone, days, seconds since the sandbox started."""
    shown: dict[str, Any] = {}
    if (day := window.time_of_day) is not None:
        shown["time"] = {"from": _clock(day.begins), "to": _clock(day.ends)}
    if window.weekdays is not None:
        shown["weekday"] = [DAYS[day] for day in sorted(window.weekdays)]
    spans = {"since": window.since, "until": window.until}
    return shown | {name: span.total_seconds() for name, span in spans.items() if span is not None}


def _clock(at: time | None) -> str:
    return f"{at or time(0):%H:%M:%S}"
