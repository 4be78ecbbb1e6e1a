"""Reports of what was examined: JUnit, JSON, annotations, pages, coverage."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from simulator import __version__
from simulator.cli.main import cli
from simulator.cli.reports.folder import coverage_text, section
from simulator.cli.reports.html import document
from simulator.cli.reports.judge import Judge, RunVerdicts
from simulator.cli.reports.report_cases import ReportCase, Reports, Suite, annotations, as_json, junit
from simulator.cli.server import BoundServer
from simulator.cli.usage import PROGRAM
from simulator.control.result_endpoints import coverage_shown
from simulator.domain.errors import DomainError
from simulator.domain.model.outcomes import OUTCOMES, AnswerKind
from simulator.domain.model.rules import RuleCount
from simulator.domain.reports.coverage import Coverage, RuleKey
from simulator.redaction import Mask
from tests.support.client import running

HOSTILE = "a\x00\x1b[31m\n\ufffe<b>&\"']]>\u2028# \\ %\r\n::error::x, y: z\ud800"
SUITES = [
    Suite(
        "sandbox default",
        (ReportCase("met", ok=True), ReportCase("unmet", False, "expected 1", ("nearest: 2",), "e", "f", 3)),
    ),
    Suite(HOSTILE, (ReportCase(HOSTILE, False, HOSTILE, (HOSTILE,), HOSTILE, HOSTILE, 7, 9),)),
]


def test_junit_has_the_shape_that_ci_servers_read() -> None:
    root = ET.fromstring(junit(SUITES))  # noqa: S314  # written by us
    versions = [one.get("value") for one in root.iter("property") if one.get("name") == "version"]
    assert versions == [__version__, __version__]
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "3", "2", "0")
    assert [(one.tag, one.get("tests"), one.get("failures")) for one in root] == [
        ("testsuite", "2", "1"),
        ("testsuite", "1", "1"),
    ]
    cases = list(root.iter("testcase"))
    assert [case.get("name") for case in cases][:2] == ["met", "unmet"]
    assert all({"name", "classname", "time"} <= set(case.attrib) for case in cases)
    assert (cases[1].get("file"), cases[1].get("line"), cases[1].get("classname")) == ("f", "3", "sandbox default")
    failures = list(root.iter("failure"))
    assert [set(one.attrib) for one in failures] == [{"message", "type"}] * 2
    assert failures[0].text == "expected 1\nnearest: 2"
    shown = cases[2].get("name") or ""
    assert "\\x00\\x1b[31m\\n\\ufffe<b>&\"']]>\\u2028" in shown


def test_annotations_are_one_line_each_with_their_properties_escaped() -> None:
    first, second = annotations(SUITES)
    assert first == "::error file=f,line=3,title=e::sandbox default: expected 1%0Anearest: 2"
    assert "\n" not in second
    properties = second.removeprefix("::error ").partition("::")[0].split(",")
    assert [one.partition("=")[0] for one in properties] == ["file", "line", "col", "title"]


def test_a_warning_of_the_audit_is_an_annotation_too() -> None:
    warning = ReportCase("pace: Wait.", True, "request 3 repeats 2", ("do: Wait.",), "audit_warning")
    met = ReportCase("met", True, "expected 1, got 1", code="expectation")
    [line] = annotations([Suite("sandbox default, audit", (met, warning))])
    assert line == "::warning title=audit_warning::request 3 repeats 2%0Ado: Wait."


def test_json_keeps_every_case() -> None:
    whole = json.loads(as_json(SUITES))
    assert (whole["title"], whole["ok"], [one["ok"] for one in whole["suites"]]) == (PROGRAM, False, [False, False])
    assert whole["suites"][0]["cases"][1] == {
        "name": "unmet", "ok": False, "message": "expected 1", "details": ["nearest: 2"], "code": "e", "file": "f",
        "line": 3, "column": 0, "skipped": "",
    }  # fmt: skip
    assert json.loads(as_json(SUITES[:0])) == {"title": PROGRAM, "ok": True, "version": __version__, "suites": []}


def test_a_case_that_was_not_looked_at_is_ok_and_says_why() -> None:
    suites = [Suite("it", (ReportCase("seen", ok=True), ReportCase("unseen", ok=True, skipped="it pays # nothing")))]
    root = ET.fromstring(junit(suites))  # noqa: S314  # ours
    assert (root.attrib["tests"], root.attrib["failures"], root.attrib["skipped"]) == ("2", "0", "1")
    assert [one.attrib["message"] for one in root.iter("skipped")] == ["it pays # nothing"]


def test_a_page_holds_texts_as_texts_and_needs_nothing_else() -> None:
    rows = dict.fromkeys(("trxid", "refid", "product", "account", "amount", "status", "updated"), HOSTILE)
    tables = {"Payments": ([rows], 1), "Callbacks": ([], 0), "Requests": ([], 0)}
    made = section(Mask(), SUITES[1], {HOSTILE: HOSTILE}, tables, HOSTILE, HOSTILE)
    whole = document(HOSTILE, HOSTILE, made)
    assert "<b>" not in whole
    assert "<script" not in whole
    assert "\x1b" not in whole
    assert not re.search(r'(?:src|href)="(?:https?:)?//', whole)
    assert "default-src 'none'" in whole


def test_a_sandbox_without_expectations_has_no_suite_and_each_life_has_its_own(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    with running({"expect": [{"calls": {}, "count": 1}]}) as client:
        judge = Judge(Reports(None, file, "text"), None)
        judge.follow(BoundServer(SimpleNamespace(url="http://127.0.0.1:1"), client.app), "mine.yaml")  # type: ignore[arg-type]
        client.sandbox({"scenario": "other"}, "other")
        client.call("GET", "/v2/balance")
        client.sim("POST", "/sandboxes/default/reset")
        client.sim("POST", "/sandboxes/default/reset")
        client.call("GET", "/v2/balance")
        client.sim("POST", "/sandboxes/default/rewind", {"n": 0})
        with pytest.raises(DomainError):
            client.run(client.app.sandboxes.delete("nobody"))
        client.sim("DELETE", "/sandboxes/other")
        assert judge.exit_code(0) == 1
    suites = json.loads(file.read_text())["suites"]
    assert {suite["name"]: [case["ok"] for case in suite["cases"]] for suite in suites} == {
        "sandbox default, before reset 1": [True],
        "sandbox default, before reset 2": [False],
        "sandbox default, before rewind 1": [True],
        "sandbox default": [False],
    }


def test_a_life_is_named_after_its_end() -> None:
    found = RunVerdicts()
    with running() as client:
        labels = []
        client.app.sandboxes.on_ended = lambda live, ending: labels.append(found.label(live, ending))
        client.sim("POST", "/sandboxes/default/rewind", {"n": 0})
        client.sim("POST", "/sandboxes/default/reset")
        client.sim("POST", "/sandboxes/default/rewind", {"n": 0})
    assert labels == [f"sandbox default, before {what}" for what in ("rewind 1", "reset 1", "rewind 2")]


BAD = "extends: default\nsed: 1\nexpect: [{ calls: { path: /v2/topupp } }]\n"


def test_check_writes_its_problems_in_every_format(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.yaml", tmp_path / "good.yaml"
    bad.write_text(BAD)
    good.write_text("extends: default\n")
    files = {"--junit": tmp_path / "r.xml", "--json-report": tmp_path / "r.json"}
    flags = [str(part) for pair in files.items() for part in pair]
    done = CliRunner().invoke(cli, ["check", *flags, str(bad), str(good)])
    assert done.exit_code == 1
    root = ET.fromstring(files["--junit"].read_bytes())  # noqa: S314  # written by us
    assert [case.get("line") for case in root.iter("testcase")] == ["2", "3", None]
    suites = json.loads(files["--json-report"].read_text())["suites"]
    assert [suite["ok"] for suite in suites] == [False, True]
    assert suites[0]["cases"][0]["code"] == "unknown_key"


def test_check_says_that_a_report_cannot_be_written(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_text("extends: default\n")
    done = CliRunner().invoke(cli, ["check", "--json-report", str(tmp_path / "none" / "r.json"), str(good)])
    assert done.exit_code == 3
    assert "cannot be written" in done.stderr


def lines(coverage: Coverage, sandboxes: int = 1) -> list[str]:
    return coverage_text(coverage_shown(coverage), sandboxes).splitlines()


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
