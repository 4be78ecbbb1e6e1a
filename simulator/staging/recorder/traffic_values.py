"""Calls and notifications, each read once, and the text formats of a recording."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from unicodedata import category

from simulator.staging.bodies import as_dict, callback_message, decoded, parameters
from simulator.wire.traffic import Call, Notification

NOT_ON_A_LINE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""The categories of control characters, surrogates, and ends of lines and paragraphs."""


@dataclass(frozen=True, slots=True)
class DecodedCall:
    """A call: its query parameters, request and answer, and `data` of the answer; missing parts are empty. `at_s` is in
    seconds since the record began; `status` is 0 without an answer."""

    at_s: float
    status: int
    trxid: str
    query: dict[str, str]
    asked: dict[str, Any]
    answer: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """Return the member `data` of the answer."""
        return as_dict(self.answer.get("data"))


def decode_call(call: Call, start: datetime) -> DecodedCall:
    """Read a call."""
    asked, answer = as_dict(decoded(call.body)), as_dict(decoded(call.answer))
    return DecodedCall(
        (call.at - start).total_seconds(), call.status, call.trxid, parameters(call.query), asked, answer
    )


def callback_result(notification: Notification) -> dict[str, Any]:
    """Return the payment result in a callback, by POST or by GET."""
    if notification.method != "GET":
        return as_dict(as_dict(decoded(notification.body)).get("data"))
    return callback_message(notification.url.partition("?")[2].encode("latin-1", "replace"))


def offset_s(later: datetime | None, earlier: datetime | None) -> float | None:
    """Return the seconds between two times; None if either is unknown."""
    return None if later is None or earlier is None else (later - earlier).total_seconds()


Notes = dict[int, list[str]]
"""The comments above the objects of a document, by the `id` of the object."""


def format_duration(seconds: float) -> str:
    """Return a duration as scenarios write it: in hundredths of a second below a minute, else in tenths."""
    shown_s = round(max(0.0, seconds), 2 if seconds < 60 else 1)
    units = ((size, unit) for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")) if shown_s and shown_s % size == 0)
    unit_s, unit = next(units, (1, "s"))
    return f"{shown_s / unit_s:.2f}".rstrip("0").removesuffix(".") + unit


def plain_line(text: str) -> str:
    """Return a text on a single line that a scenario accepts."""
    return "".join(" " if category(character) in NOT_ON_A_LINE else character for character in text)


def template(text: str, facts: Iterable[tuple[str, str]]) -> str:
    """Return a text with placeholders for the facts of its payment, and escaped braces."""
    made = plain_line(text).replace("{", "{{").replace("}", "}}")
    for name, value in facts:
        if len(value) > 2:
            made = made.replace(value, f"{{{name}}}")
    return made


def count_phrase(count: int, noun: str) -> str:
    """Return `1 payment`, `2 payments`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
