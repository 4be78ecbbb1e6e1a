"""The verbs that print what is bundled: scenarios, problems, the register, the contract."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled
from simulator.contract.register import assumptions
from simulator.scenario.library import load_scenario, names, scenario_from_object, text
from tests.support.runner import invoke, refusal


def test_scenarios_are_listed_with_a_line_each() -> None:
    lines = invoke("scenarios").stdout.splitlines()
    assert [line.split()[0] for line in lines] == names()
    assert all(len(line.split(maxsplit=1)) == 2 for line in lines)


def test_scenarios_are_listed_as_json() -> None:
    listed = json.loads(invoke("scenarios", "--json").stdout)["scenarios"]
    assert [one["name"] for one in listed] == names()


def test_a_shown_scenario_is_the_file_itself() -> None:
    assert invoke("scenarios", "show", "default").stdout == text("default")


@pytest.mark.parametrize("name", names())
def test_a_scenario_shown_as_json_is_one_that_the_control_api_takes(name: str) -> None:
    shown = json.loads(invoke("scenarios", "show", name, "--json").stdout)
    assert scenario_from_object(shown).resellers


def test_an_unknown_scenario_is_answered_with_the_nearest() -> None:
    assert "did you mean 'default'" in refusal(invoke("scenarios", "show", "defualt"), 1)


def test_an_unknown_scenario_without_a_similar_name_is_answered_with_the_list() -> None:
    assert "`reseller-sim scenarios` lists them" in refusal(invoke("scenarios", "show", "nope"), 1)


@pytest.mark.parametrize("arguments", [("show",), ("default",), ("show", "default", "more")])
def test_anything_else_after_scenarios_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert "`show NAME`" in refusal(invoke("scenarios", *arguments), 2)


def test_a_valid_file_is_ok(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_text("extends: default\n")
    result = invoke("check", str(good))
    assert (result.exit_code, result.stdout) == (0, f"{good}: ok\n")


def test_problems_are_printed_with_their_position_and_exit_1(tmp_path: Path) -> None:
    good, bad, absent = tmp_path / "good.yaml", tmp_path / "bad.yaml", tmp_path / "absent.yaml"
    good.write_text("extends: default\n")
    bad.write_text("extends: default\npaymnts: []\nseed: many\n")
    result = invoke("check", str(bad), str(good), str(absent))
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0].startswith(f"{bad}:2:1: unknown_key ")
    assert "did you mean 'payments'" in lines[0]
    assert lines[1].startswith(f"{bad}:3:7: ")
    assert lines[2] == f"{good}: ok"
    assert lines[3].startswith(f"{absent}:1:1: no_file ")


def test_every_assumption_is_printed_with_its_section_knob_question_choice_and_reason() -> None:
    printed = invoke("assumptions").stdout
    words = " ".join(printed.split())
    for one in assumptions():
        assert f"{one.id} (SPEC {one.spec}" in printed
        assert one.knob is None or f"knob {one.knob}" in printed
        assert all(" ".join(text.split()) in words for text in (one.question, one.choice, one.why))


def test_the_register_as_json_equals_the_answer_of_the_control_api() -> None:
    listed = json.loads(invoke("assumptions", "--json").stdout)["assumptions"]
    assert [one["id"] for one in listed] == [one.id for one in assumptions()]
    assert set(listed[0]) == {"id", "spec", "question", "choice", "why", "knob", "values"}


def test_one_assumption_is_printed_whole() -> None:
    one = assumptions()[0]
    printed = " ".join(invoke("assumptions", one.id).stdout.split())
    assert all(" ".join(text.split()) in printed for text in (one.id, one.question, one.choice, one.why))
    assert json.loads(invoke("assumptions", one.id, "--json").stdout)["id"] == one.id


def test_an_unknown_assumption_is_answered_with_the_nearest() -> None:
    wanted = assumptions()[0].id
    assert "`reseller-sim assumptions` lists them" in refusal(invoke("assumptions", wanted[:-1]), 1)
    assert "lists them" in refusal(invoke("assumptions", "zzzz"), 1)


def report(path: Path, **changes: Any) -> str:
    """A report of `conform --json-report`, written to a file."""
    seen = {"failed-wallet": {"value": "keep_cost", "evidence": "a failed payment reports 9.90"}}
    path.write_text(json.dumps({"target": "https://staging.example", "assume": seen} | changes))
    return str(path)


def test_observed_choices_of_a_deployment_are_marked_and_the_rest_is_marked_as_assumed(tmp_path: Path) -> None:
    file = report(tmp_path / "report.json")
    printed = invoke("assumptions", "--observed", file).stdout
    line = "observed at https://staging.example: set assume.failed-wallet: keep_cost (a failed payment reports 9.90)"
    assert [one.strip() for one in printed.splitlines() if one.startswith("  observed")] == [line]
    assert printed.splitlines().count("  assumed") == len(assumptions()) - 1
    assert line in invoke("assumptions", "failed-wallet", "--observed", file).stdout
    listed = json.loads(invoke("assumptions", "--observed", file, "--json").stdout)["assumptions"]
    seen = {one["id"]: one["observed"] for one in listed if one["observed"]}
    evidence = "a failed payment reports 9.90"
    assert seen == {"failed-wallet": {"target": "https://staging.example", "value": "keep_cost", "evidence": evidence}}


def test_a_deployment_that_behaves_as_assumed_needs_no_knob(tmp_path: Path) -> None:
    same = {"failed-wallet": {"value": "zero_cost", "evidence": "cost 0"}}
    printed = invoke("assumptions", "failed-wallet", "--observed", report(tmp_path / "r", assume=same)).stdout
    assert printed.endswith("  observed at https://staging.example: as assumed (cost 0)\n")


@pytest.mark.parametrize("content", ["", "{}", "[]", "[" * 100_000, '{"target": 1, "assume": {"a": {"value": 1}}}'])
def test_a_file_that_is_no_report_is_refused_on_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content)
    text = refusal(invoke("assumptions", "--observed", str(tmp_path / "report.json")), 1)
    assert text.endswith("report.json is not a report of `reseller-sim conform --json-report FILE`")
    assert "No such file" in refusal(invoke("assumptions", "--observed", str(tmp_path / "none")), 1)


def test_a_report_is_not_waited_for_at_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        assert "is not a regular file" in refusal(invoke("assumptions", "--observed", str(path)), 1)


def test_a_report_cannot_control_the_terminal(tmp_path: Path) -> None:
    evil = {"failed-wallet": {"value": "a\x1b[2J", "evidence": "b\nassumed"}}
    file = report(tmp_path / "r", target="https://x\x1b]0;", assume=evil)
    printed = invoke("assumptions", "failed-wallet", "--observed", file).stdout
    assert "\x1b" not in printed
    assert printed.splitlines()[-1].startswith("  observed at ")


@pytest.mark.parametrize(("flags", "document"), [((), OPENAPI), (("--control",), CONTROL), (("--proxy",), PROXY)])
def test_the_contract_is_printed_whole_as_yaml_and_as_json(flags: tuple[str, ...], document: str) -> None:
    as_json = json.loads(invoke("openapi", *flags, "--json").stdout)
    as_yaml = yaml.safe_load(invoke("openapi", *flags).stdout)
    assert as_json == as_yaml == json.loads(json.dumps(bundled(document)))
    refs = {line.strip() for line in json.dumps(as_json, indent=1).splitlines() if '"$ref"' in line}
    assert refs
    assert all('"#/' in ref for ref in refs)


PAGE = (Path(__file__).parents[2] / "docs" / "bundled-scenarios.md").read_text()


def test_the_magic_accounts_are_the_same_in_scenario_command_and_page() -> None:
    outcomes = dict(load_scenario("default").magic.outcomes)
    printed = invoke("scenarios", "magic").stdout.partition("OO  what happens\n")[2]
    as_json = json.loads(invoke("scenarios", "magic", "--json").stdout)
    table = PAGE.partition("| OO | what happens |\n|---|---|\n")[2].partition("\n\n")[0]
    assert dict(line.split("  ", 1) for line in printed.splitlines()) == outcomes
    assert {one["digits"]: one["outcome"] for one in as_json["outcomes"]} == outcomes
    assert dict(line.strip("| ").split(" | ", 1) for line in table.splitlines()) == outcomes


def test_the_durations_of_magic_accounts_are_printed() -> None:
    durations = json.loads(invoke("scenarios", "magic", "--json").stdout)["durations"]
    assert {one["digit"]: one["seconds"] for one in durations} == {"0": None, "1": 3, "2": 30, "3": 300, "4": 3600}
    printed = invoke("scenarios", "magic").stdout
    assert all(line in printed.splitlines() for line in ("0   as usual", "3   300 seconds"))
    assert "1 three seconds, 2 thirty seconds, 3 five minutes, 4 an hour" in " ".join(PAGE.split())


def test_problems_are_annotations_of_github_when_asked(tmp_path: Path) -> None:
    bad = tmp_path / "a,b.yaml"
    bad.write_text("extends: default\nsed: 1\npayments: [{when: {account: '50%'}, nth: 2, every: 3, then: []}]\n")
    result = invoke("check", "--format", "github", str(bad))
    escaped = str(bad).replace(",", "%2C")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == (
        f"::error file={escaped},line=2,col=1,title=unknown_key::there is no key 'sed' here (did you mean 'seed'?)"
    )
    assert len(result.stdout.splitlines()) == 3
    assert invoke("check", str(bad), RESELLER_SIM_FORMAT="github").stdout.startswith("::error ")
    assert invoke("check", "--format", "xml", str(bad)).exit_code == 2


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"a" * 20_000_000, "1:1: too_big"),
        ("seed: 1\n".encode("utf-16"), "1:1: encoding"),
        (bytes(range(256)), "2:118: encoding"),
        (b"\x00", "1:1: syntax"),
        (b"[" * 900, "1:33: too_deep"),  # the parsers of PyYAML differ in where they stop for more
        (b"voids: &a [x, x]\nbills: &b [*a, *a]\nfaults: [*b, *b]\n", "1:8: anchor"),
        (b"payments: !!python/object/apply:os.system [ls]\n", "1:11: tag"),
        (b"seed: 1\nseed: 2\n", "2:1: duplicate_key"),
        (
            b"payments: [{when: {account: {pattern: '(a{1000}){1000}'}}, then: [{status: Failed}]}]\n",
            "1:39: bad_pattern",
        ),
    ],
    ids=["large", "utf-16", "binary", "nul", "deep", "bomb", "tag", "twice", "pattern"],
)
def test_a_hostile_file_is_refused_with_a_place(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(content)
    result = invoke("check", str(path))
    assert (result.exit_code, result.stderr) == (1, "")
    assert f"\n{path}:{place} " in f"\n{result.stdout}"
