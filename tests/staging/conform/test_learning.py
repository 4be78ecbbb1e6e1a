"""`conform` learns the settings of the simulator: each knob that it asks about, at each of its values."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from simulator.contract.register import assumptions
from simulator.scenario.library import scenario_from_object
from simulator.staging.conform.context import QUESTIONS
from simulator.staging.conform.findings import LearnedKnob, assume_block
from simulator.staging.conform.payment_runner import Order
from tests.support.client import Client, running
from tests.support.conforming import BILL, DATA, FAILING, GAME, RELOAD, conformed
from tests.support.webhooks import failed_job, put

REGISTER = {one.id: one for one in assumptions()}
CODES: tuple[Any, ...] = ({"Accepted": 1, "Succesful": 20}, {"Accepted": 101, "Succesful": 9})
# At the root, links without the sandbox's path look as relative ones do.
SEVERAL: dict[str, Any] = {"payment-status-codes": CODES, "statement-links": ("relative", "absolute")}


def some_history(client: Client) -> None:
    for number, amount in enumerate(("5", "10", "20")):
        client.pay(f"before-{number}", amount)
        client.advance(10)
        client.pass_time(10)


def a_failed_delivery(client: Client) -> None:
    put(client)
    failed_job(client)


# The preparation and the payment that make a knob visible.
BEFORE: dict[str, Callable[[Client], None]] = {
    "history-order": some_history,
    "history-meta": some_history,
    "history-offset": some_history,
    "history-category": some_history,
    "statement-order": some_history,
    "statement-summary": some_history,
    "retry-count": a_failed_delivery,
}
PAID: dict[str, tuple[Order, ...]] = {
    "subproduct-denomination": (DATA,),
    "payment-status-codes": (RELOAD, FAILING),
    "payment-timestamp": (RELOAD,),
    "failed-wallet": (FAILING,),
    "requery-balance": (RELOAD, GAME),
    "history-status-names": (RELOAD,),
    "voided-cost": (BILL,),
}
LESSONS = [(knob, value) for knob in QUESTIONS for value in SEVERAL.get(knob, REGISTER[knob].values)]


@pytest.mark.slow
@pytest.mark.parametrize(("knob", "value"), LESSONS)
def test_the_learned_knobs_match_the_settings_of_the_simulator(knob: str, value: Any) -> None:
    with running({"assume": {knob: value}}) as client:
        if knob in BEFORE:
            BEFORE[knob](client)
        made = conformed(client, *PAID.get(knob, ()), only={knob})
    assert made.unlearned == {}
    (learned,) = made.learned
    if isinstance(value, dict):
        assert value.items() <= learned.value.items()
    else:
        assert learned.value == value
    written = yaml.safe_load(assume_block(made.learned))
    assert written == {"assume": {knob: learned.value}}
    scenario_from_object({"scenario": "learned", "extends": "default", **written})


@pytest.mark.parametrize("knob", QUESTIONS)
def test_a_knob_that_cannot_be_seen_is_not_guessed(knob: str) -> None:
    """An empty service: every list is empty, and no payment exists."""
    key = {"key": "some-key", "secret": "c2VjcmV0LXNlY3JldC1zZWNyZXQ="}
    nothing: dict[str, Any] = {"extends": None, "catalog": {}, "resellers": [{"code": "R", "api_keys": [key]}]}
    with running(nothing) as client:
        made = conformed(client, only={knob}, configuration=False)
    assert len(made.learned) + len(made.unlearned) == 1
    if knob in PAID or knob in BEFORE:
        assert made.learned == ()
        assert made.unlearned[knob]


def test_evidence_is_a_comment_on_one_line_for_any_quotation() -> None:
    block = assume_block(
        [LearnedKnob("history-limit", "cap", "it said\nassume: {history-limit: reject}\x1b[2J\u2028# x")]
    )
    assert yaml.safe_load(block) == {"assume": {"history-limit": "cap"}}
    assert block.count("\n") == 3
