"""`/_sim/sandboxes/{id}/coverage`: what was met, counted where answers are given, and what never."""

import asyncio
from typing import Any

import pytest

from simulator.runtime.lives import SandboxSpec
from simulator.runtime.sandboxes import Sandboxes
from simulator.scenario.library import load_scenario
from tests.support.client import Client, running
from tests.support.wall import Wall


def coverage(client: Client, sandbox: str = "default") -> Any:
    answer = client.sim("GET", f"/sandboxes/{sandbox}/coverage")
    assert answer.status == 200, answer.body
    return answer.json


def endpoint(report: Any, method: str, path: str) -> Any:
    return next(one for one in report["endpoints"] if (one["method"], one["path"]) == (method, path))


def met(report: Any) -> set[str]:
    return {one["id"] for one in report["outcomes"] if one["met"]}


def test_a_new_sandbox_has_no_coverage() -> None:
    with running() as client:
        report = coverage(client)
    assert {name: share["met"] for name, share in report["summary"].items()} == dict.fromkeys(report["summary"], 0)
    assert min(share["total"] for share in report["summary"].values()) >= 3


def test_endpoints_are_counted_by_status_and_error() -> None:
    with running() as client:
        client.pay()
        client.pay("ref-2")
        client.pay("ref-3", product="NONE")
        client.call("GET", "/v2/balance", key="nobody")
        report = coverage(client)
    topup = endpoint(report, "POST", "/v2/topup")
    assert topup["calls"] == 3
    assert [(one["status"], one["error"], one["count"]) for one in topup["answers"]] == [
        (200, "", 2),
        (400, "Invalid_Product", 1),
    ]
    assert "401" in topup["never"]
    assert "400" not in topup["never"]
    assert endpoint(report, "GET", "/v2/balance")["answers"][0]["error"] == "invalid_api_key"
    assert endpoint(report, "GET", "/v2/catalog")["calls"] == 0
    assert report["summary"]["endpoints"]["met"] == 2
    assert {"invalid-product", "invalid-api-key", "status-401", "status-400"} <= met(report)


def test_errors_that_other_methods_or_our_own_mistakes_answer_are_not_missed() -> None:
    with running() as client:
        never = {status for one in coverage(client)["endpoints"] for status in one["never"]}
    assert {"200", "400", "401"} <= never
    assert not {"405", "500"} & never


def test_paths_with_parameters_count_as_one_endpoint_and_unknown_paths_as_another() -> None:
    with running() as client:
        for number in range(3):
            client.call("GET", f"/v2/balance-webhook/deliveries/{number}")
            client.call("GET", f"/v2/nothing/{number}")
            client.call(f"METHOD{number}", "/v2/topup")
            client.call("PATCH", f"/v2/balance-webhook/deliveries/{number}")
        report = coverage(client)
    job = "/v2/balance-webhook/deliveries/{jobId}"
    assert endpoint(report, "GET", job)["calls"] == 3
    assert endpoint(report, "*", job)["calls"] == 3
    assert endpoint(report, "*", "*")["calls"] == 3
    assert endpoint(report, "*", "/v2/topup")["answers"] == [{"status": 405, "error": "", "ending": "", "count": 3}]
    assert report["summary"]["endpoints"]["met"] == 1


def test_answers_are_counted_even_when_the_journal_has_evicted_them() -> None:
    with running({"limits": {"journal": 2}}) as client:
        for _ in range(5):
            client.call("GET", "/v2/balance")
        assert endpoint(coverage(client), "GET", "/v2/balance")["calls"] == 5


def test_a_closed_connection_does_not_count_as_an_answer() -> None:
    fault = {"when": {"path": "/v2/topup"}, "then": {"after_commit": True, "disconnect": True}}
    with running({"faults": [fault]}) as client:
        client.pay()
        report = coverage(client)
    [answer] = endpoint(report, "POST", "/v2/topup")["answers"]
    assert (answer["status"], answer["ending"]) == (0, "abort")
    assert "connection-closed" in met(report)
    assert (report["rules"][-1]["section"], report["rules"][-1]["chosen"]) == ("faults", 1)


def test_an_answer_that_drips_is_an_answer_like_any_other() -> None:
    fault = {"when": {"path": "/v2/balance"}, "then": {"drip": {"bytes_per_second": 1000}}}
    with running({"faults": [fault]}) as client:
        client.call("GET", "/v2/balance")
        report = coverage(client)
    [answer] = endpoint(report, "GET", "/v2/balance")["answers"]
    assert (answer["status"], answer["ending"], answer["count"]) == (200, "", 1)


def test_rules_report_how_often_they_matched_and_decided() -> None:
    rules = [{"name": "once", "when": {"product": "RELOAD"}, "times": 1, "then": [{"status": "Failed"}]}]
    with running({"payments": rules}) as client:
        client.pay()
        client.pay("ref-2")
        report = coverage(client)
    [once] = [one for one in report["rules"] if one["name"] == "once"]
    assert once == {
        "scenario": "test", "section": "payments", "id": "payments-1", "name": "once", "matched": 2, "chosen": 1,
    }  # fmt: skip
    assert report["summary"]["rules"]["met"] == 2


@pytest.mark.parametrize(
    ("digits", "product", "met_then"),
    [("01", "RELOAD", 1), ("09", "ELECTRIC", 0), ("13", "RELOAD", 1), ("17", "RELOAD", 1)],
)
def test_a_magic_outcome_is_met_where_it_decides(digits: str, product: str, met_then: int) -> None:
    account = f"01200000{digits}" if product == "RELOAD" else f"2100000000{digits}"
    with running() as client:
        client.pay(product=product, account=account)
        one = next(one for one in coverage(client)["magic"] if one["digits"] == digits)
        assert (one["met"], bool(one["outcome"])) == (met_then, True)
        if not met_then:
            client.advance(until="idle")
            client.call("POST", "/v2/transactions/void", {"refid": "ref-1", "refund_type": 1})
            one = next(one for one in coverage(client)["magic"] if one["digits"] == digits)
            assert (one["met"], one["chosen"]) == (1, {"payments": 1, "voids": 1})


def test_a_magic_rule_that_a_request_names_counts_too() -> None:
    with running() as client:
        client.pay(headers={"X-Sim-Rule": "magic-301"})
        assert next(one for one in coverage(client)["magic"] if one["digits"] == "01")["met"] == 1


def test_a_reset_clears_the_coverage_and_sandboxes_count_separately() -> None:
    with running() as client:
        client.sandbox({"scenario": "other", "extends": "default"}, "other")
        client.pay()
        assert coverage(client, "other")["summary"]["endpoints"]["met"] == 0
        client.sim("POST", "/sandboxes/default/reset")
        assert coverage(client)["summary"]["endpoints"]["met"] == 0


def test_the_figures_of_a_run_outlive_its_sandboxes_when_they_are_kept() -> None:
    async def main(*, keeps_coverage: bool) -> tuple[int, int]:
        made = Sandboxes(Wall(), lambda *_: None, keeps_coverage=keeps_coverage)  # type: ignore[arg-type]  # never sends
        for name in ("one", "two"):
            sandbox = made.create(SandboxSpec(load_scenario("default"), name, mode="manual"))
            sandbox.counters.answers["GET", "/v2/balance", 200, "", ""] = 1
        await made.get("one").reset()
        await made.delete("two")
        total = made.coverage()
        await made.close()
        return total.sandboxes, sum(total.answers.values())

    assert asyncio.run(main(keeps_coverage=True)) == (3, 2)
    assert asyncio.run(main(keeps_coverage=False)) == (1, 0)


@pytest.mark.parametrize(("path", "status"), [("nobody/coverage", 404), ("default/coverage?since=0", 400)])
def test_unknown_parameters_are_refused(path: str, status: int) -> None:
    with running() as client:
        assert client.sim("GET", f"/sandboxes/{path}").status == status
        assert client.sim("POST", f"/sandboxes/{path}", {}).status == 405
