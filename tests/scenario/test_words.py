"""Messages of `check` for mistakes that YAML's own words hide, and for mistakes that hid others."""

from pathlib import Path

import pytest

from simulator.scenario.library import load_scenario, names, problems
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.schema_check import schema

D = "extends: default\n"
HALF = "1:1: missing_key without resellers no client can call; write 'extends: default'"

# A text, and the problems that are said of it, as they begin, with what each of them ends with.
TOLD = {
    "one status": (
        f"{D}payments: [{{ then: {{ status: Failed }} }}]\n",
        ["2:20: type the statuses of a payment are a list: write [{ status: Failed }]"],
    ),
    "one later status": (
        f"{D}payments: [{{ then: {{ status: Failed, after: 5s }} }}]\n",
        ['2:20: type the statuses * write [{ after: "5s", status: Failed }]'],
    ),
    "an HTTP status": (
        f"{D}payments: [{{ then: {{ status: 500 }} }}]\n",
        ["2:20: type to answer an HTTP status, write a rule of 'faults' * a list such as [{ status: Failed }]"],
    ),
    "a rule alone": (
        f"{D}payments: {{ name: x, then: some }}\n",
        ["2:11: type must be a list, not a mapping; write [{ name: x, then: some }]"],
    ),
    "a rule alone below": (
        f"{D}payments:\n  name: x\n  then: [{{ status: Failed }}]\n",
        ["3:3: type must be a list, not a mapping; begin it with '- ', as an item of a list"],
    ),
    "a list of one": (
        f"{D}voids: [{{ then: [{{ status: Success }}] }}]\n",
        ["2:17: type must be an object, not a list; write { status: Success }"],
    ),
    "a secret": (
        f"{D}resellers: [{{ code: RS001, api_keys: {{ key: k, secret: c2VjcmV0 }} }}]\n",
        ["2:38: type must be a list, not a mapping; begin it with '- ', as an item of a list"],
    ),
    "no extends": ("payments: [{ when: { product: RELOAD }, then: y }]\n", [HALF, "1:31: unknown_product", "1:47: "]),
    "no extends, and a mistake": ("seed: x\n", [HALF, "1:7: type"]),
    "both phases": (
        f"{D}seed: x\npayments: [{{ when: {{ product: RELOAD, amount: 7 }}, then: [{{ status: Failed }}] }}]\n",
        ["2:7: type", "3:47: not_sold"],
    ),
    "a scenario that is not there": (
        "extends: qqqq\n",
        ["1:10: unknown_scenario * `reseller-sim scenarios` lists them"],
    ),
    "a scenario with a suffix": ("extends: default.yaml\n", ["1:10: no_file * (the bundled scenario is 'default')"]),
    "a status alone": (
        f"{D}payments: [{{ then: failed }}]\n",
        ["2:20: unknown_timeline * write [{ status: Failed }] for this status"],
    ),
    "statuses alone": (f"{D}payments: [{{ then: [Failed] }}]\n", ["2:21: type * write { status: Failed }"]),
    "a number alone": (f"{D}faults: [{{ then: 504 }}]\n", ["2:18: type * write { status: 504 }"]),
    "one of one": (
        f"{D}payments: [{{ then: {{ one_of: {{ weight: 1 }} }} }}]\n",
        ["2:30: type must be a list, not a mapping; write [{ weight: 1 }]"],
    ),
    "a mapping where names are wanted": ("extends: { name: default }\n", ["1:10: type * not a mapping"]),
    "an outcome of an expectation": (
        f"{D}expect: [{{ outcome: callback-lost }}]\n",
        ["2:21: unknown_outcome there is no outcome 'callback-lost' in the coverage (did you mean 'callback-stale'?)"],
    ),
    "products that hide the products of the base": (
        f"{D}catalog: {{ products: {{ RELOAD: {{ price_adjustment: {{ type: fixed, value: 1 }} }} }} }}\n",
        ["2:22: type must be a list, not a mapping; begin it with '- ', as an item of a list"],
    ),
    "the status of a payment in a fault": (
        f"{D}faults: [{{ then: {{ status: Failed }} }}]\n",
        ["2:28: type must be a whole number, not 'Failed' * and a rule of 'payments' decides how a payment ends"],
    ),
    "a list of statuses in a fault": (
        f"{D}faults: [{{ then: {{ status: [500, 502] }} }}]\n",
        ["2:28: type must be a whole number, not a list"],
    ),
    "null for limits that are always there, and for unknown ones": (
        f"{D}limits: {{ token_lifetime: null, callback_retry_after: null, retries: null }}\n",
        [
            "2:27: type must be a duration such as 250ms * not null",
            "2:55: type must be a duration such as 250ms * not null",
            "2:61: unknown_key there is no key 'retries' here * 'callback_retries'?)",
        ],
    ),
    "an HTTP status among the statuses of a payment": (
        f"{D}payments: [{{ then: [{{ status: 500 }}] }}]\n",
        ["2:31: unknown_value * to answer an HTTP status, write a rule of 'faults'"],
    ),
    "a refusal in a list": (
        f"{D}payments: [{{ then: [{{ refuse: Invalid_Account }}] }}]\n",
        ["2:23: unknown_key * a refusal is not a list: write then: { refuse: … }"],
    ),
    "a timeline where a refusal may be": (
        f"{D}payments: [{{ then: {{ timeline: slow }} }}]\n",
        [
            "2:20: missing_key 'refuse' is missing",
            "2:22: unknown_key * a timeline is written then: NAME, or as its steps: then: [{ status: Succesful }]",
        ],
    ),
    "a pattern with a mistake": (
        f"{D}faults: [{{ when: {{ path: {{ pattern: '^/v2/(top' }} }}, then: {{ status: 500 }} }}]\n",
        ["2:37: bad_pattern * is not a regular expression: missing ), unterminated subpattern at position 5"],
    ),
    "a chance in percent": (
        f"{D}faults: [{{ chance: 20%, then: {{ status: 500 }} }}]\n",
        ["2:20: type * for 20 percent write 0.2"],
    ),
    "a delay without a unit": (f"{D}faults: [{{ then: {{ delay: 30 }} }}]\n", ["2:27: type * 30; write 30s or 30ms"]),
    "a delay in words": (f"{D}faults: [{{ then: {{ delay: 5 minutes }} }}]\n", ["2:27: bad_duration * write 5m"]),
    "the balance of no reseller": (
        f"{D}balance: 100\n",
        ["2:1: unknown_key * belongs in 'resellers', as in resellers: [{ code: …, balance: … }]"],
    ),
    "a reply beside its inbox": (
        f"{D}inboxes: {{ callbacks: {{ status: 500 }} }}\n",
        ["2:25: unknown_key * belongs in 'replies', as in replies: [{ status: … }]"],
    ),
    "an address alone": (
        f"{D}resellers: [{{ code: RS001, callback: 'localhost:9000/hook' }}]\n",
        ['2:38: type * write { url: "http://localhost:9000/hook" }'],
    ),
    "a probability in percent": (
        f"{D}faults: [{{ when: {{ chance: 50 }}, then: {{ status: 500 }} }}]\n",
        ["2:28: out_of_range 50 must be at most 1 * for 50 percent write 0.5"],
    ),
    "one of many values": (
        f"{D}payments: [{{ then: {{ refuse: Insufficient_Balanse }} }}]\n",
        ["2:30: unknown_value * not one of the 10 values (did you mean 'Insufficient_Balance'?)"],
    ),
    "text of braces": (
        f"{D}payments: [{{ then: [{{ status: Failed, sn: {{refid}} }}] }}]\n",
        ["2:43: type must be text * not a mapping; text with braces needs quotes"],
    ),
    "a pasted space before a key": (
        f"{D}\xa0seed: 7\n",
        ["2:1: unknown_key * it contains a character that is not an ordinary space: write one"],
    ),
    "no blank after a colon in braces": (
        f"{D}clock: {{ mode:manual }}\n",
        ["2:10: unknown_key there is no key 'mode:manual' here; write a colon and a space after 'mode'"],
    ),
    "no colon before a brace": (
        f"{D}clock {{ mode: manual }}\n",
        ["2:1: unknown_key * write a colon and a space after 'clock'"],
    ),
    "a comma in a number within braces": (
        f"{D}limits: {{ rules: 1,000 }}\n",
        ["2:20: unknown_key there is no key '000' here; text with a comma within braces needs quotes"],
    ),
    "a merge key": (f"{D}clock:\n  <<: x\n", ["3:3: unknown_key * not supported: write the keys out"]),
    "the key of a rule at the margin": (
        f"{D}payments:\n  - then: [{{ status: Failed }}]\nwhen: {{}}\n",
        ["4:1: unknown_key * it belongs to a rule: indent it like the other keys of the rule"],
    ),
    "rules in a comment": (
        f"{D}payments:\n  # - name: a\n",
        ["2:10: type must be a list, not null; write [] for none"],
    ),
    "a quoted number": (f"{D}seed: '7'\n", ["2:7: type must be a whole number, not '7'; write 7 without quotes"]),
    "a quoted word": (
        f"{D}faults: [{{ then: {{ disconnect: 'true' }} }}]\n",
        ["2:32: unknown_value 'true' is text; write true without quotes"],
    ),
    "an only value": (
        f"{D}faults: [{{ then: {{ nonce_service: dwn }} }}]\n",
        ["2:35: unknown_value must be down, not 'dwn'"],
    ),
    "a value for a list": (
        f"{D}webhooks: {{ retry_after: 10s }}\n",
        ["2:26: type must be a list, not '10s'; write [\"10s\"]"],
    ),
    "a duration with blanks": (
        f"{D}clock: {{ skew: 1h 30m }}\n",
        ["2:16: bad_duration '1h 30m' * write 1h30m"],
    ),
    "part of a weight": (
        f"{D}bills: [{{ then: {{ one_of: [{{ weight: 0.5, then: {{ error: x }} }}, {{ then: {{ error: y }} }}] }} }}]",
        ["2:38: type must be a whole number, not 0.5"],
    ),
    "a comparison with an amount": (
        f"{D}payments: [{{ when: {{ amount: '>100' }}, then: [{{ status: Failed }}] }}]\n",
        ["2:30: bad_amount an amount is a number, not '>100'; write a range as { min: …, max: … }"],
    ),
    "an unknown product": (
        f"{D}payments: [{{ when: {{ product: TNB }}, then: [{{ status: Failed }}] }}]\n",
        ["2:31: unknown_product there is no product 'TNB' in this scenario; it has ABROAD, * VOUCHER, WATER"],
    ),
    "a query in a path": (
        f"{D}faults: [{{ when: {{ path: /v2/statement?page=2 }}, then: {{ status: 500 }} }}]\n",
        ["2:26: unknown_path * write what follows the '?' as 'query'"],
    ),
    "callbacks without a timeline": (
        f"{D}payments: [{{ callbacks: {{ drop: true }} }}]\n",
        ["2:12: missing_key 'then' is missing"],
    ),
    "two documents": (f"{D}---\nseed: 7\n", ["2:1: documents * remove this '---'"]),
    "a tag": (f"{D}seed: !!int 7\n", ["2:7: tag tags such as !!int are not supported; remove the tag"]),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_mistake_is_explained_in_words(name: str, tmp_path: Path) -> None:
    text, told = TOLD[name]
    file = tmp_path / "f.yaml"
    file.write_text(text, "utf-8")
    found = [str(problem).removeprefix(f"{file}:") for problem in problems(file)]
    assert len(found) == len(told), found
    for line, wanted in zip(found, told, strict=True):
        begin, _, end = wanted.partition(" * ")
        assert line.startswith(begin), line
        assert line.endswith(end) or not end, line
    assert "c2VjcmV0" not in "".join(found)


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("bad-dya", "(did you mean 'bad-day'?)"),
        ("qqqq", "; `reseller-sim scenarios` lists them"),
        ("bad-day.yaml", "(the bundled scenario is 'bad-day')"),
        ("./bad-day.yaml", "(the bundled scenario is 'bad-day')"),
    ],
)
def test_a_scenario_that_does_not_exist_has_a_suggestion(wanted: str, hint: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        load_scenario(wanted)
    assert str(refused.value).endswith(hint)


def test_the_schema_offers_bundled_names_products_and_paths() -> None:
    assert set(names()) <= {name for name in schema()["properties"]["extends"]["examples"] if isinstance(name, str)}
    when = schema()["definitions"]["fault_when"]["properties"]
    assert set(when["product"]["examples"]) == set(load_scenario("default").catalog.products)
    assert {"/v2/topup", "/v2/balance"} <= set(when["path"]["examples"])


REAL = "each request waits 29 s of real time, although the clock is manual; write { virtual: 30s } to answer at once"


@pytest.mark.parametrize(
    ("clock", "delay", "told"),
    [
        ("manual", "30s", [f"4:32: real_wait {REAL}"]),
        (
            "manual",
            "[1s, 10s]",
            ["4:32: real_wait each request waits 10 s of real time * virtual: […] } to answer at once"],
        ),
        (
            "manual",
            "{ median: 10s, p99: 30s }",
            ["4:32: real_wait each request waits up to 29 s of real time * virtual: […] } to answer at once"],
        ),
        ("manual", "5s", []),
        ("manual", "{ median: 100ms, p99: 2s }", []),
        ("manual", "{ virtual: 30s }", []),
        ("real", "30s", []),
        ("x60", "30s", []),
    ],
)
def test_a_long_real_wait_under_a_manual_clock_is_a_finding(
    clock: str, delay: str, told: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(f"{D}clock: {clock}\nfaults:\n  - {{ when: {{}}, then: {{ delay: {delay} }} }}\n", "utf-8")
    found = [str(problem).removeprefix(f"{file}:") for problem in problems(file)]
    assert len(found) == len(told), found
    for line, wanted in zip(found, told, strict=True):
        begin, _, end = wanted.partition(" * ")
        assert line.startswith(begin)
        assert line.endswith(end)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "schedule:\n  - at: 1s\n    rule: { add: { faults: { then: { delay: 30s } } } }\n",
            f"5:45: real_wait {REAL}",
        ),
        (
            "inboxes:\n  callbacks:\n    - { status: 200, delay: 20s }\n",
            "5:29: real_wait each message waits 5 s of real time, although the clock is manual; then the attempt "
            "fails, as it does at once with `disconnect: true`",
        ),
        ("inboxes:\n  callbacks:\n    - { status: 200, delay: 4s }\n", ""),
    ],
)
def test_other_real_waits_under_a_manual_clock_are_findings(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(f"{D}clock: manual\n{text}", "utf-8")
    assert [str(problem).removeprefix(f"{file}:") for problem in problems(file)] == list(filter(None, [told]))


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("bad-day", "there is no such file; bundled scenarios such as this one need no check"),
        ("defualt", "there is no such file (did you mean 'default'?)"),
        ("mine.yaml", "there is no such file"),
    ],
)
def test_a_name_instead_of_a_file_is_explained(
    wanted: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [problem] = problems(Path(wanted))
    assert problem.message == hint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "payments:\n  - { when: { not: { product: RELOAD } }, then: [{ status: Failed }] }\n",
            "there is no key 'not' here: it belongs in the value of another key, such as reseller: { not: … }",
        ),
        (
            "schedule:\n  - { at: 5s, deposit: 10 }\n",
            "must be an object, not 10; its keys are reseller, amount, description, type",
        ),
    ],
)
def test_a_value_in_the_wrong_shape_is_told_what_the_right_one_holds(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(D + text, "utf-8")
    assert [problem.message for problem in problems(file)] == [told]
