"""Calls and notifications, each read once, and the texts that a recording writes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from simulator.domain.model.instants import instant
from simulator.domain.model.money import SERVICE_ZONE
from simulator.staging.bodies import as_dict, decoded, parameters
from simulator.wire.traffic import Call, Notification

TEXT_CHARS_MAX = 300
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?", re.ASCII)
_CONTROL = re.compile(r"[^\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0001fffd]")


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call: the parameters of its query, what was sent and answered, and `data` of the answer, each empty where there
    is none. `at_s` is in seconds since the record began; `status` is 0 without an answer."""

    at_s: float
    status: int
    trxid: str
    query: dict[str, str]
    asked: dict[str, Any]
    answer: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """The member `data` of the answer."""
        return as_dict(self.answer.get("data"))


def seen_call(call: Call, start: datetime) -> SeenCall:
    """Read a call."""
    asked, answer = as_dict(decoded(call.body)), as_dict(decoded(call.answer))
    return SeenCall((call.at - start).total_seconds(), call.status, call.trxid, parameters(call.query), asked, answer)


def callback_result(one: Notification) -> dict[str, Any]:
    """The payment result in a callback, by POST or by GET."""
    if one.method != "GET":
        return as_dict(as_dict(decoded(one.body)).get("data"))
    try:
        query = urlsplit(one.url).query.encode("latin-1", "replace")
    except ValueError:
        return {}
    return as_dict(decoded(parameters(query).get("message", "").encode("utf-8", "replace")))


def short(value: object) -> str:
    """A text that is worth remembering: one that is longer than `TEXT_CHARS_MAX` is read as absent."""
    return value if isinstance(value, str) and len(value) <= TEXT_CHARS_MAX else ""


def stamp(value: object) -> datetime | None:
    """A time as payments and the history have it, in the service's zone (SPEC 1)."""
    if not isinstance(value, str) or not _STAMP.fullmatch(value):
        return None
    try:
        return instant(value.replace(" ", "T"), SERVICE_ZONE)
    except ValueError:
        return None


def offset_s(later: datetime | None, earlier: datetime | None) -> float | None:
    """The seconds between two times; None where one is not known."""
    return None if later is None or earlier is None else (later - earlier).total_seconds()


class Notes:
    """Comments by the object that they stand above; the object is one that the document has."""

    def __init__(self) -> None:
        self._notes: dict[int, tuple[Any, list[str]]] = {}

    def put(self, one: dict[str, Any], lines: Iterable[str]) -> dict[str, Any]:
        """Add comments to an object, and return it."""
        self._notes[id(one)] = (one, list(lines))
        return one

    def of(self, one: dict[str, Any]) -> list[str]:
        """Its comments."""
        found = self._notes.get(id(one))
        return found[1] if found is not None else []


def duration(seconds: float) -> str:
    """A duration as scenarios write it: to the hundredth of a second below a minute, else to the tenth."""
    step = 10 if seconds < 60 else 100
    ms = max(0, round(seconds * 1000 / step) * step)
    if ms % 1000:
        return f"{ms}ms"
    whole = ms // 1000
    unit_s, unit = next(
        (size, unit) for size, unit in ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s")) if whole % size == 0
    )
    return f"{whole // unit_s}{unit}" if whole else "0s"


def plain_line(text: str) -> str:
    """A text on one line that a scenario takes."""
    return _CONTROL.sub(" ", text)


def template(text: str, facts: Iterable[tuple[str, str]]) -> str:
    """A text whose parts that are facts of its payment are placeholders, and whose braces are literal."""
    made = plain_line(text).replace("{", "{{").replace("}", "}}")
    for name, value in facts:
        if len(value) > 2:
            made = made.replace(value, f"{{{name}}}")
    return made


def counted(count: int, noun: str) -> str:
    """`1 payment`, `2 payments`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
