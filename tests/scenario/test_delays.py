"""Delays as distributions: read, refused when impossible, and drawn for answers, steps, callbacks and receivers."""

from typing import Any

import pytest

from simulator.scenario.library import scenario_from_object
from simulator.scenario.reading.nodes import ScenarioError
from tests.support.client import running
from tests.support.replaying import assert_replays

SHAPE = {"median": "80ms", "p99": "2s"}
STEPS: list[dict[str, Any]] = [{"status": "Accepted"}, {"after": SHAPE, "status": "Processing"}]


@pytest.mark.parametrize(
    ("shape", "path", "said"),
    [
        ({"median": "2s", "p99": "1s"}, "p99", "p99 1s, which 99 of 100 delays stay below, is below the median 2s"),
        ({"median": "0s", "p99": "1s"}, "median", "the median of a distribution is above 0"),
        ({"median": "1s"}, "", "'p99' is missing"),
    ],
)
@pytest.mark.parametrize("where", ["fault", "step", "callbacks", "inbox"])
def test_impossible_pairs_are_explained(shape: dict[str, str], path: str, said: str, where: str) -> None:
    documents: dict[str, dict[str, Any]] = {
        "fault": {"faults": [{"when": {"path": "/v2/topup"}, "then": {"delay": shape}}]},
        "step": {"payments": [{"then": [STEPS[0], {"after": shape, "status": "Processing"}]}]},
        "callbacks": {
            "payments": [
                {
                    "when": {"product": "RELOAD"},
                    "then": [*STEPS[:1], {"after": "1s", "status": "Failed"}],
                    "callbacks": {"delay": shape},
                }
            ]
        },
        "inbox": {"inboxes": {"callbacks": [{"delay": shape}]}},
    }
    with pytest.raises(ScenarioError) as refused:
        scenario_from_object({"extends": "default", **documents[where]})
    (problem,) = refused.value.problems
    assert said in problem.message
    assert problem.path.endswith(path)


def test_the_steps_of_each_payment_have_times_of_their_own_which_a_replay_draws_again() -> None:
    timeline = [*STEPS, {"after": {"median": "1s", "p99": "4s"}, "status": "Succesful"}]
    with running() as client:
        client.sandbox({"extends": "default", "payments": [{"then": timeline}]}, "mine")
        for refid in ("a", "b", "c"):
            client.pay(refid, sandbox="mine")
        client.sim("POST", "/sandboxes/mine/clock/advance", {"until": "idle"})
        found = [
            [(step.at - one.created).total_seconds() for step in one.results]
            for one in client.app.sandboxes.get("mine").core.state.transactions.values()
        ]
        assert len({tuple(times) for times in found}) == 3
        assert all(times == sorted(times) for times in found)
        assert_replays(client.app)


def test_a_late_callback_is_as_late_as_its_payment_draws() -> None:
    steps = [STEPS[0], {"after": "1s", "status": "Succesful"}]
    with running() as client:
        rule = {"then": steps, "callbacks": {"delay": {"median": "10s", "p99": "60s"}}}
        client.sandbox({"extends": "default", "payments": [rule]}, "mine")
        for refid in ("a", "b"):
            client.pay(refid, sandbox="mine")
        client.sim("POST", "/sandboxes/mine/clock/advance", {"until": "idle"})
        state = client.app.sandboxes.get("mine").core.state
        late = {(one.attempts[0].at - one.result.at).total_seconds() for one in state.callbacks}
        assert len(late) == 2
        assert all(0 < one < 600 for one in late)
        assert_replays(client.app)


def test_an_answer_waits_for_a_time_that_is_drawn() -> None:
    fault = {"when": {"path": "/v2/balance"}, "then": {"delay": {"median": "1ms", "p99": "2ms"}}}
    with running() as client:
        client.sandbox({"extends": "default", "faults": [fault]}, "mine")
        assert client.call("GET", "/v2/balance", sandbox="mine").status == 200
        assert_replays(client.app)


def test_a_receiver_that_takes_too_long_by_chance_gives_no_answer() -> None:
    with running() as client:
        inbox = [{"delay": {"median": "1ms", "p99": "2ms"}}]
        client.sandbox({"extends": "default", "inboxes": {"callbacks": inbox}}, "mine")
        client.pay("a", sandbox="mine")
        client.sim("POST", "/sandboxes/mine/clock/advance", {"until": "idle"})
        states = {one.state for one in client.app.sandboxes.get("mine").core.state.callbacks}
        assert states == {"delivered"}
