"""How rules and their parts are written: durations, templates, names, and the comments that stand above them."""

import re
from collections.abc import Iterable
from typing import Any

SECOND_MS, MINUTE_S, HOUR_S, DAY_S = 1000, 60, 3600, 86_400
FINE_S = 60  # below it times are written to the hundredth of a second
_CONTROL = re.compile(r"[^\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0001fffd]")


class Notes:
    """Comments by the object that they stand above; the object is one that the document has."""

    def __init__(self) -> None:
        self._notes: dict[int, tuple[Any, list[str]]] = {}

    def put(self, one: dict[str, Any], lines: Iterable[str]) -> dict[str, Any]:
        """The object, which has these comments now."""
        self._notes[id(one)] = (one, list(lines))
        return one

    def of(self, one: dict[str, Any]) -> list[str]:
        """Its comments."""
        found = self._notes.get(id(one))
        return found[1] if found is not None else []


def duration(seconds: float) -> str:
    """A duration as scenarios write it: to the hundredth of a second below a minute, else to the tenth."""
    step = 10 if seconds < FINE_S else 100
    ms = max(0, round(seconds * SECOND_MS / step) * step)
    if ms % SECOND_MS:
        return f"{ms}ms"
    whole = ms // SECOND_MS
    for size, unit in ((DAY_S, "d"), (HOUR_S, "h"), (MINUTE_S, "m")):
        if whole and whole % size == 0:
            return f"{whole // size}{unit}"
    return f"{whole}s"


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
