"""Refids that count as the same: the same refid first, then the first with the same spelling."""

import pytest

from simulator.domain.model.transactions import Status, Step
from tests.support.worlds import order, pay, rule, sandbox

PAID = rule(Step(Status.SUCCESSFUL))


@pytest.mark.parametrize(
    ("asked", "found"),
    [("Order-1", "Order-1"), ("order-1", "order-1"), ("ORDER-1", "Order-1"), ("ORDER-2", "order-2"), ("order-3", None)],
)
def test_an_identical_refid_is_found_before_the_first_with_the_same_spelling(asked: str, found: str | None) -> None:
    box = sandbox(PAID)
    refids = box.state.resellers["R1"].refids
    pay(box, order("Order-1"))
    assert refids.find_alike("none", str.casefold) is None
    for refid in ("order-1", "order-2"):
        pay(box, order(refid))
    alike = refids.find_alike(asked, str.casefold)
    assert (None if alike is None else alike.refid) == found


def test_another_spelling_is_another_comparison() -> None:
    box = sandbox(PAID)
    refids = box.state.resellers["R1"].refids
    pay(box, order("Order-1 "))
    assert refids.find_alike("order-1 ", str.casefold) is not None
    assert refids.find_alike("order-1 ", str.strip) is None
    assert refids.find_alike("Order-1", str.strip) is not None
    assert refids.get("Order-1") is None
