"""Where what a sandbox keeps beside its memory joins the worlds: a process that crashes, and proofs of a run."""

import pytest

from tools.worlds.runs import Broken, live_through
from tools.worlds.steps import Step, run_step
from tools.worlds.world import Setting, world

SETTING = Setting(variant=0, mode="real", items_per_turn=200, started_per_turn=25, mood="fine")
PAYMENT = {"box": "default", "who": "R1", "refid": 1, "product": "RELOAD", "account": "0000001", "amount": "10"}


def test_a_crashed_process_does_nothing_more() -> None:
    with world(0, SETTING) as made:
        run_step(made, Step("pay", PAYMENT))
        made.loop.settle()
        live = made.find("default")
        assert live is not None
        assert len(live.core.state.transactions) == 1
        made.crash()
        made.begin()
        made.loop.pass_time(1000.0)
        made.look()
        again = made.find("default")
        assert again is not None
        assert again is not live
        assert not again.core.state.transactions, "memory alone does not outlive the process"
        assert not made.network.arrivals, "the callbacks of the first process were never sent"
        assert not made.problems()


def test_callbacks_of_a_process_that_lives_are_sent() -> None:
    with world(0, SETTING) as made:
        run_step(made, Step("pay", PAYMENT))
        made.loop.pass_time(1000.0)
        assert len(made.network.arrivals) == 2


def test_a_proof_sees_the_world_as_it_ended() -> None:
    seen: list[int] = []

    def proof(made: object) -> list[str]:
        seen.append(1)
        return ["the tape says otherwise"]

    with pytest.raises(Broken, match="the tape says otherwise"):
        live_through(0, [Step("pay", PAYMENT)], SETTING, proofs=(proof,))
    assert seen == [1]
