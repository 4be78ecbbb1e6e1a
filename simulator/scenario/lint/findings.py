"""Lint findings of `check`: unreachable rules, parts without effect, secrets that are too short.

Such a scenario loads, but does not do what its author intended. Values with earlier problems are skipped, and so are
inherited parts.
"""

from collections.abc import Mapping
from datetime import timedelta

from simulator.domain.model.scenario import Scenario
from simulator.scenario.build import DEFINITIONS
from simulator.scenario.lint.conditions import (
    COMPARISONS_MAX,
    Placed,
    When,
    conditions_of,
    lint_order,
    when_of,
)
from simulator.scenario.lint.effects import (
    lint_counts,
    lint_damage,
    lint_inboxes,
    lint_payment,
    lint_timelines,
    lint_variants,
)
from simulator.scenario.lint.matchers import lint_matchers
from simulator.scenario.lint.products import lint_products, lint_sold
from simulator.scenario.lint.requests import lint_request
from simulator.scenario.lint.start import lint_adjustments, lint_network, lint_schedule, lint_secrets, lint_targets
from simulator.scenario.lint.waits import lint_fault_waits, lint_waits
from simulator.scenario.reading.document import Document, Problem, Report
from simulator.scenario.reading.load import load_object
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.outcomes import Timelines
from simulator.scenario.sections.schedule import added_rules
from simulator.scenario.sections.variants import branches


def lint(document: Document, report: Report, scenario: Scenario | None) -> None:
    """Report ineffective parts. Without `scenario`, which is None when it has errors, the catalog is not consulted."""
    root = Reader.of(document.root, report)
    timelines = None if scenario is None else scenario.timelines
    comparisons = COMPARISONS_MAX
    for section in DEFINITIONS:
        items = root[section].items()
        rules = [Placed(item, when) for item in items if (when := when_of(item, section)) is not None]
        for item in items:
            if item.position.source == document.source:
                _lint_then(section, item, timelines)
        for rule in rules:
            if rule.item.position.source == document.source:
                _lint_when(section, rule.item, rule.when, scenario)
        comparisons = lint_order(rules, document.source, comparisons)
    _lint_added(root["schedule"], document.source, scenario)
    _lint_magic(root["magic"], document.source, timelines)
    lint_timelines(root, document.source)
    lint_inboxes(root, document.source)
    lint_schedule(root, document.source)
    _lint_expected(root["expect"], document.source, scenario)
    lint_secrets(root)
    lint_adjustments(root, document.source)
    lint_network(root, document.source)
    lint_targets(root, document.source)
    lint_waits(root, document.source, scenario)


NEVER_MATCHES = frozenset({"unknown_method", "unknown_path", "impossible", "out_of_range"})
"""Codes of findings about a `when` that no request meets."""


def rule_findings(
    section: str, data: Mapping[str, object], *, is_manual: bool, timeout: timedelta | None
) -> list[Problem]:
    """Return the findings about a valid rule that is added to a running sandbox. `is_manual` is true for a manual
    clock."""
    report = Report()
    item = Reader.of(load_object(data, "rule").root, report)
    if (when := when_of(item, section)) is not None:
        _lint_when(section, item, when, None)
    _lint_then(section, item, None)
    if is_manual and section == "faults":
        lint_fault_waits(item, timeout)
    return report.problems()


def _lint_added(schedule: Reader, source: str, scenario: Scenario | None) -> None:
    """Lint the rules that the schedule of the file adds. They precede all others, so no other rule hides them."""
    timelines = None if scenario is None else scenario.timelines
    for item in schedule.items():
        for section, rule in added_rules(item) if item.position.source == source else ():
            _lint_then(section, rule, timelines)
            if (when := when_of(rule, section)) is not None:
                _lint_when(section, rule, when, scenario)


def _lint_expected(expect: Reader, source: str, scenario: Scenario | None) -> None:
    """Lint the expected payments. Impossible values of other expectations are errors, found without the catalog."""
    for item in expect.items() if scenario is not None else ():
        if item.position.source == source and item["payments"].is_mapping and item["payments"].is_valid:
            assert scenario is not None, "asked above"
            lint_sold(item["payments"], conditions_of(item["payments"]), scenario)


def _lint_then(section: str, item: Reader, timelines: Timelines | None) -> None:
    lint_counts(item)
    _lint_outcome(section, item, timelines)


def _lint_outcome(section: str, item: Reader, timelines: Timelines | None, usual: Reader | None = None) -> None:
    lint_variants(item["then"])
    if section == "payments":
        lint_payment(item, timelines, usual)
    if section == "faults":
        for branch in branches(item["then"]):
            lint_damage(branch.then)


def _lint_when(section: str, item: Reader, when: When, scenario: Scenario | None) -> None:
    lint_matchers(when)
    if section == "faults":
        lint_request(item, when)
    elif scenario is not None:
        lint_products(section, item, when, scenario)


def _lint_magic(magic: Reader, source: str, timelines: Timelines | None) -> None:
    """Lint the outcomes of the file's own magic accounts."""
    for _, outcome in magic["outcomes"].entries():
        if outcome.position.source == source:
            for section in DEFINITIONS:
                _lint_outcome(section, outcome[section], timelines, magic["then"])
