"""Testers' mistakes in scenario files, and the positions at which they are reported."""

from typing import Any

import pytest

from simulator.scenario.library import scenario_from_object
from simulator.scenario.reading.hints import synonyms
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.schema_check import schema
from tests.support.bad_scenarios import MISTAKES, STEPS
from tests.support.readings import places, problems


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_reported_with_its_position(text: str, expected: list[str]) -> None:
    assert places(text) == expected


def test_the_table_of_mistakes_is_complete_and_long() -> None:
    assert len(MISTAKES) >= 140
    assert len({row[0] for row in MISTAKES}) == len(MISTAKES)


SECRETS = [
    (
        "resellers: [{code: A, api_keys: [{key: k, secret: hunter2-live-secret!!}]}]\n",
        "a secret of 21 characters must be",
    ),
    (
        "resellers: [{code: A, api_keys: [{key: k, secret: hunter2}]}]\n",
        "a secret of 7 characters must be Base64 such as",
    ),
    (
        "resellers: [{code: A, api_keys: [{key: k, secret: 7272727}]}]\n",
        "must be Base64 such as c2VjcmV0LWZvci10ZXN0cw==, not a num",
    ),
    ("resellers: [{code: A, users: [{username: k, password: 7272727}]}]\n", "not a number; write it in quotes"),
    (
        f"resellers: [{{code: A, users: [{{username: k, password: {'hunter2' * 99}}}]}}]\n",
        "a password of 693 characters",
    ),
    ("webhooks: {catalog: {url: 'inbox:a', secret: hunter2}}\n", "a secret of 7 characters must be 64 hexadecimal"),
    ("schedule: [{at: 1s, webhook: {reseller: A, secret: hunter2}}]\n", "a secret of 7 characters must be 64 hex"),
]


@pytest.mark.parametrize(("text", "said"), SECRETS)
def test_no_message_shows_a_secret(text: str, said: str) -> None:
    found = "\n".join(problems(text))
    assert said in found
    assert "hunter2" not in found
    assert "7272727" not in found


SUGGESTIONS = [
    ("extnds: default\n", "'extends'"),
    ("extends: slow-provder\n", "'slow-provider'"),
    (STEPS + "    - { status: successful }\n", "'Succesful'"),
    (STEPS + "    - { status: acepted }\n", "'Accepted'"),
    ("assume: {refid-reused-with-other-params: reject}\n", "'refid-reused-with-other-parameters'"),
    ("extends: default\npayments: [{when: {product: electric}, then: [{status: Failed}]}]\n", "'ELECTRIC'"),
    ("faults: [{then: {afer_commit: true, status: 500}}]\n", "'after_commit'"),
    ("timelines: {slow: [{status: Failed}]}\npayments: [{then: slwo}]\n", "'slow'"),
]


@pytest.mark.parametrize(("text", "near"), SUGGESTIONS)
def test_a_near_miss_gets_a_suggestion(text: str, near: str) -> None:
    assert f"(did you mean {near}?)" in "\n".join(problems(text))


# what is written, with `{}` for the key; the key that is meant
MEANT: list[tuple[str, str, str]] = [
    ("payments: [{{when: {{amount: {{{}: 1}}}}, then: [{{status: Failed}}]}}]\n", "gte", "min"),
    ("payments: [{{when: {{amount: {{{}: 1}}}}, then: [{{status: Failed}}]}}]\n", "less_than", "max"),
    ("payments: [{{when: {{amount: {{{}: 1}}}}, then: [{{status: Failed}}]}}]\n", "gt", "more_than"),
    ("payments: [{{when: {{{}: [{{account: a}}]}}, then: [{{status: Failed}}]}}]\n", "or", "any"),
    ("payments: [{{{}: account, nth: 2, then: [{{status: Failed}}]}}]\n", "by", "per"),
    ("faults: [{{when: {{{}: Sun}}, then: {{status: 500}}}}]\n", "day", "weekday"),
    ("faults: [{{when: {{{}: 5m}}, then: {{status: 500}}}}]\n", "before", "until"),
    ("faults: [{{when: {{{}: {{page: '2'}}}}, then: {{status: 500}}}}]\n", "query_string", "query"),
    ("payments: [{{when: {{account: {{{}: a}}}}, then: [{{status: Failed}}]}}]\n", "regex", "pattern"),
    ("payments: [{{when: {{account: {{{}: a}}}}, then: [{{status: Failed}}]}}]\n", "startsWith", "prefix"),
    ("payments: [{{when: {{account: {{{}: a}}}}, then: [{{status: Failed}}]}}]\n", "ends-with", "suffix"),
    ("payments: [{{when: {{account: {{{}: [a]}}}}, then: [{{status: Failed}}]}}]\n", "one_of", "in"),
    ("payments: [{{when: {{{}: a}}, then: [{{status: Failed}}]}}]\n", "phone", "account"),
    ("payments: [{{when: {{{}: a}}, then: [{{status: Failed}}]}}]\n", "order_id", "refid"),
    ("payments: [{{{}: {{}}, then: [{{status: Failed}}]}}]\n", "if", "when"),
    ("payments: [{{{}: 0.5, then: [{{status: Failed}}]}}]\n", "probability", "chance"),
    ("payments: [{{then: [{{status: Accepted}}, {{status: Failed, {}: 2}}]}}]\n", "query", "requery"),
    ("payments: [{{then: [{{status: Accepted}}, {{status: Failed, {}: 2s}}]}}]\n", "delay", "after"),
    ("payments: [{{then: [{{status: Failed, {}: 2}}]}}]\n", "code", "statusCode"),
    ("faults: [{{when: {{{}: /v2/topup}}, then: {{status: 500}}}}]\n", "url", "path"),
    ("faults: [{{then: {{{}: true}}}}]\n", "close", "disconnect"),
    ("faults: [{{then: {{{}: 1s}}}}]\n", "latency", "delay"),
    ("payments: [{{then: [{{status: Accepted}}, {{status: Failed, {}: '12:10'}}]}}]\n", "time_of_day", "at"),
    ("payments: [{{then: {{{}: [{{then: a}}, {{then: b}}]}}}}]\n", "choose", "one_of"),
    ("payments: [{{then: {{one_of: [{{{}: 70, then: a}}, {{then: b}}]}}}}]\n", "percent", "weight"),
    ("payments: [{{then: [{{status: Accepted}}], callbacks: {{{}: 1m}}}}]\n", "repeat_after", "again_after"),
    ("faults: [{{when: {{{}: {{page: '2'}}}}, then: {{status: 500}}}}]\n", "params", "query"),
    ("payments: [{{when: {{{}: {{a: '2'}}}}, then: [{{status: Failed}}]}}]\n", "params", "extras"),
    ("faults: [{{then: {{{}: 500}}}}]\n", "code", "status"),
    ("schedule: [{{{}: 5m, network: {{product: A, status: Healthy}}}}]\n", "after", "at"),
    ("{}: {{}}\n", "timeline", "timelines"),
    ("limits: {{{}: 5}}\n", "requests", "requests_per_interval"),
    ("{}: []\n", "rules", "payments"),
    ("expect: [{{{}: {{path: /v2/topup}}}}]\n", "requests", "calls"),
    ("expect: [{{payments: {{}}, {}: 1}}]\n", "exactly", "count"),
    ("expect: [{{payments: {{}}, {}: 3}}]\n", "at_most", "count"),
    ("{}: default\n", "base", "extends"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "written", "meant"), MEANT, ids=[f"{row[1]} for {row[2]}" for row in MEANT])
def test_a_key_of_another_language_gets_the_right_key_as_suggestion(text: str, written: str, meant: str) -> None:
    said = f"unknown_key there is no key '{written}' here (did you mean '{meant}'?)"
    assert any(problem.endswith(said) for problem in problems(text.format(written)))


# what is written; how the message about it ends
EXPLAINED: list[tuple[str, str]] = [
    (
        "payments: [{when: {query: {page: '2'}}, then: [{status: Failed}]}]\n",
        "no key 'query' here; only faults have 'query'",
    ),
    ("bills: [{when: {url: /v2/bill}, then: {error: unavailable}}]\n", "no key 'url' here; only faults have 'path'"),
    (
        "voids: [{when: {headers: {a: b}}, then: {status: Failed}}]\n",
        "no key 'headers' here; only faults have 'headers'",
    ),
    (
        "payments: [{when: {amount: outstanding}, then: [{status: Failed}]}]\n",
        "not 'outstanding'; only more_than takes 'outstanding'",
    ),
    ("payments: [{when: {amount: RM10}, then: [{status: Failed}]}]\n", "an amount is a number, not 'RM10'"),
    ("payments: [{nth: '05', then: [{status: Failed}]}]\n", "must be a whole number, not '05'"),
    ("payments: [{then: succesful}]\n", "in this scenario; write [{ status: Succesful }] for this status"),
    ("expect: [{calls: {status: 4xx}}]\n", "there is no answer with status '4xx'; write { min: 400, max: 499 }"),
    (
        "schedule: [{at: 5m, network: {product: A, status: Healthy}, deposit: {reseller: A, amount: 1}}]\n",
        "a scheduled item needs exactly one of 'deposit' and 'network'; write an item for each",
    ),
]


@pytest.mark.parametrize(("text", "end"), EXPLAINED, ids=[row[1] for row in EXPLAINED])
def test_a_message_says_what_to_write_instead(text: str, end: str) -> None:
    assert any(problem.endswith(end) for problem in problems(text)), problems(text)


def test_a_catalog_of_the_wrong_type_is_the_only_problem() -> None:
    assert places("extends: default\ncatalog: [a]\n") == ["2:10: type"]


def test_a_key_without_a_similar_key_is_answered_with_all_keys() -> None:
    [problem] = problems("resellers: [{code: A, callback: {url: 'inbox:a', zzz: 1}}]\n")
    assert problem.endswith("there is no key 'zzz' here; the keys are url, method")


def test_each_other_word_stands_for_a_key_that_there_is() -> None:
    definitions = [schema(), *schema()["definitions"].values()]
    known = {key for definition in definitions for key in definition.get("properties", {})}
    assert set(synonyms()) - known == set()


def test_all_mistakes_of_a_file_are_reported_together_and_in_its_order() -> None:
    text = """\
scenario: many
sed: 1
payments:
  - when: { acount: 1, account: { pattern: "(" }, amount: x }
    then:
      - { status: Acepted, remarks: "{x}" }
      - { status: Failed }
faults:
  - then: { status: 700, delay: 3w }
limits: { nonces: 0, journal: lots }
schedule:
  - { at: 1s, deposit: { reseller: A } }
"""
    assert places(text) == [
        "2:1: unknown_key",
        "4:13: unknown_key",
        "4:44: bad_pattern",
        "4:59: bad_amount",
        "6:19: unknown_value",
        "6:37: bad_template",
        "7:9: timeline",
        "9:21: out_of_range",
        "9:33: bad_duration",
        "10:19: out_of_range",
        "10:31: type",
        "12:24: missing_key",
        "12:36: unknown_reseller",
    ]


def test_the_first_hundred_mistakes_are_reported() -> None:
    rule = "- { when: { account: { pattern: '(' }, amount: x }, then: [{ status: Failed }] }\n"
    assert len(places("payments:\n" + rule * 200)) == 100


def test_a_problem_says_file_line_column_code_and_message() -> None:
    assert problems("sed: 3\n") == ["1:1: unknown_key there is no key 'sed' here (did you mean 'seed'?)"]
    assert problems("clock: 5\n") == ["1:8: type must be real, manual or xN such as x60, not 5"]


def test_a_comma_in_unquoted_text_within_braces_is_explained() -> None:
    [problem] = problems("faults: [{ name: paid, but nobody heard, then: { status: 500 } }]\n")
    assert problem.endswith("there is no key 'but nobody heard' here; text with a comma within braces needs quotes")


def test_a_long_value_is_shortened_in_its_message() -> None:
    [problem] = problems(f"clock: {'x' * 5000}\n")
    assert len(problem) < 200


@pytest.mark.parametrize("below", [[1], [None], {"00": [1]}, {"": [1]}, {"": {"x": 1}}, {"0": {"": [1]}}])
@pytest.mark.parametrize("section", ["network", "inboxes", "payments"])
def test_a_mistake_below_an_empty_key_has_a_place(section: str, below: Any) -> None:
    with pytest.raises(ScenarioError) as raised:
        scenario_from_object({section: {"": below}})
    assert raised.value.problems[0].path.startswith(section)
