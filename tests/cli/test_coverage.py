"""Coverage as text: what was met in numbers, what was not by name."""

from typing import Any

from simulator.cli.reports.coverage import text
from simulator.control.verdicts import coverage_shown
from simulator.domain.model.outcomes import OUTCOMES, AnswerKind
from simulator.domain.model.rule_counts import RuleCount
from simulator.domain.reports.coverage import Coverage, RuleKey


def lines(coverage: Coverage, sandboxes: int = 1) -> list[str]:
    return text(coverage_shown(coverage), sandboxes).splitlines()


def rules(*keys: tuple[str, str, int, int]) -> dict[RuleKey, RuleCount]:
    return {
        RuleKey(scenario, "payments", name, name): RuleCount(matched, chosen)
        for scenario, name, matched, chosen in keys
    }


def test_a_rule_that_never_decided_is_named_with_its_counts() -> None:
    told_lines = lines(Coverage(rules=rules(("one", "a", 0, 0), ("one", "b", 7, 0), ("one", "c", 7, 7))))
    assert told_lines[:4] == [
        "coverage of 1 sandbox",
        "  rules: 1 of 3 chosen",
        "    never payments: a",
        "    never payments: b, though it matched 7 times",
    ]


def test_rules_of_several_scenarios_are_distinguished() -> None:
    told_lines = lines(Coverage(rules=rules(("one", "a", 0, 0), ("two", "a", 0, 0))), 2)
    assert told_lines[0] == "coverage of 2 sandboxes"
    assert told_lines[2:4] == ["    never payments of one: a", "    never payments of two: a"]


def test_a_part_that_there_is_not_is_not_published() -> None:
    assert [line for line in lines(Coverage()) if "rules" in line or "magic" in line or "answers" in line] == []


def test_outcomes_that_were_met_are_not_named() -> None:
    coverage = Coverage()
    coverage.outcomes.update(one.id for one in OUTCOMES if one.id != "status-429")
    found = lines(coverage)
    assert found[-2:] == [f"  outcomes: {len(OUTCOMES) - 1} of {len(OUTCOMES)} met", "    never HTTP: 429"]


def test_answers_are_counted_by_kind_with_the_ending_of_the_connection() -> None:
    answers: dict[AnswerKind, int] = {
        AnswerKind("GET", "/v2/balance", 200, "", ""): 3,
        AnswerKind("GET", "/v2/balance", 200, "", "abort"): 2,
        AnswerKind("GET", "/v2/balance", 401, "nonce_reused", ""): 1,
        AnswerKind("*", "*", 404, "", ""): 5,
    }
    coverage = Coverage()
    coverage.answers.update(answers)
    found: Any = [line.strip().partition("; never")[0] for line in lines(coverage)]
    assert "GET /v2/balance: 200 x3, closed without an answer x2, 401 nonce_reused x1" in found
    assert found[-1] == "other paths: 404 x5"
