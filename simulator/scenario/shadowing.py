"""Which rule hides which: whether one covers everything that another matches. If undecidable, it does not."""

from collections.abc import Mapping
from typing import Any

from simulator.scenario.reading.reader import Reader
from simulator.scenario.reading.values import ONE, text_of
from simulator.scenario.sections.matchers import COUNTS

GROUPS = ("extras", "headers")


def conditions(item: Reader) -> Mapping[str, Any] | None:
    """The conditions of a rule's `when`, without counts; None when the rule has a problem."""
    if not item.is_valid:
        return None
    when = item["when"]
    plain: Mapping[str, Any] = when.node.plain() if when.node is not None and when.is_mapping else {}
    return {key: value for key, value in plain.items() if key not in COUNTS}


def count(item: Reader, key: str) -> Reader:
    """`nth`, `every`, `times` or `chance`, which may be beside `when` or in it."""
    return item[key] if item[key].is_given else item["when"][key]


def applies_always(item: Reader) -> bool:
    """True when a rule applies whenever it matches."""
    if count(item, "nth").is_given or count(item, "times").is_given:
        return False
    return count(item, "every").integer(1) == 1 and count(item, "chance").amount(ONE) == ONE


def covers(wider: Mapping[str, Any], when: Mapping[str, Any]) -> bool:
    """True when everything that matches `when` also matches `wider`."""
    return all(key in when and _covers(key, matcher, when[key]) for key, matcher in wider.items())


def _covers(key: str, wider: Any, matcher: Any) -> bool:
    if key in GROUPS:
        return covers(wider, matcher)
    if wider == matcher:
        return True
    allowed, asked = _values(wider), _values(matcher)
    return allowed is not None and asked is not None and asked <= allowed


def _values(matcher: Any) -> frozenset[str] | None:
    """The values listed in a matcher; None for other tests."""
    if isinstance(matcher, dict):
        return _values(matcher["in"]) if set(matcher) == {"in"} else None
    listed = matcher if isinstance(matcher, list) else [matcher]
    return frozenset(text_of(value) for value in listed)
