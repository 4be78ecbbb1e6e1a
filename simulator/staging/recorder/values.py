"""What calls and notifications say, whatever came: another shape is read as absent."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from simulator.domain.model.instants import instant
from simulator.domain.model.money import SERVICE_ZONE
from simulator.staging.importer.answers import as_dict, decoded
from simulator.wire.traffic import Notification

BODY_BYTES_MAX = 16 * 1024 * 1024
DEPTH_MAX = 24  # of what a scenario may hold, with room to spare
TEXT_CHARS_MAX = 300
QUERY_BYTES_MAX = 64 * 1024
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?", re.ASCII)


def json_object(body: bytes) -> dict[str, Any]:
    """The object in a body; an empty one for anything else."""
    if not body or len(body) > BODY_BYTES_MAX:
        return {}
    found = as_dict(decoded(body))
    return {} if _is_deep(found) else found


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [child for one in level for child in _children(one)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    below = value.values() if isinstance(value, dict) else value
    return [child for child in below if isinstance(child, dict | list)]


def query_of(raw: bytes) -> dict[str, str]:
    """The parameters of a query, decoded; of a repeated one the first counts."""
    found: dict[str, str] = {}
    if len(raw) <= QUERY_BYTES_MAX:
        try:
            pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=1000)
        except ValueError:
            return {}
        for name, value in pairs:
            found.setdefault(name, value)
    return found


def told(one: Notification) -> dict[str, Any]:
    """The payment result in a callback, by POST or by GET."""
    if one.method == "GET":
        return json_object(query_of(_query(one.url)).get("message", "").encode("utf-8", "replace"))
    return as_dict(json_object(one.body).get("data"))


def _query(url: str) -> bytes:
    try:
        return urlsplit(url).query.encode("latin-1", "replace")
    except ValueError:
        return b""


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


def seconds(span: timedelta) -> float:
    """A span of time in seconds."""
    return span.total_seconds()


def in_utc(at: datetime) -> datetime:
    """A moment that can be compared with others, whether or not it has a zone."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


PRODUCTS_MAX = 5_000
LENGTH_MAX = 64
LINK = "https://vouchers.example.com/{trxid}/{alnum:12}"


class Receipts:
    """The shapes, of the first success of each product."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, str]] = {}

    def note(self, product: str, data: Mapping[str, Any]) -> None:
        """The result of a payment that succeeded."""
        if product in self._found or len(self._found) >= PRODUCTS_MAX:
            return
        shown = {name: _shape(short(data.get(name))) for name in ("sn", "pin")}
        shown["voucherlink"] = LINK if short(data.get("voucherlink")) else ""
        shown["valid_for"] = "365d" if short(data.get("expiry")) else ""
        self._found[product] = {name: text for name, text in shown.items() if text}

    def of(self, product: str) -> dict[str, str] | None:
        """`fulfilled` of a product; None when no success of it was seen."""
        return self._found.get(product)


def _shape(text: str) -> str:
    """`{digits:12}` for twelve digits."""
    if not 0 < len(text) <= LENGTH_MAX:
        return ""
    return f"{{{'digits' if text.isascii() and text.isdigit() else 'alnum'}:{len(text)}}}"


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
