"""`GET /v2/networkstatus` and the control API's hand on it (SPEC 2.7, 4.9)."""

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.scenario.library import load_scenario
from tests.support.client import Client, running

SET = "/sandboxes/default/network"


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as made:
        yield made


def status(client: Client, product: str = "ELECTRIC") -> Any:
    return client.call("GET", f"/v2/networkstatus?product={product}").data["network_status"]


def test_the_default_scenario_interrupts_fp_alone(client: Client) -> None:
    answer = client.call("GET", "/v2/networkstatus?product=FP")
    assert (answer.status, answer.json) == (
        200,
        {
            "data": {
                "product_code": "FP",
                "product_name": "Faulty Phone Reload",
                "product_img": "https://images.example.com/products/fp.png",
                "network_status": "Interruption",
            },
            "metadata": {"status_code": 200, "last_updated": "21-11-2026 12:00:00"},
        },
    )
    codes = set(client.call("GET", "/v2/catalog?include_inactive=true").json["products"]) - {"FP"}
    assert {status(client, code) for code in codes} == {"Healthy"}


def test_a_scenario_plans_interruptions_over_time() -> None:
    plan = [{"at": "60s", "status": "Interruption"}, {"at": "2m", "status": "Healthy"}]
    with running({"network": {"ELECTRIC": plan}}) as client:
        seen = [status(client)]
        for seconds in (59, 1, 59, 1):
            client.advance(seconds)
            seen.append(status(client))
        assert seen == ["Healthy", "Healthy", "Interruption", "Interruption", "Healthy"]
        assert client.advance(until="idle")["fired"] == [], "nothing of it is on the agenda"
        assert status(client, "FP") == "Interruption", "what is inherited stays"


def test_a_scenario_may_undo_inherited_network_failures() -> None:
    with running({"network": {"FP": "Healthy"}}) as client:
        assert status(client, "FP") == "Healthy"


def test_a_status_is_set_while_it_runs_and_forgotten_by_a_reset(client: Client) -> None:
    for wanted in ("Interruption", "Healthy", "Interruption"):
        answer = client.sim("PUT", f"{SET}/ELECTRIC", {"status": wanted})
        assert (answer.status, answer.json) == (200, {"product": "ELECTRIC", "status": wanted})
        assert status(client) == wanted
    client.advance(3600)
    assert status(client) == "Interruption"
    client.sim("POST", "/sandboxes/default/reset")
    assert status(client) == "Healthy"


def test_another_sandbox_keeps_its_own(client: Client) -> None:
    client.sim("POST", "/sandboxes", {"id": "other"})
    client.sim("PUT", "/sandboxes/other/network/ELECTRIC", {"status": "Interruption"})
    assert status(client) == "Healthy"


@pytest.mark.parametrize("body", [None, {}, {"status": "Down"}, {"status": 1}, {"status": "Healthy", "at": "1s"}, []])
def test_only_the_two_statuses_can_be_set(client: Client, body: Any) -> None:
    refused = client.sim("PUT", f"{SET}/FP", body)
    assert (refused.status, refused.json["error"]) == (400, "bad_request")
    assert status(client, "FP") == "Interruption"


@pytest.mark.parametrize(
    ("path", "code"),
    [(f"{SET}/NONE", "unknown_product"), ("/sandboxes/none/network/FP", "unknown_sandbox")],
)
def test_there_must_be_such_a_product_and_sandbox(client: Client, path: str, code: str) -> None:
    refused = client.sim("PUT", path, {"status": "Healthy"})
    assert (refused.status, refused.json["error"]) == (404, code)


@pytest.mark.parametrize(
    "query",
    ["", "product=", "product=NONE", "product=fp", "product=FP&product=FP", "product=%ff", "product=" + "P" * 101],
)
def test_a_product_must_be_named_and_known(client: Client, query: str) -> None:
    refused = client.call("GET", f"/v2/networkstatus?{query}")
    assert (refused.status, list(refused.json["errors"])) == (400, ["product"])


def test_an_interruption_does_not_touch_payments_unless_a_rule_says_so(client: Client) -> None:
    assert client.pay("a", "5", "FP").data["status"] == "Accepted"
    rule = {"when": {"product": "FP"}, "then": [{"status": "Failed", "remarks": "interrupted"}]}
    client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule})
    assert client.pay("b", "5", "FP").data["remarks"] == "interrupted"


@pytest.mark.parametrize(
    ("environment", "network", "shown"),
    [
        ("staging", {}, "Interruption"),
        ("staging", {"ELECTRIC": "Healthy"}, "Interruption"),
        ("production", {}, "Healthy"),
        ("production", {"FP": "Interruption"}, "Interruption"),
    ],
)
def test_staging_interrupts_fp_of_any_catalog(environment: str, network: dict[str, str], shown: str) -> None:
    own = {"resellers": load_scenario("default").document["resellers"], "environment": environment}
    own |= {"catalog": load_scenario("default").document["catalog"], "network": network}
    with running({"extends": None, **own}) as made:
        assert status(made, "FP") == shown
        assert status(made) == "Healthy"
