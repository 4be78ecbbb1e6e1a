"""Outcomes of rules that have no effect: timelines that no rule names, entries of `one_of` that repeat another, and
distortions of callbacks that are never sent."""

from collections.abc import Iterator

from simulator.domain.model.transactions import PaymentThen
from simulator.scenario.lint.effects import lint_callbacks, lint_steps
from simulator.scenario.reading.document import shown
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.payments import NOT_TOLD, TOLD, distorted, payment_then, payment_thens, told
from simulator.scenario.sections.schedule import added_rules
from simulator.scenario.sections.timeline import Timelines
from simulator.scenario.sections.variants import branches


def lint_timelines(root: Reader, source: str) -> None:
    """Timelines of `source` that nothing names, and their steps. A file of timelines without payments of its own is one
    for others to extend."""
    named = {then.text() for then in _thens(root)}
    is_base = not any(then.position.source == source for then in _thens(root))
    for name, entry in root["timelines"].entries():
        if entry.key_position.source != source:
            continue
        lint_steps(entry)
        if name not in named and not is_base:
            text = f"no rule uses the timeline {shown(name)}; write 'then: {name}' in a rule of payments"
            entry.problem("unused_timeline", text, at_key=True)


def _thens(root: Reader) -> Iterator[Reader]:
    """Every place of a timeline, in rules, also those that the schedule adds, and in magic accounts."""
    outcomes = [item["payments"] for _, item in root["magic"]["outcomes"].entries()]
    added = [rule for item in root["schedule"].items() for section, rule in added_rules(item) if section == "payments"]
    for item in (*root["payments"].items(), *added, *outcomes):
        for branch in branches(item["then"]):
            yield branch.then
    yield root["magic"]["then"]


def lint_payment(item: Reader, timelines: Timelines | None, usual: Reader | None = None) -> None:
    """The timelines and callbacks of a payment rule; `usual` is the timeline of one without its own. Without
    `timelines`, when the scenario has errors, what the callbacks meet is not looked at."""
    for branch in branches(item["then"]):
        lint_steps(branch.then)
        lint_callbacks(branch.callbacks or item["callbacks"])
    if timelines is None:
        return
    absent = payment_then(usual, timelines) if usual is not None else NOT_TOLD
    thens = payment_thens(item["then"], item["callbacks"], timelines, absent)
    for callbacks, met in distorted(item["then"], item["callbacks"], thens):
        _lint_met(callbacks, met)


def _lint_met(callbacks: Reader, thens: list[PaymentThen]) -> None:
    """Callbacks that no outcome causes, and an entry for all others when there are no others."""
    causes = told(thens)
    if not causes:
        why = "no step after the first" if thens else "every entry of 'one_of' has its own"
        callbacks.problem("unreachable", f"these callbacks are never sent: {why}", at_key=True)
        return
    entries = callbacks.items()
    named = {TOLD.get(entry["status"].text()) for entry in entries}
    if entries and not entries[-1]["status"].is_given and causes <= named:
        entries[-1].problem(
            "unreachable", "there are no other callbacks: each status of the timeline has an entry above"
        )


def lint_variants(then: Reader) -> None:
    """Entries of a `one_of` that are the same."""
    seen: dict[str, Reader] = {}
    for branch in branches(then):
        if branch.entry is None or branch.entry.node is None:
            continue
        does = {key: value for key, value in branch.entry.node.plain().items() if key != "weight"}
        first = seen.setdefault(repr(does), branch.entry)
        if first is not branch.entry:
            text = f"this does the same as the entry on line {first.position.line}; keep one and add the weights"
            branch.entry.problem("duplicate", text)
