"""Which rule hides which: whether one takes all that another would match. Where that cannot be told, it does not."""

from collections.abc import Mapping
from typing import Any

from simulator.scenario.matchers import COUNTS
from simulator.scenario.reader import Reader
from simulator.scenario.values import ONE, text_of

GROUPS = ("extras", "headers")


def conditions(item: Reader) -> Mapping[str, Any] | None:
    """What a rule's `when` asks of a request, counts left out; None when something in the rule is wrong."""
    if not item.is_sound:
        return None
    when = item["when"]
    plain: Mapping[str, Any] = when.node.plain() if when.node is not None and when.is_mapping else {}
    return {key: value for key, value in plain.items() if key not in COUNTS}


def count(item: Reader, key: str) -> Reader:
    """`nth`, `every`, `times` or `chance`, which stands beside `when` or in it."""
    return item[key] if item[key].is_given else item["when"][key]


def takes_all(item: Reader) -> bool:
    """True when a rule acts whenever it matches."""
    if count(item, "nth").is_given or count(item, "times").is_given:
        return False
    return count(item, "every").integer(1) == 1 and count(item, "chance").amount(ONE) == ONE


def covers(wider: Mapping[str, Any], when: Mapping[str, Any]) -> bool:
    """True when all that `when` lets pass would pass `wider`, too."""
    return all(key in when and _covers(key, matcher, when[key]) for key, matcher in wider.items())


def _covers(key: str, wider: Any, matcher: Any) -> bool:
    if key in GROUPS:
        return covers(wider, matcher)
    if wider == matcher:
        return True
    allowed, asked = _values(wider), _values(matcher)
    return allowed is not None and asked is not None and asked <= allowed


def _values(matcher: Any) -> frozenset[str] | None:
    """The values that a matcher lists; None when it tests in another way."""
    if isinstance(matcher, dict):
        return _values(matcher["in"]) if set(matcher) == {"in"} else None
    listed = matcher if isinstance(matcher, list) else [matcher]
    return frozenset(text_of(value) for value in listed)
