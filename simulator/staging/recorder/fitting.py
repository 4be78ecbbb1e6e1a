"""Makes the rules of a recording pass `check`: what it finds in a rule goes with the rule, unless it is a detail."""

import re
from typing import Any

from simulator.scenario.build import build
from simulator.scenario.lint.findings import lint
from simulator.scenario.reading.document import Problem, Report, ScenarioError
from simulator.scenario.reading.files import OWN_FILE
from simulator.scenario.reading.load import load_object
from simulator.staging.importer.fitting import remove_problems

ROUNDS_MAX = 15
SECTIONS = ("payments", "voids", "disputes", "bills")
_RULE = re.compile(rf"({'|'.join(SECTIONS)})\[([0-9]+)\]")
# Findings about facts that a service shows of itself: a recording keeps those facts.
_FACTS = frozenset({"foreign_currency", "always_interrupted"})
# Without them a rule still does what it is for.
_DETAIL = re.compile(r"\.(statusCode|remarks|message|error_message|callbacks)(\[[0-9]+\])?(\.[a-z_]+)?$")


def fit(document: dict[str, Any]) -> int:
    """Remove from a scenario what `check` complains of, in place; how many rules went."""
    removed = 0
    for _ in range(ROUNDS_MAX):
        problems = _problems(document)
        if not problems:
            return removed
        whole = {found.groups() for one in problems if (found := _RULE.match(one.path)) and not _is_detail(one)}
        rest = [one for one in problems if not _RULE.match(one.path) or _is_detail(one)]
        remove_problems(document, rest)
        for section, place in sorted(whole, key=lambda one: int(one[1]), reverse=True):
            del document[section][int(place)]
        removed += len(whole)
        _tidy(document)
    return removed + sum(len(document.pop(section, ())) for section in SECTIONS)


def _is_detail(one: Problem) -> bool:
    return _DETAIL.search(one.path) is not None


def _problems(document: dict[str, Any]) -> list[Problem]:
    loaded = load_object(document, bounds=OWN_FILE)
    scenario, found = None, Report()
    try:
        scenario = build(loaded, "record")
    except ScenarioError as error:
        found = Report(error.problems)
    lint(loaded, found, scenario)
    return [problem for problem in found.problems() if problem.code not in _FACTS]


def _tidy(document: dict[str, Any]) -> None:
    """Drop what became empty."""
    for rule in document.get("payments", ()):
        variants = rule["then"]["one_of"] if isinstance(rule["then"], dict) and "one_of" in rule["then"] else ()
        for one in (rule, *variants):
            if "callbacks" in one and not one["callbacks"]:
                del one["callbacks"]
    for section in (*SECTIONS, "timelines", "network", "schedule"):
        if section in document and not document[section]:
            del document[section]
