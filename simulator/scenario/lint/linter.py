"""Lint findings of `check`: unreachable rules, parts without effect, secrets that are too short.

Such a scenario loads, but does not do what its author intended. Values with earlier problems are skipped, and so are
inherited parts.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from simulator.domain.model.scenario import Scenario
from simulator.scenario.lint import conditions, idle_parts, start
from simulator.scenario.lint.rule_matches import lint_products, lint_request
from simulator.scenario.reading.nodes import Document, Problem, ProblemReport
from simulator.scenario.reading.value_reader import ValueReader
from simulator.scenario.reading.yaml_parser import load_object
from simulator.scenario.sections.rule_sections import DEFINITIONS
from simulator.scenario.sections.schedule_section import added_rules
from simulator.scenario.sections.timelines import Timelines, branches


def lint(document: Document, found: Iterable[Problem], scenario: Scenario | None) -> list[Problem]:
    """Return the problems `found` and the ineffective parts of the file itself. Without `scenario`, which is None when
    it has errors, the catalog is not consulted."""
    report = ProblemReport(found, document.source)
    root = ValueReader.of(document.root, report)
    timelines = None if scenario is None else scenario.timelines
    comparisons = conditions.COMPARISONS_MAX
    for section in DEFINITIONS:
        items = root[section].items()
        rules = [(item, when) for item in items if (when := conditions.when_of(item)) is not None]
        for item in items:
            _lint_then(section, item, timelines)
        for item, when in rules:
            _lint_when(section, item, when, scenario)
        comparisons = conditions.lint_order(rules, comparisons)
    for section, rule in (added for item in root["schedule"].items() for added in added_rules(item)):
        _lint_then(section, rule, timelines)  # it precedes all others, so no other rule hides it
        if (when := conditions.when_of(rule)) is not None:
            _lint_when(section, rule, when, scenario)
    for _, outcome in root["magic"]["outcomes"].entries():
        for section in DEFINITIONS:
            _lint_outcome(section, outcome[section], timelines, root["magic"]["then"])
    for _, timeline in root["timelines"].entries():
        idle_parts.lint_steps(timeline)
    idle_parts.lint_inboxes(root)
    for item in root["expect"].items() if scenario is not None else ():
        assert scenario is not None, "asked above"
        if item["payments"].is_mapping and item["payments"].is_valid:
            lint_products("payments", conditions.subject_of(item["payments"]), scenario)
    start.lint_secrets(root)
    start.lint_adjustments(root)
    start.lint_network(root)
    start.lint_targets(root)
    if scenario is not None and scenario.clock.mode == "manual":
        start.lint_waits(root, scenario.limits)
    return report.problems()


NEVER_MATCHES = frozenset({"unknown_method", "unknown_path", "impossible", "out_of_range"})
"""Codes of findings about a `when` that no request meets."""


def rule_findings(
    section: str, data: Mapping[str, object], *, is_manual: bool, timeout: timedelta | None
) -> list[Problem]:
    """Return the findings about a valid rule that is added to a running sandbox. `is_manual` is true for a manual
    clock."""
    report = ProblemReport()
    item = ValueReader.of(load_object(data, "rule").root, report)
    if (when := conditions.when_of(item)) is not None:
        _lint_when(section, item, when, None)
    _lint_then(section, item, None)
    if is_manual and section == "faults":
        start.lint_fault_waits(item, timeout)
    return report.problems()


def _lint_then(section: str, item: ValueReader, timelines: Timelines | None) -> None:
    idle_parts.lint_counts(item)
    _lint_outcome(section, item, timelines)


def _lint_outcome(
    section: str, item: ValueReader, timelines: Timelines | None, usual: ValueReader | None = None
) -> None:
    if section == "payments":
        idle_parts.lint_payment(item, timelines, usual)
    if section == "faults":
        for branch in branches(item["then"]):
            idle_parts.lint_idle(branch.then)


def _lint_when(section: str, item: ValueReader, when: conditions.When, scenario: Scenario | None) -> None:
    conditions.lint_conditions(when)
    if section == "faults":
        lint_request(item, when)
    elif scenario is not None:
        lint_products(section, when, scenario)
