"""`conform` pays no more than it is allowed, also when a service misreports its payments."""

from collections.abc import Collection
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.staging.conform.findings import ConformReport, Departs
from simulator.staging.conform.payment_runner import PaymentRunner
from simulator.staging.conform.run import all_checks, all_questions, known_names
from simulator.staging.service import Answer, NoAnswer, Request
from tests.support.client import running
from tests.support.conforming import BILL, RELOAD, Damage, Sender, conformed, run_of
from tests.support.damages import CATALOG, DISPUTE, VOID, edited, put
from tests.support.liars import HONEST, Liar
from tests.support.tiers import examples

# A lie, and the checks that may name it.
LIARS: dict[str, tuple[Liar, set[str]]] = {
    "pays every POST, and says so": (Liar(), {"pay-idempotent"}),
    "pays every POST at no cost": (Liar(cost=0), {"pay-idempotent"}),
    "pays every POST at no cost, and never ends": (Liar(cost=0, status="Accepted"), {"pay-idempotent"}),
    "pays every POST, cost null": (Liar(cost=None, status="Accepted"), {"pay-idempotent"}),
    "pays every POST, without cost": (Liar(cost=..., status="Processing"), {"pay-idempotent"}),
    "pays every POST, cost negative": (Liar(cost=-1000, status="Accepted"), {"pay-idempotent"}),
    "pays every POST, cost a text": (Liar(cost="ten"), {"pay-idempotent"}),
    "pays every POST, cost a boolean": (Liar(cost=True), {"pay-idempotent"}),
    "pays every POST, too little cost": (Liar(cost=0.01), {"pay-idempotent"}),
    "pays every POST, too much cost": (Liar(cost=900), {"pay-idempotent"}),
    "pays every POST, and says that it failed": (Liar(cost=0, status="Failed"), {"pay-idempotent"}),
    "a frozen wallet": (Liar(is_frozen=True), {"pay-wallet"}),
    "a frozen wallet, no cost, never ends": (Liar(is_frozen=True, cost=0, status="Accepted"), {"pay-cost"}),
    "a frozen wallet, cost null": (Liar(is_frozen=True, cost=None, status="Accepted"), {"pay-created"}),
    "a frozen wallet, cost negative": (Liar(is_frozen=True, cost=-1000, status="Accepted"), {"pay-cost"}),
    "a frozen wallet, all failed": (Liar(is_frozen=True, cost=0, status="Failed"), {"pay-history"}),
    "a frozen wallet, all refused": (Liar(is_frozen=True, refuses=True), {"pay-created"}),
    "pays from the third POST": (Liar(pays="later", status="Accepted"), {"pay-idempotent"}),
    "a balance that cannot be read midway": (Liar(deaf_from=2), {"pay-wallet", "pay-history", "pay-created"}),
    "no balance after the fourth POST": (Liar(deaf_from=7, status="Accepted"), {"pay-idempotent"}),
    "a lost answer": (Liar(lost=frozenset({1})), {"pay-idempotent"}),
    "lost answers, at no cost": (Liar(cost=0, lost=frozenset({1, 2, 3})), {"pay-idempotent"}),
    "no answer at all": (Liar(lost=frozenset(range(1, 100))), {"pay-created", "pay-idempotent"}),
    "a lost re-query": (Liar(lost=frozenset({2}), status="Accepted"), {"pay-idempotent"}),
    "a catalog that is too cheap": (Liar(price="0.0001"), {"pay-idempotent"}),
    "a discount of all": (Liar(factor="0", cost=0), {"pay-idempotent"}),
    "a refid echoed as another": (Liar(echo="another", cost=0), {"pay-created"}),
}


PAYING = {check.id for check in all_checks() if check.needs == "payments"} | {one.id for one in all_questions()}
"""The checks that may pay; the other checks make up most of a run."""


def told(liar: Liar, limit: str, only: Collection[str] = PAYING) -> tuple[Liar, ConformReport]:
    """A run on a liar of what may pay, or of another selection; empty for a whole run."""
    liar = replace(liar, posts=[])
    with running({}) as client:
        return liar, conformed(client, RELOAD, RELOAD, BILL, limit=limit, damage=liar, configuration=False, only=only)


def test_no_other_check_pays() -> None:
    others = known_names() - PAYING
    liar, _ = told(LIARS["pays every POST, and says so"][0], "60", others)
    assert len(others) > 60
    assert liar.taken == 0


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["20.02", "30", "60"])
@pytest.mark.parametrize("lie", LIARS)
def test_a_liar_takes_no_more_than_is_allowed_and_is_named(lie: str, limit: str) -> None:
    liar, made = told(LIARS[lie][0], limit, () if limit == "60" else PAYING)
    assert 0 < liar.taken <= Decimal(limit)
    if limit == "60":  # with less it is not asked often enough for some lies
        assert {result.id for result in made.departed} & LIARS[lie][1], made.departed
        (idempotent,) = (result for result in made.results if result.id == "pay-idempotent")
        assert idempotent.outcome != "passed"
    assert Decimal(made.spent) >= (0 if liar.is_frozen else liar.taken if liar.deaf_from > 100 else 0)


def test_nothing_more_is_paid_after_a_refid_was_paid_twice() -> None:
    liar, made = told(LIARS["pays every POST, and says so"][0], "1000")
    once = sum(order.amount for order in (RELOAD, RELOAD, BILL))
    assert liar.taken == once + RELOAD.amount
    assert any("was paid twice, so nothing more is paid" in result.why for result in made.of("not exercised"))


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    limit=st.sampled_from(["10.01", "20.02", "25", "33.33", "60"]),
    liar=st.builds(
        Liar,
        pays=st.sampled_from(["first", "every", "later"]),
        cost=st.sampled_from([HONEST, 0, None, ..., -1000, "x", True, 0.01, 900]),
        status=st.sampled_from(["", "Accepted", "Processing", "Failed", "Succesful", "Other"]),
        is_frozen=st.booleans(),
        deaf_from=st.integers(0, 12) | st.just(10_000),
        lost=st.frozensets(st.integers(1, 12), max_size=6),
        price=st.sampled_from(["", "0.0001", "0"]),
        factor=st.sampled_from(["", "0", "0.5"]),
        echo=st.sampled_from(["", "another"]),
        refuses=st.booleans(),
    ),
)
def test_the_truth_never_exceeds_the_limit(limit: str, liar: Liar) -> None:
    liar, made = told(liar, limit)
    assert liar.taken <= Decimal(limit)
    assert Decimal(made.spent) >= 0
    if liar.taken and liar.deaf_from > 100:
        assert Decimal(made.spent) >= liar.taken


PRICES: dict[str, Damage] = {
    "denomination_unit_price: expected a usable price, got NaN": Liar(price="NaN"),
    "denomination_unit_price: expected a usable price, got x": Liar(price="x"),
    "pricing.unit_price: expected a usable price, got Infinity": Liar(factor="Infinity"),
    "pricing.unit_price: expected a usable price, got null": edited(CATALOG, put("products.RELOAD.pricing", ...)),
    "denomination_unit_price x pricing.unit_price: expected a usable price, got 9": Liar(factor="9" * 27),
}


@pytest.mark.parametrize("message", PRICES)
def test_an_invalid_price_is_refused(message: str) -> None:
    with running({}) as client:
        run = run_of(client, damage=PRICES[message])
        with pytest.raises(Departs, match=rf"products\.RELOAD\.{message}"):
            PaymentRunner(run.session, (RELOAD,), Decimal(100), run.products, 0).check_plan()


@pytest.mark.parametrize(
    ("price", "most"), [("0.0001", "10.01"), ("0", "10.01"), ("-50", "10.01"), ("1", "10.01"), ("4", "40.01")]
)
def test_a_catalog_never_makes_a_ceiling_less_than_what_is_sent(price: str, most: str) -> None:
    pricing: dict[str, Any] = {"discount": {"type": "fixed"}, "unit_price": "-9.99"}
    products = {"RELOAD": {"denomination_unit_price": price, "pricing": pricing}}
    with running({}) as client:
        runner = PaymentRunner(run_of(client).session, (RELOAD,), Decimal(100), products, 0)
    assert runner.ceiling("RELOAD", Decimal(10)) == Decimal(most)


@pytest.mark.parametrize(("path", "check"), [(DISPUTE, "dispute"), (VOID, "void")])
def test_a_dispute_or_void_that_costs_is_named(path: str, check: str) -> None:
    liar = Liar(pays="first")

    def costing(send: Sender, request: Request) -> Answer:
        if request.path == path and request.method == "POST":
            liar.taken += 1
        return liar(send, request)

    with running({}) as client:
        (result,) = conformed(client, BILL, only={check}, damage=costing).departed
    assert "the wallet" in result.departures[-1].field


def test_a_void_whose_answer_is_lost_is_not_sent_again() -> None:
    sent: list[Request] = []

    def losing(send: Sender, request: Request) -> Answer:
        if request.path == VOID:
            sent.append(request)
            send(request)
            raise NoAnswer("the connection was closed")
        return send(request)

    with running({}) as client:
        conformed(client, BILL, only={"void", "void-refund", "voided-cost"}, damage=losing)
    assert len(sent) == 1
