"""The client makes sandboxes, moves their time and changes their rules; both clients alike."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from reseller_sim import NoAnswer, NotIdle, NotRunning, Sandbox, Simulator, SimulatorError
from reseller_sim.control import Control
from tests.support.both_clients import PAIRS, public

PAYMENT = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}
DECLINE = {"name": "declined", "when": {"product": "RELOAD"}, "then": [{"status": "Failed", "remarks": "HC"}]}
LOST = {"when": {"path": "/v2/topup"}, "times": 1, "then": {"after_commit": True, "disconnect": True}}
YAML = "extends: default\nseed: 3\n"


@pytest.mark.parametrize(("sync", "asynchronous"), PAIRS)
def test_both_clients_offer_the_same_names(sync: type, asynchronous: type) -> None:
    assert public(sync) - {"control"} == public(asynchronous)


def test_a_sandbox_is_deleted_at_the_end_of_with(client: Any) -> None:
    with client.sandbox(id="brief") as sandbox:
        assert sandbox.id in {one["id"] for one in client.sandboxes()}
    assert "brief" not in {one["id"] for one in client.sandboxes()}


def test_a_sandbox_has_the_largest_seed_there_is(client: Any) -> None:
    with client.sandbox(id="far", seed=2**63 - 1) as sandbox:
        assert sandbox.seed == 2**63 - 1
        assert "far" in {one["id"] for one in client.sandboxes()}


def test_with_does_not_mind_that_the_sandbox_is_gone(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.delete()


def test_an_opened_sandbox_outlives_with(client: Any) -> None:
    with client.open("default") as sandbox:
        assert sandbox.id == "default"
    assert client.open().call("GET", "/v2/balance").status == 200


def test_a_signed_request_is_answered(client: Any) -> None:
    with client.sandbox() as sandbox:
        answer = sandbox.call("POST", "/v2/topup", PAYMENT)
        assert (answer.status, answer.json()["data"]["refid"], answer.diagnosis) == (200, "order-1", "")
        assert sandbox.call("GET", "/v2/catalog?product_code=RELOAD&is_active=true").status == 200


def test_a_refused_request_is_an_answer_with_its_diagnosis(client: Any) -> None:
    with client.sandbox() as sandbox:
        answer = sandbox.call("GET", "/v2/catalog?is_activ=true")
        assert "is_activ" in answer.diagnosis


def test_a_request_without_a_response_is_an_error_of_its_own(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.fault(LOST)
        with pytest.raises(NoAnswer, match="POST /v2/topup got no complete response"):
            sandbox.call("POST", "/v2/topup", PAYMENT)
        assert sandbox.transaction("order-1")["status"] == "Accepted"


@pytest.mark.parametrize("by", ["90s", 90, 90.0, "1m30s", timedelta(seconds=90)])
def test_the_clock_advances_by_a_duration(client: Any, by: Any) -> None:
    with client.sandbox(start="2027-01-01T00:00:00+00:00") as sandbox:
        sandbox.advance(by)
        assert sandbox.now == datetime(2027, 1, 1, 0, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize("to", ["2027-01-02T00:00:00Z", datetime(2027, 1, 2, tzinfo=UTC)])
def test_the_clock_advances_to_a_time(client: Any, to: Any) -> None:
    with client.sandbox(start=datetime(2027, 1, 1, tzinfo=UTC)) as sandbox:
        sandbox.advance(to=to)
        assert sandbox.now == datetime(2027, 1, 2, tzinfo=UTC)


def test_until_idle_everything_happens(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        done = sandbox.run_until_idle()
        assert (done["idle"], done["fired"][-1]["status"]) == (True, "Succesful")


def test_a_sandbox_that_is_never_idle_says_what_is_left(client: Any) -> None:
    distant = {"at": "400d", "deposit": {"reseller": "RS001", "amount": "1.00"}}
    with client.sandbox({"extends": "default", "schedule": [distant]}) as sandbox:
        sandbox.call("POST", "/v2/topup", PAYMENT)
        with pytest.raises(NotIdle) as raised:
            sandbox.run_until_idle()
        assert re.search(
            r"(?s)^the sandbox is not idle: .*days.*; next: deposit .*order-1: .*Succesful", str(raised.value)
        )
        assert raised.value.report["idle"] is False


def test_a_rule_decides_until_it_is_removed(client: Any) -> None:
    with client.sandbox() as sandbox:
        rule = sandbox.rule("payments", DECLINE)
        sandbox.call("POST", "/v2/topup", PAYMENT)
        rule.remove()
        sandbox.call("POST", "/v2/topup", PAYMENT | {"refid": "order-2", "account": "0123456780"})
        sandbox.run_until_idle()
        sandbox.expect_status("order-1", "Failed")
        sandbox.expect_status("order-2", "Succesful")


@pytest.mark.parametrize("amount", ["500.00", 500, Decimal("500.00")])
def test_a_deposit_credits_the_first_reseller(client: Any, amount: Any) -> None:
    with client.sandbox() as sandbox:
        entry = sandbox.deposit(amount, description="topped up")
        assert (entry["amount"], entry["type"]) == (500, "DEPOSIT")
        sandbox.expect_balance("5500.00")


def test_a_reset_returns_to_the_start(client: Any) -> None:
    with client.sandbox() as sandbox:
        sandbox.deposit(1)
        sandbox.reset()
        assert sandbox.balance() == 5000


def test_a_rewind_returns_to_a_moment_and_a_fork_begins_there(client: Any) -> None:
    with client.sandbox() as sandbox:
        first = sandbox.now
        mark = sandbox.mark("before the order")
        assert (mark["name"], mark["n"]) == ("before the order", 0)
        sandbox.call("POST", "/v2/topup", PAYMENT)
        with sandbox.fork("before the order") as early, sandbox.fork() as late:
            assert early.transactions() == []
            late.run_until_idle()
            late.expect_status("order-1", "Succesful")
        sandbox.advance("1h")
        for moment in ({"mark": "before the order"}, {"to": first}, {"n": 0}):
            sandbox.advance("1s")
            sandbox.call("POST", "/v2/topup", PAYMENT)
            sandbox.rewind(**moment)
            assert sandbox.transactions() == []
            assert sandbox.now == first
        for wrong in (sandbox.rewind, lambda: sandbox.rewind("a", n=1), lambda: sandbox.fork("a", to=first)):
            with pytest.raises(SimulatorError, match="one of mark, to and n"):
                wrong()
        with pytest.raises(SimulatorError, match="there is no mark 'nowhere'"):
            sandbox.rewind("nowhere")


@pytest.mark.parametrize("scenario", ["default", {"extends": "default"}, YAML])
def test_a_scenario_is_a_name_a_mapping_or_yaml(client: Any, scenario: Any) -> None:
    with client.sandbox(scenario, start="2027-01-01T00:00:00+00:00", seed=7) as sandbox:
        assert (sandbox.seed, sandbox.now.year) == (7, 2027)
        assert sandbox.ask("GET", "/clock")["mode"] == "manual"


@pytest.mark.parametrize("kind", [str, Path])
def test_a_scenario_is_a_file(client: Any, tmp_path: Path, kind: Any) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: default\nclock: { mode: real, start: 2026-12-01T00:00:00+08:00 }\n")
    with client.sandbox(kind(file)) as sandbox:
        clock = sandbox.ask("GET", "/clock")
        assert (clock["mode"], clock["now"][:10]) == ("manual", "2026-11-30")
    with client.sandbox(kind(file), clock=None) as sandbox:
        assert sandbox.ask("GET", "/clock")["mode"] == "real"


@pytest.mark.parametrize("scenario", [None, YAML])
def test_a_clock_runs_faster(client: Any, scenario: str | None) -> None:
    with client.sandbox(scenario, clock="x60") as sandbox:
        assert sandbox.ask("GET", "/clock") | {"now": ""} == {
            "mode": "xN", "now": "", "rate": 60.0, "pending": 0, "next_due": None, "advancing": None,
        }  # fmt: skip


def test_unique_credentials_lead_to_the_sandbox_from_the_root(client: Any) -> None:
    with client.sandbox(credentials="unique") as sandbox:
        assert sandbox.api_key != "test_key_RS001"
        assert sandbox.environment["RESELLER_API_KEY"] == sandbox.api_key


def test_the_environment_is_what_exec_sets(own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert own.environment == {
        "RESELLER_BASE_URL": own.url,
        "RESELLER_API_KEY": own.api_key,
        "RESELLER_API_SECRET": own.api_secret,
        "RESELLER_USERNAME": own.username,
        "RESELLER_PASSWORD": own.password,
        "RESELLER_SANDBOX": own.id,
        "RESELLER_SIM_URL": own.control_url.partition("/sandboxes")[0],
        "RESELLER_SIM_KEY": own.api_key,
        "RESELLER_SIM_SECRET": own.api_secret,
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


def test_a_refusal_of_the_control_api_is_a_typed_error_with_its_sentence(client: Any) -> None:
    with pytest.raises(SimulatorError, match="there is no bundled scenario 'defaul'") as refused:
        client.sandbox("defaul")
    assert (refused.value.status, refused.value.path) == (400, "scenario")


def test_problems_of_a_scenario_have_their_lines(client: Any) -> None:
    with pytest.raises(SimulatorError, match="line 2, payment") as refused:
        client.sandbox("extends: default\npayment: []\n")
    assert len(refused.value.problems) == 1
    assert str(refused.value) == f"{refused.value.problems[0]} (400 bad_scenario)"


def test_problems_of_a_file_have_its_path(client: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: default\npayment: []\n")
    with pytest.raises(SimulatorError, match=f"^{re.escape(str(file))}:2, payment: there is no key"):
        client.sandbox(file)


def test_without_a_simulator_the_error_says_what_to_start() -> None:
    with pytest.raises(NotRunning, match=r"start one with `reseller-sim serve` or `Simulator.start\(\)`"):
        Simulator("http://127.0.0.1:9").health()


def test_a_request_to_a_simulator_that_is_gone_says_what_to_start() -> None:
    described = {
        "id": "gone",
        "scenario": "default",
        "seed": 1,
        "resellers": [{"api_key": "key", "api_secret": "c2VjcmV0"}],
    }
    with pytest.raises(NotRunning, match="start one with"):
        Sandbox(Control("http://127.0.0.1:9"), described).call("GET", "/v2/balance")


@pytest.mark.parametrize("suffix", ["", "/", "/_sim", "/_sim/"])
def test_the_environment_names_the_simulator(server: str, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setenv("RESELLER_SIM_URL", server + suffix)
    assert Simulator().health()["status"] == "ok"
    assert (Simulator().url, Simulator().control_url) == (server, f"{server}/_sim")


@pytest.mark.parametrize("name", ["RESELLER_SIM_TOKEN", "RESELLER_SIM_CONTROL_TOKEN"])
def test_the_environment_names_the_token(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "secret-token")
    assert Simulator().control.token == "secret-token"
    assert Simulator("http://127.0.0.1:9").control.token is None, "it is another server's"


def test_a_default_is_the_address_of_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RESELLER_SIM_URL", raising=False)
    assert Simulator().url == "http://127.0.0.1:8080"
