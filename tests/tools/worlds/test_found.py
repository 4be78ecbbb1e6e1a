"""Defects that the worlds found, each as the shortest steps that show it."""

from tools.worlds.runs import live_through
from tools.worlds.steps import Step
from tools.worlds.world import Setting

ORDINARY = Setting(variant=5, mode="real", items_per_turn=200, started_per_turn=25, mood="fine")


def test_items_due_after_an_advance_of_a_running_clock_happen_at_their_time() -> None:
    """The timer was set before the advance, for a time that the clock had passed, and so was late by as much."""
    steps = [
        Step("advance", {"box": "default", "by": 300}),
        Step("wait", {"seconds": 2.0}),
        Step("deposit", {"box": "default", "who": "R2", "amount": "50.00"}),
    ]
    live_through(0, steps, ORDINARY)
