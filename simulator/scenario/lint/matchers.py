"""Lint of conditions that no value meets, and of conditions that are probably mistakes."""

import re

from simulator.scenario.lint.conditions import SPANS, Condition, When
from simulator.scenario.lint.values import STAR, excludes, is_empty
from simulator.scenario.reading.document import shown
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.matchers import number

# Conditions whose values hardly ever contain a star. An intended star goes into `in`.
WITHOUT_STAR = ("account", "refid", "trxid", "extras", "headers", "query")
MEDIA_RANGE = "/*"  # for a header that names the header


def lint_matchers(when: When) -> None:
    """Report ranges and combinations that no value meets, and stars that are taken literally."""
    _lint_conditions(when.conditions, ())
    for branch in when.branches:
        _lint_conditions(branch.own, when.conditions)
        if not branch.own:
            branch.at.problem("misplaced", "this item holds always, so that 'any' has no effect; remove one of them")


def _lint_conditions(conditions: tuple[Condition, ...], beside: tuple[Condition, ...]) -> None:
    """Lint the conditions of a rule, or of an item of its `any` together with those `beside` it."""
    _lint_spans(conditions, beside)
    for condition in conditions:
        if condition.key[0] == "time" and not condition.admits.parts[0][1].spans():
            condition.at.problem("impossible", "nothing matches: it ends when it begins; a whole day needs no 'time'")
        elif not _lint_range(condition.at) and is_empty(condition.admits):
            condition.at.problem("impossible", "nothing matches: no value passes all parts of this condition")
        elif any(one.key == condition.key and excludes(one.admits, condition.admits) for one in beside):
            text = f"nothing matches: the {shown(condition.key[0])} beside 'any' excludes this one"
            condition.at.problem("impossible", text)
        if condition.key[0] in WITHOUT_STAR:
            _lint_stars(condition)


def _lint_spans(conditions: tuple[Condition, ...], beside: tuple[Condition, ...]) -> None:
    """Report a `since` at or after `until`."""
    spans = {one.key[0]: one.at for one in (*beside, *conditions) if one.key[0] in SPANS}
    own = [one for one in conditions if one.key[0] in SPANS]
    for one in own:
        if one.key[0] == "until" and not one.at.duration():
            one.at.problem("impossible", "nothing matches: until is the start itself")
            return
    if own and len(spans) == len(SPANS) and spans["since"].duration() >= spans["until"].duration():
        last = spans["until"] if not beside else own[-1].at
        last.problem("out_of_range", "until is not after since; nothing can match")


def _lint_range(entry: Reader) -> bool:
    """Report a `min` above `max`, and return whether it is."""
    low, high = entry["min"], entry["max"]
    least = number(low.node.value) if low.node is not None else None
    most = number(high.node.value) if high.node is not None else None
    if least is None or most is None or least <= most:
        return False
    high.problem("out_of_range", f"max is below min, {least}; nothing can match")
    return True


def _lint_stars(condition: Condition) -> None:
    entry = condition.at
    for value in [] if entry.is_mapping else entry.items() or [entry]:
        if STAR in value.text() and not (condition.key[0] == "headers" and MEDIA_RANGE in value.text()):
            text = f"{shown(value.text())} is taken literally, star included; write {_meant(value.text())}"
            value.problem("literal_star", text)


def _meant(text: str) -> str:
    """Return the condition that a text with stars probably means."""
    head, *middle, tail = text.split(STAR)
    if any(middle) or (head and tail):
        return '{ pattern: "^' + ".*".join(map(re.escape, (head, *middle, tail))).replace("\\", "\\\\") + '$" }'
    if not head and not tail:
        return "no condition for any value"
    return f'{{ prefix: "{head}" }}' if head else f'{{ suffix: "{tail}" }}'
