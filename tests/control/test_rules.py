"""`/_sim/sandboxes/{id}/rules`: rules of a running sandbox, counted, added and taken out."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.library import check_text, load_scenario, names
from simulator.scenario.reading.scenario_files import bundled_path
from simulator.scenario.reading.yaml_parser import load_text
from simulator.scenario.sections.rule_sections import DEFINITIONS
from simulator.wire.formats import encode
from tests.support.client import Client, running

RULES = "/sandboxes/default/rules"
REAL_WAIT = (
    "each request waits 29 s of real time, although the clock is manual; write { virtual: 30s } to answer at once"
)
FAILED = [{"status": "Failed"}]


def counted(client: Client) -> dict[str, tuple[int, int]]:
    """How often each rule matched and was chosen."""
    rules = client.sim("GET", RULES).json["rules"]
    return {rule["name"] or rule["id"]: (rule["matched"], rule["chosen"]) for rule in rules}


def added(client: Client, section: str, **rule: Any) -> str:
    response = client.sim("POST", RULES, {"section": section, "rule": rule})
    assert response.status == 201, response.body
    found: str = response.json["id"]
    return found


def test_rules_are_listed_by_section_in_the_order_of_evaluation() -> None:
    scenario = {
        "extends": None,
        "payments": [{"fallback": True, "then": FAILED}, {"name": "mine", "then": FAILED}],
        "faults": [
            {"when": {"product": "A"}, "then": {"status": 500}},
            {"id": "early", "when": {"path": "/v2/balance"}, "then": {"status": 500}},
        ],
        "catalog": {
            "products": [
                {
                    "code": "A",
                    "name": "A",
                    "processing_time": "instant",
                    "discount": {"type": "fixed", "value": 0},
                }
            ]
        },
    }
    with running(scenario) as client:
        found = client.sim("GET", RULES).json
        assert [(rule["section"], rule["id"], rule["name"], rule["fallback"]) for rule in found["rules"]] == [
            ("payments", "payments-2", "mine", False),
            ("payments", "payments-1", None, True),
            ("faults", "faults-1", None, False),
            ("faults", "early", None, False),
        ]
        page = client.sim("GET", f"{RULES}?limit=3").json
        assert (len(page["rules"]), page["has_more"]) == (3, True)
        rest = client.sim("GET", f"{RULES}?limit=3&cursor={page['cursor']}").json
        assert [rule["id"] for rule in rest["rules"]] == ["early"]


def test_a_fault_has_counts_of_matches_and_of_choices() -> None:
    faults = [{"name": "third", "when": {"path": "/v2/balance", "nth": 3}, "then": {"status": 500}}]
    with running({"faults": faults}) as client:
        assert [client.call("GET", "/v2/balance").status for _ in range(4)] == [200, 200, 500, 200]
        assert counted(client)["third"] == (4, 1)


def test_a_fault_over_http_has_an_id_is_counted_and_can_be_taken_out() -> None:
    with running() as client:
        id_ = added(client, "faults", when={"path": "/v2/balance"}, times=2, then={"status": 500})
        assert [client.call("GET", "/v2/balance").status for _ in range(3)] == [500, 500, 200]
        assert counted(client)[id_] == (3, 2)
        assert client.sim("DELETE", f"{RULES}/{id_}").status == 204
        assert client.call("GET", "/v2/balance").status == 200
        assert id_ not in counted(client)


def test_an_added_rule_may_name_a_timeline_of_the_sandbox() -> None:
    with running({"timelines": {"lost": [{"status": "Processing", "remarks": "hangs"}]}}) as client:
        added(client, "payments", when={"amount": 10}, then="lost")
        added(client, "payments", when={"amount": 20}, then={"one_of": [{"then": "lost"}, {"then": FAILED}]})
        assert client.pay("a").json["data"]["remarks"] == "hangs"
        assert {client.pay(f"b{n}", amount="20").json["data"]["status"] for n in range(12)} == {"Processing", "Failed"}
        assert counted(client)["added-2"] == (12, 12)


def test_a_rule_that_a_request_names_is_counted() -> None:
    with running({"payments": [{"name": "no", "when": {"account": "x"}, "then": FAILED}]}) as client:
        client.pay(headers={"X-Sim-Rule": "no"})
        assert counted(client)["no"] == (0, 1), "it acted; its `when` was not asked"


@pytest.mark.parametrize("then", [{"status": 500}, {"after_commit": True, "status": 500}])
def test_a_fault_that_a_request_names_keeps_its_times_for_others(then: dict[str, Any]) -> None:
    fault = {"name": "once", "when": {"path": "/v2/balance"}, "times": 1, "then": then}
    third = {"name": "third", "when": {"path": "/v2/balance", "nth": 3}, "then": {"status": 502}}
    with running({"faults": [fault, third]}) as client:
        for _ in range(2):
            assert client.call("GET", "/v2/balance", headers={"X-Sim-Rule": "once"}).status == 500
        assert [client.call("GET", "/v2/balance").status for _ in range(3)] == [500, 200, 502]
        assert counted(client)["once"] == (3, 3)


# Conditions of a fault beside its counts: (the test, a request that meets it, another that does not)
BALANCE = ("GET", "/v2/balance", None)
CATALOG = ("GET", "/v2/catalog", None)
PAY = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": "10"}
GAME = {"refid": "s", "product": "GAME", "account": "player", "amount": "100"}


@pytest.mark.parametrize(
    ("when", "met", "spared"),
    [
        ({"method": "GET"}, BALANCE, ("POST", "/v2/topup", PAY)),
        ({"path": "/v2/b*"}, BALANCE, CATALOG),
        ({"reseller": "RS001", "path": "/v2/balance"}, BALANCE, CATALOG),
        ({"reseller": {"not": "RS001"}}, None, BALANCE),
        ({"account": {"prefix": "01"}}, ("POST", "/v2/topup", PAY), ("POST", "/v2/topup", GAME)),
        ({"product": "RELOAD"}, ("POST", "/v2/topup", PAY), ("POST", "/v2/topup", GAME)),
        ({"headers": {"X-Test": "a"}}, (*BALANCE, {"x-test": "a"}), (*BALANCE, {"X-Test": "b"})),
    ],
)
def test_a_fault_is_chosen_by_the_attributes_of_a_request(when: dict[str, Any], met: Any, spared: Any) -> None:
    with running({"faults": [{"when": when, "then": {"status": 418}}]}) as client:
        for request, is_met in ((met, True), (spared, False)):
            if request is not None:
                method, path, body, *headers = request
                answer = client.call(method, path, body, headers=headers[0] if headers else None)
                assert (answer.status == 418) is is_met


@pytest.mark.parametrize(
    ("counts", "statuses"),
    [
        ({"nth": 2}, [200, 418, 200, 200, 200, 200]),
        ({"times": 2}, [418, 418, 200, 200, 200, 200]),
        ({"every": 2}, [200, 418, 200, 418, 200, 418]),
        ({"every": 2, "times": 2}, [200, 418, 200, 418, 200, 200]),
    ],
)
def test_a_fault_is_chosen_by_how_often_it_matched(counts: dict[str, int], statuses: list[int]) -> None:
    with running({"faults": [{"when": {"path": "/v2/balance"}, **counts, "then": {"status": 418}}]}) as client:
        assert [client.call("GET", "/v2/balance").status for _ in statuses] == statuses


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("payments", {"when": {"acount": "1"}, "then": FAILED}, "when.acount", "unknown_key"),
    ("payments", {"then": [{"status": "Failed"}, {"after": "1s", "status": "Failed"}]}, "then[1].status", "timeline"),
    ("payments", {"when": {"product": "RELOD"}, "then": FAILED}, "when.product", "unknown_product"),
    ("voids", {"then": {"status": "Failed", "refund_after": "1s"}}, "then.refund_after", "misplaced"),
    ("bills", {"then": {"bill": {"Name": "x"}}}, "then.bill.Name", "unknown_key"),
    ("payments", {"then": "slow"}, "then", "unknown_timeline"),
    ("payments", {"then": ""}, "then", "out_of_range"),
    ("bills", {"then": {"one_of": [{"then": {"error": "unavailable"}}]}}, "then.one_of", "out_of_range"),
    ("payments", {"then": FAILED, "callbacks": [{"status": "Failed"}]}, "callbacks[0].status", "unreachable"),
    ("faults", {"then": {"drip": {}}}, "then.drip", "missing_key"),
    ("faults", {"then": {"malformed": True, "disconnect": True}}, "then.malformed", "misplaced"),
    ("faults", {"when": {"path": {"pattern": "("}}, "then": {"status": 500}}, "when.path.pattern", "bad_pattern"),
]  # fmt: skip


@pytest.mark.parametrize(("section", "rule", "path", "code"), REFUSED)
def test_a_bad_rule_is_reported_by_its_path_and_nothing_changes(
    section: str, rule: dict[str, Any], path: str, code: str
) -> None:
    with running() as client:
        before = counted(client)
        answer = client.sim("POST", RULES, {"section": section, "rule": rule})
        assert (answer.status, answer.json["error"], answer.json["path"]) == (400, "bad_scenario", path)
        assert [problem["code"] for problem in answer.json["problems"]] == [code]
        assert counted(client) == before


@pytest.mark.parametrize("query", ["limit=0", "cursor=x", "section=faults"])
def test_a_list_that_cannot_be_meant_is_refused(query: str) -> None:
    with running() as client:
        assert client.sim("GET", f"{RULES}?{query}").status == 400


def test_a_rule_above_the_limit_is_refused_until_another_is_removed() -> None:
    with running({"extends": None, "limits": {"rules": 3}, "payments": [{"then": FAILED}]}) as client:
        body = {"section": "faults", "rule": {"then": {"status": 500}, "when": {"path": "/v2/catalog"}}}
        first, _ = (added(client, section="faults", **body["rule"]) for _ in range(2))  # type: ignore[arg-type]
        refused = client.sim("POST", RULES, body)
        assert (refused.status, refused.json["error"]) == (409, "too_many_rules")
        assert len(counted(client)) == 3
        assert client.sim("DELETE", f"{RULES}/{first}").status == 204
        assert client.sim("POST", RULES, body).status == 201


# As they are written


@pytest.mark.parametrize("name", names())
def test_every_rule_is_shown_in_its_written_form_and_can_be_downloaded(name: str) -> None:
    with running(name) as client:
        written = load_scenario(name).document
        rules = client.sim("GET", f"{RULES}?limit=1000").json["rules"]
        assert len(rules) == sum(len(written.get(section, ())) for section in DEFINITIONS)
        for rule in rules:
            assert json.loads(encode(load_text(rule["yaml"], "f").data)) == {rule["section"]: [rule["rule"]]}
            home = f"extends: default\n{rule['yaml']}"
            assert {one["section"] for one in rules} <= set(DEFINITIONS)
            taken = check_text(home.encode(), None)
            assert {one.code for one in taken.errors} <= {"unknown_timeline"}, home
        shown = [(one["section"], one["rule"]) for one in rules]
        for section in DEFINITIONS:
            expected = json.loads(encode(written.get(section, [])))
            assert sorted(map(str, (rule for of, rule in shown if of == section))) == sorted(map(str, expected))


def test_an_added_rule_is_shown_in_its_sent_form() -> None:
    rule = {"name": "mine", "when": {"account": "0123"}, "then": [{"status": "Failed", "remarks": "HC"}]}
    with running() as client:
        added(client, "payments", **rule)
        first = client.sim("GET", f"{RULES}?limit=1").json["rules"][0]
        assert first["rule"] == rule
        assert first["yaml"].startswith("payments:")


def test_long_rules_are_listed_whole_and_fill_a_page() -> None:
    rule = {"then": {"one_of": [{"then": {"status": 500 + number, "body": "x" * 90_000}} for number in range(8)]}}
    with running() as client:
        ids = [added(client, "faults", **rule) for _ in range(3)]
        first = client.sim("GET", f"{RULES}?limit=1000").json
        assert first["rules"][-1]["rule"] == rule
        assert first["has_more"]
        found: list[str] = []
        cursor = ""
        while cursor is not None:
            page = client.sim("GET", f"{RULES}?limit=1000&cursor={cursor}".removesuffix("&cursor=")).json
            found += [one["id"] for one in page["rules"]]
            cursor = page["cursor"]
        assert set(ids) <= set(found)
        assert len(found) == len(set(found))


def test_a_secret_in_a_rule_is_not_shown() -> None:
    with running() as client:
        added(client, "faults", when={"headers": {"x-key": client.secret}}, then={"status": 500})
        response = client.sim("GET", RULES)
        assert client.secret.encode() not in response.body
        assert b"(not shown)" in response.body


def test_a_rule_says_where_it_is_written_and_which_scenario_that_is(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("extends: default\nfaults:\n  - name: own\n    then: { status: 500 }\n")
    with running(scenarios=tmp_path) as client:
        made = client.sim("POST", "/sandboxes", {"id": "mine", "scenario": {"file": "mine.yaml"}}).json
        assert made["origin"] == {"source": "folder", "name": "mine.yaml"}
        client.sim("POST", "/sandboxes/mine/rules", {"section": "faults", "rule": {"then": {"status": 501}}})
        found = {one["name"]: one["place"] for one in client.sim("GET", "/sandboxes/mine/rules").json["rules"]}
        assert found["own"] == {
            "file": "mine.yaml",
            "line": 3,
            "scenario": {"source": "folder", "name": "mine.yaml"},
        }
        assert found["ordinary"]["scenario"] == {"source": "bundled", "name": "default"}
        lines = bundled_path("default").read_text().splitlines()
        assert "name: ordinary" in lines[found["ordinary"]["line"] - 1]
        assert found[None] is None
        asked = client.sim("POST", "/sandboxes", {"id": "asked", "scenario": {"extends": "default"}}).json
        assert asked["origin"] is None


def test_a_sandbox_of_a_file_is_extended_by_a_file_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: default\nfaults:\n  - name: own\n    then: { status: 500 }\n")
    with running(str(file)) as client:
        assert client.sim("GET", "/sandboxes/default").json["origin"] == {"source": "file", "name": "mine.yaml"}
        rows = client.sim("GET", RULES).json["rules"]
        [place] = [one["place"] for one in rows if one["name"] == "own"]
        assert place == {"file": str(file), "line": 3, "scenario": None}


@pytest.mark.parametrize(
    ("when", "code", "message"),
    [
        ({"path": "/v2/topups"}, "unknown_path", "the service has no path '/v2/topups' (did you mean '/v2/topup'?)"),
        ({"method": "PUSH"}, "unknown_method", "the service has no method 'PUSH'"),
        ({"method": "GET", "path": "/v2/topup"}, "impossible", "no request matches: the path takes POST"),
        ({"path": "/v2/balance", "product": "RELOAD"}, "impossible", "no request matches: GET /v2/balance has no"),
        (
            {"amount": {"min": 5, "max": 4}},
            "impossible",
            "nothing matches: no value passes all parts of this condition",
        ),
    ],
)
def test_a_fault_that_no_request_meets_is_refused(when: dict[str, Any], code: str, message: str) -> None:
    with running() as client:
        refused = client.sim("POST", RULES, {"section": "faults", "rule": {"when": when, "then": {"status": 500}}})
        assert (refused.status, refused.json["problems"][0]["code"]) == (400, code)
        assert refused.json["message"].startswith(message)
        assert not any(rule["id"].startswith("added-") for rule in client.sim("GET", RULES).json["rules"])


@pytest.mark.parametrize(
    ("clock", "warnings"),
    [
        (
            "manual",
            [
                "each request waits 29 s of real time, although the clock is manual; "
                "write { virtual: 30s } to answer at once"
            ],
        ),
        ("real", []),
    ],
)
def test_a_real_wait_of_a_fault_is_a_warning(clock: str, warnings: list[str]) -> None:
    with running() as client:
        client.sim("POST", "/sandboxes", {"id": "mine", "clock": {"mode": clock}})
        rule = {"section": "faults", "rule": {"then": {"delay": "30s"}}}
        made = client.sim("POST", "/sandboxes/mine/rules", rule).json
        assert [
            text.partition(": ")[2][: len(warning)] for text, warning in zip(made["warnings"], warnings, strict=True)
        ] == warnings


def test_a_sandbox_whose_clock_is_manual_by_request_warns_of_real_waits() -> None:
    scenario = {
        "extends": "default",
        "faults": [{"name": "slow", "then": {"delay": "30s"}}],
        "inboxes": {"callbacks": [{"status": 200, "delay": "20s"}]},
    }
    of_inbox = (
        "inboxes.callbacks[0].delay: each message waits 5 s of real time, although the clock is manual; then the "
    )
    of_inbox += "attempt fails, as it does at once with `disconnect: true`"
    manual = [f"faults[0].then.delay: {REAL_WAIT}", of_inbox]
    with running() as client:
        for clock, warnings in (("manual", manual), ("real", [])):
            made = client.sim("POST", "/sandboxes", {"scenario": scenario, "clock": {"mode": clock}})
            assert made.json["warnings"] == warnings
        assert "warnings" not in client.sim("GET", "/sandboxes/default").json
