"""An unknown path of the control API is answered with the nearest existing path."""

import pytest

from tests.support.client import running

MEANT = {
    "/_sim/sandboxes/default/clock/advanced": "/_sim/sandboxes/default/clock/advance",
    "/_sim/sandboxes/mine/transaction": "/_sim/sandboxes/mine/transactions",
    "/_sim/sandboxes/mine/transaction/17": "/_sim/sandboxes/mine/transactions/17",
    "/_sim/sandbox": "/_sim/sandboxes",
    "/_sim/sandboxes/": "/_sim/sandboxes",
    "/_sim/healthz": "/_sim/health",
    "/_sim/clock": "/_sim/sandboxes/default/clock",
    "/_sim/requests": "/_sim/sandboxes/default/requests",
    "/_sim/faults": "/_sim/sandboxes/default/rules",
    "/_sim/sandboxes/mine/faults": "/_sim/sandboxes/mine/rules",
    "/_sim/balance": "/_sim/sandboxes/default/resellers",
}


@pytest.mark.parametrize("path", MEANT)
def test_a_path_that_does_not_exist_is_answered_with_the_nearest(path: str) -> None:
    with running() as client:
        answer = client.sim("GET", path.removeprefix("/_sim"))
    assert answer.status == 404
    assert answer.json["message"].endswith(f"; did you mean {MEANT[path]}?")


@pytest.mark.parametrize("path", ["/_sim/qqqqqqq", "/_sim/" + "x" * 300])
def test_other_paths_are_answered_with_the_page_of_all(path: str) -> None:
    with running() as client:
        answer = client.sim("GET", path.removeprefix("/_sim"))
    assert "/_sim/docs lists them" in answer.json["message"]
