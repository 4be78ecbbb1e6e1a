"""Reader of typed values from nodes: amounts, days, spans of time. Problems are collected and reported together."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Collection, Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from reseller_sim.formats import duration
from simulator.domain.model.inbox_programs import INBOX_SCHEME
from simulator.domain.model.instants import iso_day
from simulator.domain.model.money import DIGITS_AFTER_MAX, DIGITS_BEFORE_MAX, is_bounded
from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import Node, Path, Position, ProblemReport, shown_at
from simulator.scenario.reading.schema_check import check
from simulator.scenario.reading.yaml_parser import load_object

ONE = Decimal(1)
LISTED_MAX = 20  # known names in a message
_AMOUNT = re.compile(rf"-?[0-9]{{1,{DIGITS_BEFORE_MAX}}}(\.[0-9]{{1,{DIGITS_AFTER_MAX}}})?", re.ASCII)


def amount(value: object) -> Decimal:
    """Parse a number, or text in plain decimal notation."""
    if isinstance(value, str) and _AMOUNT.fullmatch(value):
        return Decimal(value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
        if is_bounded(number):
            return number
        raise ValueError(f"has more than {DIGITS_BEFORE_MAX} digits before the point or {DIGITS_AFTER_MAX} after it")
    raise ValueError('must be an amount such as 10 or "10.50"')


def day(value: str | int) -> date:
    """Parse `2027-12-31`, or `20271231` as the service writes it."""
    try:
        return iso_day(str(value))
    except ValueError:
        raise ValueError("must be a day such as 2027-12-31") from None


def secret_bytes(text: str) -> bytes:
    """Decode a Base64 secret."""
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise ValueError("must be Base64 such as c2VjcmV0LWZvci10ZXN0cw==") from None


def target(text: str) -> str:
    """Check a callback target: an http(s) URL with a host, or `inbox:NAME`."""
    if text.startswith(INBOX_SCHEME):
        return text
    try:
        parts = urlsplit(text)
        is_fine = bool(parts.hostname) and parts.username is None and parts.port != 0 and "\\" not in text
    except ValueError:
        is_fine = False
    if not is_fine:
        raise ValueError("must be an http or https URL with a host and without a user name, or inbox:NAME")
    return text


def text_of(value: object) -> str:
    """Return a plain value as text: as written, `true`, `false`; empty for null."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return "" if value is None else str(value)


T = TypeVar("T")


class ValueReader(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A value of a scenario; `node` is None when it is absent. `key_position` is the position of its key."""

    node: Node | None
    path: Path
    report: ProblemReport
    position: Position
    key_position: Position

    @classmethod
    def of(cls, root: Node, report: ProblemReport, path: Path = ()) -> "ValueReader":
        """Return a reader for a whole document."""
        return cls(root, path, report, root.position, root.position)

    def __getitem__(self, key: str) -> "ValueReader":
        """Return the member `key` of a mapping."""
        within, path, position = self.node, (*self.path, key), self.position
        if within is None or not isinstance(within.value, dict) or (node := within.value.get(key)) is None:
            return ValueReader(None, path, self.report, position, position)
        return ValueReader(node, path, self.report, node.position, within.keys.get(key, position))

    def has(self, key: str) -> bool:
        """Return `self[key].is_given` of a mapping without creating a reader."""
        return self.node is not None and isinstance(self.node.value, dict) and key in self.node.value

    @property
    def is_given(self) -> bool:
        """Return True if the value is present, null included."""
        return self.node is not None

    @property
    def is_null(self) -> bool:
        """True for null."""
        return self.node is not None and self.node.value is None

    @property
    def is_mapping(self) -> bool:
        """True for an object."""
        return self.node is not None and isinstance(self.node.value, dict)

    @property
    def is_list(self) -> bool:
        """True for a list."""
        return self.node is not None and isinstance(self.node.value, list)

    @property
    def plain(self) -> Any:
        """Return the value without positions; None when absent."""
        return self.node.plain() if self.node is not None else None

    @property
    def is_valid(self) -> bool:
        """Return True if no problem was reported at or below this value."""
        return not self.report.has_below(self.path)

    def built_once(self, build: Callable[["ValueReader"], T]) -> T:
        """Return the result of `build`, always the same function, for this value. The node caches it, so scenarios that
        inherit the value share it. Values with problems are not cached, so that each reader reports the problems."""
        if self.node is None:
            return build(self)
        if self.node.built is None:
            built = build(self)
            if not self.is_valid:
                return built
            self.node.built = built
        kept: T = self.node.built
        return kept

    def items(self) -> "list[ValueReader]":
        found = self.node.value if self.node is not None else None
        if not isinstance(found, list):
            return []
        return [
            ValueReader(node, (*self.path, at), self.report, node.position, node.position)
            for at, node in enumerate(found)
        ]

    def entries(self) -> "Iterator[tuple[str, ValueReader]]":
        """Yield keys and values of a mapping."""
        if self.node is not None and isinstance(self.node.value, dict):
            for key in self.node.value:
                yield key, self[key]

    def problem(self, code: str, message: str, *, at_key: bool = False) -> None:
        """Report this value, or its key."""
        self.report.add(self.key_position if at_key else self.position, self.path, code, message)

    def misplaced(self, why: str, *keys: str) -> None:
        """Report each of these members that is given, at its key; `why` may show the key as `{!r}`."""
        for key in filter(self.has, keys):
            self[key].problem("misplaced", why.format(key), at_key=True)

    def refuse_unknown(
        self, what: str, known: Collection[str], where: str = "in this scenario", *, at_key: bool = False
    ) -> None:
        """Report a text, or a key, that is not the name of a `known` one of its kind, with the most similar name or
        with all names if they are few."""
        name = str(self.path[-1]) if at_key else self.text()
        if name in known or not (name or at_key) or self.report.is_full:  # fuzzy matching is expensive
            return
        listed = f"; it has {', '.join(sorted(known))}" if 0 < len(known) <= LISTED_MAX else ""
        hint = suggestion(name, known) or listed
        self.problem(f"unknown_{what}", f"there is no {what} {name!r} {where}{hint}", at_key=at_key)

    def text(self, default: str = "") -> str:
        """Return the text, or a number as written."""
        value = self.node.value if self.node is not None else None
        if isinstance(value, str):
            return value
        return text_of(value) if isinstance(value, int | Decimal) else default

    def boolean(self, default: bool = False) -> bool:
        """Return true or false."""
        value = self.node.value if self.node is not None else None
        return value if isinstance(value, bool) else default

    def integer(self, default: int) -> int:
        """Return a whole number."""
        found = self.optional_integer()
        return default if found is None else found

    def optional_integer(self) -> int | None:
        """Return a whole number, or None when absent."""
        value = self.node.value if self.node is not None else None
        if isinstance(value, Decimal) and value == value.to_integral_value():
            value = int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def amount(self, default: Decimal = Decimal(0)) -> Decimal:
        """Return a decimal number."""
        found = self.optional_amount()
        return default if found is None else found

    def optional_amount(self) -> Decimal | None:
        """Return a decimal number, or None when absent."""
        value = self.node.value if self.node is not None else None
        if value is None or isinstance(value, dict | list | bool):
            return None
        return self._read(amount, value, "bad_amount")

    def duration(self, default: timedelta = timedelta(0)) -> timedelta:
        """Return a span of time."""
        found = self.optional_duration()
        return default if found is None else found

    def optional_duration(self) -> timedelta | None:
        """Return a span of time, or None when absent."""
        value = self.node.value if self.node is not None else None
        return self._read(duration, value, "bad_duration") if isinstance(value, str) else None

    def parsed(self, read: Callable[[str], T], code: str) -> T | None:
        """Return text parsed by `read`, whose `ValueError` is reported with `code`. None when absent, and for a value
        with a problem, such as a text that is longer than the schema allows."""
        value = self.node.value if self.node is not None else None
        if value is None or isinstance(value, dict | list | bool) or not self.is_valid:
            return None
        return self._read(read, self.text(), code)

    def _read(self, read: Callable[..., T], value: object, code: str) -> T | None:
        try:
            return read(value)
        except ValueError as error:
            self.problem(code, f"{shown_at(self.path, value)} {error}")
            return None


def refuse_repeats(readers: list[ValueReader], what: str) -> None:
    """Report each value that repeats an earlier value."""
    seen: dict[str, ValueReader] = {}
    for reader in readers:
        text = reader.text()
        if text and text in seen:
            first = seen[text].position
            place = f", {first.seen_from(reader.position.source)}" if first.line else ""
            reader.problem("duplicate", f"{what} {text!r} exists already{place}")
        seen.setdefault(text, reader)


def read_object(data: object, source: str, definition: str, read: Callable[[ValueReader], T]) -> T:
    """Return what `read` makes of an object, which a definition of the schema describes. Raises `ScenarioError`."""
    document = load_object(data, source)
    report = ProblemReport(document.problems)
    check(document, report, definition)
    result = read(ValueReader.of(document.root, report))
    report.raise_if_any()
    return result
