"""A fault's `delay: { virtual: … }` counts for the integration timeout, and costs no real time."""

import pytest

from simulator.scenario.library import scenario_from_object
from tests.support.client import running


def faults(then: dict[str, object]) -> dict[str, object]:
    return {"faults": [{"when": {"path": "/v2/topup"}, "then": then}]}


@pytest.mark.parametrize("spans", ["28s", ["10s", "28s"]])
def test_a_virtual_delay_answers_at_once(spans: object) -> None:
    with running({"clock": "manual", **faults({"delay": {"virtual": spans}})}) as client:
        before = client.live.clock.now()
        assert client.pay().status == 200
        assert client.live.clock.now() == before


@pytest.mark.parametrize("after_commit", [False, True])
def test_a_virtual_delay_beyond_the_integration_timeout_is_a_504(after_commit: bool) -> None:
    with running({"clock": "manual", **faults({"delay": {"virtual": "30s"}, "after_commit": after_commit})}) as client:
        assert client.pay().status == 504
        assert len(client.live.core.state.resellers["RS001"].history) == int(after_commit)


def test_a_rule_keeps_it_in_its_document() -> None:
    scenario = scenario_from_object({"extends": "default", **faults({"delay": {"virtual": "30s"}})})
    assert scenario.faults[0].then.is_delay_virtual
