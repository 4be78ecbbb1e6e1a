"""Replies of inboxes that nobody gets: those of an inbox that nobody sends to, and those by time that never act."""

from collections.abc import Iterator

from simulator.domain.model.inboxes import INBOX_SCHEME
from simulator.scenario.lint.conditions import When, hides, window_of
from simulator.scenario.lint.matchers import lint_matchers
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Node, shown
from simulator.scenario.reading.reader import Reader


def lint_inboxes(root: Reader, source: str) -> None:
    """Inboxes of `source` that no URL of the scenario names, and parts of their programs without effect."""
    assert root.node is not None, "a document has a root"
    named = {text.removeprefix(INBOX_SCHEME) for text in _texts(root.node) if text.startswith(INBOX_SCHEME)}
    for name, entry in root["inboxes"].entries():
        if entry.key_position.source != source:
            continue
        if name not in named:
            hint = suggestion(name, named) or f"; send something to inbox:{name}, by a callback's or a webhook's url"
            entry.problem("unused_inbox", f"nobody sends to the inbox {shown(name)}{hint}", at_key=True)
        if entry["repeat"].boolean() and len(entry["replies"].items()) < 2:
            text = "'repeat' has no effect: there are no two replies to take turns"
            entry["repeat"].problem("misplaced", text, at_key=True)
        _lint_during(entry["during"])


def _lint_during(during: Reader) -> None:
    """Windows in which there is no time, and those that an earlier one hides."""
    earlier: list[tuple[When, int]] = []
    for place, item in enumerate(during.items(), 1):
        window = window_of(item)
        if window is None:
            continue
        lint_matchers(window)
        hiding = next((above for one, above in earlier if hides(one, window)), None)
        if hiding is not None:
            item.problem("unreachable", f"this reply never comes: the window of entry {hiding} lasts all its time")
        elif item.is_valid:
            earlier.append((window, place))


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node.value, dict | list):
        for below in node.value.values() if isinstance(node.value, dict) else node.value:
            yield from _texts(below)
    elif isinstance(node.value, str):
        yield node.value
