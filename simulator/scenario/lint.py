"""Lint findings of `check`: rules that can never apply, steps that never happen, secrets that are too short.

Such a scenario still loads, but does not do what its author intended.
"""

from collections.abc import Mapping
from typing import Any

from simulator.domain.model.transactions import Status
from simulator.scenario import shadowing
from simulator.scenario.build import DEFINITIONS
from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Document, Report
from simulator.scenario.reading.reader import Reader
from simulator.scenario.reading.values import secret_bytes
from simulator.scenario.sections.matchers import BODY_FACTS, number
from simulator.wire.payments import STATUS_NAMES

SECRET_BYTES_MIN = 16
COMPARED_RULES_MAX = 200  # a rule is compared with this many earlier ones, which bounds the cost of a huge file
FINAL = (STATUS_NAMES[Status.SUCCESSFUL], STATUS_NAMES[Status.FAILED])


def lint(document: Document, report: Report) -> None:
    """Report ineffective parts. Skips values with earlier problems, and what the file only inherits."""
    root = Reader.of(document.root, report)
    for section in DEFINITIONS:
        items = root[section].items()
        own = [item for item in items if item.position.source == document.source]
        for item in own:
            _lint_counts(item)
            _lint_ranges(item["when"])
            if section == "payments":
                _lint_steps(item["then"])
            if section == "faults":
                _lint_path(item["when"]["path"])
        for batch in _batches(section, items):
            _lint_order([item for item in batch if item.position.source == document.source])
    for item in root["resellers"].items():
        for key in item["api_keys"].items():
            _lint_secret(key["secret"])


def _batches(section: str, items: list[Reader]) -> tuple[list[Reader], list[Reader]]:
    """The rules of a section in evaluation order; rules of the two halves do not hide each other.

    Rules come before fallbacks, which magic accounts may never reach; faults that need the body come later.
    """
    if section == "faults":
        late = [item for item in items if any(key in BODY_FACTS for key, _ in item["when"].entries())]
        return [item for item in items if item not in late], late
    later = [item for item in items if item["fallback"].boolean()]
    return [item for item in items if item not in later] + later, []


def _lint_order(items: list[Reader]) -> None:
    """Report rules that never apply, because an earlier rule covers everything that they match.

    One with a name and an empty `when` is exempt: requests select it by X-Sim-Rule.
    """
    earlier: list[tuple[Mapping[str, Any], int]] = []
    for item in items:
        when = shadowing.conditions(item)
        if when is None:
            continue
        hidden_by = next((line for wider, line in earlier if shadowing.covers(wider, when)), None)
        if hidden_by is None:
            if shadowing.applies_always(item) and len(earlier) < COMPARED_RULES_MAX:
                earlier.append((when, item.position.line))
        elif when or not item["name"].is_given:
            text = f"this rule never applies: the one on line {hidden_by} matches everything that it matches"
            item.problem("unreachable", f"{text}; put this one above it")


def _lint_counts(item: Reader) -> None:
    nth, every, times = (shadowing.count(item, key) for key in ("nth", "every", "times"))
    value = nth.optional_integer()
    if value is None:
        return
    divisor, most = every.integer(1), times.optional_integer()
    if divisor and value % divisor:
        nth.problem("unreachable", f"this rule never acts: match {value} is not one of every {divisor}")
    elif most is not None and value > most:
        nth.problem("out_of_range", f"nth {value} is beyond times {most}; nth acts once, so leave 'times' out")


def _lint_ranges(when: Reader) -> None:
    """`min` above `max` matches nothing."""
    for key, entry in when.entries():
        for member in [below for _, below in entry.entries()] if key in ("extras", "headers") else [entry]:
            low, high = member["min"], member["max"]
            least = number(low.node.value) if low.node is not None else None
            most = number(high.node.value) if high.node is not None else None
            if least is not None and most is not None and least > most:
                high.problem("out_of_range", f"max is below min, {least}; nothing can match")


def _lint_steps(then: Reader) -> None:
    """After an immediate final status, no re-query step can happen."""
    items = then.items()
    ends_at_once = [item for item in items[1:] if item["after"].text() and not item["after"].duration()]
    if not any(item["status"].text() in FINAL for item in ends_at_once):
        return
    for item in items[1:]:
        if item["requery"].is_given:
            item["requery"].problem("unreachable", "this step never comes: a final status comes at once, before it")


def _lint_path(path: Reader) -> None:
    """A literal path that the service does not have."""
    from simulator.contract.openapi import OPENAPI, load  # imported lazily: only the lint reads the contract

    known = list(load(OPENAPI)["paths"])
    for value in path.items() or [path]:
        text = value.text()
        if text and "*" not in text and not any(_fits(text, template) for template in known):
            value.problem("unknown_path", f"the service has no path {text!r}{suggestion(text, known)}")


def _fits(path: str, template: str) -> bool:
    parts, wanted = path.split("/"), template.split("/")
    return len(parts) == len(wanted) and all(
        part == one or one.startswith("{") for part, one in zip(parts, wanted, strict=True)
    )


def _lint_secret(secret: Reader) -> None:
    try:
        found = secret_bytes(secret.text())
    except ValueError:
        return
    if secret.text() and len(found) < SECRET_BYTES_MIN:
        text = f"a secret of {len(found)} bytes is too short; the service's have 32, use {SECRET_BYTES_MIN} at least"
        secret.problem("short_secret", text)
