"""Refids that count as the same: the same refid first, then the first with the same spelling."""

import pytest

from simulator.domain.model.transactions import Status, Step
from simulator.domain.state import payment_with
from tests.support.worlds import order, pay, rule, sandbox

PAID = rule(Step(Status.SUCCESSFUL))


def found(choice: str, made: tuple[str, ...], asked: str) -> str | None:
    """The refid of the payment that is found in a sandbox where these were made, each with a spelling of its own."""
    box = sandbox(PAID)
    for refid in made:
        pay(box, order(refid))
    box.state.scenario.assume["refid-comparison"] = choice  # type: ignore[index]  # made for this sandbox
    box.state.follow(box.state.scenario)
    one = payment_with(box.state, box.state.resellers["R1"], asked)
    return None if one is None else one.refid


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("Order-1", "Order-1"), ("order-1", "order-1"), ("ORDER-1", "Order-1"), ("ORDER-2", "order-2"), ("order-3", None)],
)
def test_an_identical_refid_is_found_before_the_first_with_the_same_spelling(asked: str, expected: str | None) -> None:
    assert found("case_insensitive", ("Order-1", "order-1", "order-2"), asked) == expected


@pytest.mark.parametrize(
    ("choice", "asked", "expected"),
    [
        ("case_insensitive", "order-1 ", "Order-1 "),
        ("trimmed", "order-1 ", None),
        ("trimmed", "Order-1", "Order-1 "),
        ("exact", "Order-1", None),
    ],
)
def test_each_comparison_finds_its_own_spellings(choice: str, asked: str, expected: str | None) -> None:
    assert found(choice, ("Order-1 ",), asked) == expected
