"""Lint findings of `check`: rules that nothing can reach, parts without effect, secrets that are too short.

Such a scenario still loads, but does not do what its author intended. Values with earlier problems are skipped, and so
is what a file only inherits.
"""

from simulator.domain.model.scenario import Scenario
from simulator.scenario.build import DEFINITIONS
from simulator.scenario.lint.conditions import When, when_of
from simulator.scenario.lint.effects import lint_callbacks, lint_counts, lint_damage, lint_steps
from simulator.scenario.lint.inboxes import lint_inboxes
from simulator.scenario.lint.matchers import lint_matchers
from simulator.scenario.lint.order import Placed, lint_order
from simulator.scenario.lint.products import lint_products
from simulator.scenario.lint.requests import lint_request
from simulator.scenario.lint.schedule import lint_schedule
from simulator.scenario.lint.start import lint_secrets
from simulator.scenario.reading.document import Document, Report
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.schedule import added_rules


def lint(document: Document, report: Report, scenario: Scenario | None) -> None:
    """Report ineffective parts. Without the scenario, which has errors, the catalog is not consulted."""
    root = Reader.of(document.root, report)
    for section in DEFINITIONS:
        items = root[section].items()
        rules = [Placed(item, when) for item in items if (when := when_of(item, section)) is not None]
        for item in items:
            if item.position.source == document.source:
                _lint_then(section, item)
        for rule in rules:
            if rule.item.position.source == document.source:
                _lint_when(section, rule.item, rule.when, scenario)
        lint_order(rules, document.source)
    _lint_added(root["schedule"], document.source, scenario)
    _lint_magic(root["magic"], document.source)
    lint_inboxes(root, document.source)
    lint_schedule(root, document.source)
    lint_secrets(root)


def _lint_added(schedule: Reader, source: str, scenario: Scenario | None) -> None:
    """The rules that the schedule of the file adds. They come before all others, so that none hides them."""
    for item in schedule.items():
        for section, rule in added_rules(item) if item.position.source == source else ():
            _lint_then(section, rule)
            if (when := when_of(rule, section)) is not None:
                _lint_when(section, rule, when, scenario)


def _lint_then(section: str, item: Reader) -> None:
    lint_counts(item)
    if section == "payments":
        lint_steps(item["then"])
        lint_callbacks(item["callbacks"])
    if section == "faults":
        lint_damage(item["then"])


def _lint_when(section: str, item: Reader, when: When, scenario: Scenario | None) -> None:
    lint_matchers(when)
    if section == "faults":
        lint_request(item, when)
    elif scenario is not None:
        lint_products(section, item, when, scenario)


def _lint_magic(magic: Reader, source: str) -> None:
    """The outcomes of magic accounts that the file has itself."""
    for _, outcome in magic["outcomes"].entries():
        if outcome.position.source == source:
            lint_steps(outcome["payments"]["then"])
            lint_callbacks(outcome["payments"]["callbacks"])
            lint_damage(outcome["faults"]["then"])
