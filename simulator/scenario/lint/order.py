"""Rules that an earlier rule hides: it matches everything that they match, and applies always."""

import msgspec

from simulator.scenario.lint.conditions import When, applies_always, hides
from simulator.scenario.reading.document import shown
from simulator.scenario.reading.reader import Reader

# What bounds the cost of a huge file, as patterns take long to compare.
COMPARED_RULES_MAX = 200  # a rule is compared with this many earlier ones
COMPARISONS_MAX = 100_000  # and so many comparisons are made for a scenario


class Placed(msgspec.Struct, frozen=True):
    """A rule and its conditions."""

    item: Reader
    when: When


def lint_order(rules: list[Placed], source: str, comparisons_max: int = COMPARISONS_MAX) -> int:
    """Report the hidden rules of `source`; inherited ones may hide them, and are not reported. Returns how many
    comparisons are left of `comparisons_max`.

    A rule with a name and without conditions is exempt: requests select it by X-Sim-Rule.
    """
    earlier: list[Placed] = []
    left = comparisons_max
    for placed in sorted(rules, key=lambda one: _is_fallback(one.item)):
        item = placed.item
        if not item["when"].is_valid:
            continue  # nothing matches it: another finding
        left -= len(earlier)
        if left < 0:
            return 0
        hiding = next((one for one in earlier if hides(one.when, placed.when)), None)
        if hiding is None:
            if applies_always(item) and len(earlier) < COMPARED_RULES_MAX:
                earlier.append(placed)
        elif item.position.source == source and (_has_conditions(placed.when) or not item["name"].is_given):
            item.problem("unreachable", _text(hiding, placed))
    return left


def _text(hiding: Placed, hidden: Placed) -> str:
    text = f"this rule never applies: {_named(hiding.item, hidden.item)} matches everything that it matches"
    if hides(hidden.when, hiding.when):
        return f"{text}, and nothing else; remove one of them"
    if _is_fallback(hidden.item) and not _is_fallback(hiding.item):
        return f"{text}, and a fallback comes after all other rules"
    return f"{text}; put this one above it"


def _has_conditions(when: When) -> bool:
    return bool(when.conditions or when.branches)


def _is_fallback(item: Reader) -> bool:
    return item["fallback"].boolean()


def _named(hiding: Reader, hidden: Reader) -> str:
    """The rule's name and its line, with the file when that is another one."""
    name = hiding["name"].text() or hiding["id"].text()
    place = hiding.position
    where = f"on line {place.line}" if place.source == hidden.position.source else f"in {place.source}:{place.line}"
    return f"rule {shown(name)} {where}" if name else f"the one {where}"
