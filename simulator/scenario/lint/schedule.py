"""Items of the schedule that change nothing: what they set is so from the start, and nothing else changes it.

What a client can change by itself, such as its callback's URL, may be set back, and is not judged.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.rules import RULE_READERS
from simulator.scenario.sections.schedule import added_rules

Values = Mapping[str, Any]

# What an item of each kind is about: the member that names it.
SUBJECTS: Mapping[str, str] = {"settings": "reseller", "network": "product", "api_key": "key"}


def lint_schedule(root: Reader, source: str) -> None:
    """Report the items of `source` that change nothing, and rules that are removed more often than they are there."""
    items = root["schedule"].items()
    for kind, subject in SUBJECTS.items():
        wanted = [item[kind] for item in items if item[kind].is_given and item[kind].is_valid]
        for entry in [item[kind] for item in items if item.is_valid and item[kind].is_given]:
            others = [other for other in wanted if other[subject].text() == entry[subject].text()]
            if entry.position.source == source:
                _lint_values(entry, others, _start(root, kind, entry), subject)
    _lint_removals(root, items, source)


def _lint_values(entry: Reader, others: list[Reader], start: Values, subject: str) -> None:
    """Each value that is the one at the start, and that no other item changes."""
    for key, value in entry.entries():
        if key in (subject, "reseller") or key not in start or value.node is None:
            continue
        is_changed = any(other[key].is_given and other.path != entry.path for other in others)
        if value.node.plain() == start[key] and not is_changed:
            value.problem("no_change", f"{key!r} is so from the start, and nothing changes it", at_key=True)


def _start(root: Reader, kind: str, entry: Reader) -> Values:
    """What the scenario says of the same thing, by the members of the item, with the values when it says nothing."""
    if kind == "network":
        found = root["network"][entry["product"].text()]
        return {} if found.is_list else {"status": found.text("Healthy")}
    resellers = root["resellers"].items()
    reseller = next((one for one in resellers if one["code"].text() == entry["reseller"].text()), None)
    if reseller is None:
        return {}
    if kind == "settings":
        return {"require_api_key_for_topup": False, "ip_allowlist": []} | _plain(reseller["settings"])
    key = next((one for one in reseller["api_keys"].items() if one["key"].text() == entry["key"].text()), None)
    return {"state": "active"} | _plain(key) if key is not None else {}


def _plain(entry: Reader) -> dict[str, Any]:
    return {key: one.node.plain() for key, one in entry.entries() if one.node is not None}


def _lint_removals(root: Reader, items: list[Reader], source: str) -> None:
    """A rule is there as often as it is written: at the start, and whenever the schedule adds it."""
    for item in items:
        removed = item["rule"]["remove"]
        label = removed.text()
        same = [other for other in items if label and other["rule"]["remove"].text() == label]
        if not same or same[-1].path != item.path or removed.position.source != source:
            continue
        times = sum(rule[key].text() == label for rule in _rules(root, items) for key in ("name", "id"))
        if len(same) > max(1, times):  # one without a name and an id is known by its place
            text = f"rule {label!r} is removed {len(same)} times, more often than it is there"
            removed.problem("no_change", text)


def _rules(root: Reader, items: list[Reader]) -> Iterator[Reader]:
    for section in RULE_READERS:
        yield from root[section].items()
    yield from (rule for item in items for _, rule in added_rules(item))
