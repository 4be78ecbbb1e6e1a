"""Verdicts: signs that a run failed, and signs that do not count."""

from collections import Counter
from dataclasses import replace

import pytest

from simulator.explore.fault_catalogue import Fault, single_faults
from simulator.explore.observation import Breach, Observation, OrderKey
from simulator.explore.run_verdicts import Kind, reasons, same
from tests.support.explored import ORDER, outcome, seen

BASELINE = outcome(seen())
OTHER = OrderKey("WATER", "0123", "5.00")
HARMLESS, REFUSED = (
    next(one for one in single_faults(seen()) if words in one.words) for words in ("answered 500", "refused")
)


def kinds(of: Observation, exit_code: int | None = 0, *faults: Fault) -> list[Kind]:
    return [one.kind for one in reasons(BASELINE, outcome(of, exit_code), faults or (HARMLESS,))]


@pytest.mark.parametrize(
    ("kept", "twice"),
    [
        ({ORDER: 2}, []),
        ({ORDER: 1}, []),
        ({ORDER: 3}, ["RELOAD 10.00 to 0123456789 was paid 3 times instead of 2"]),
        ({ORDER: 4}, ["RELOAD 10.00 to 0123456789 was paid twice"]),
        ({OTHER: 2}, []),  # the baseline, too, paid its most usual order twice: this order may have been drawn
        ({OTHER: 3}, ["WATER 5.00 to 0123 was paid 3 times instead of 2"]),
    ],
)
def test_an_order_is_paid_too_often_by_the_calm_run(kept: dict[OrderKey, int], twice: list[str]) -> None:
    found = reasons(BASELINE, outcome(replace(seen(), kept=Counter(kept))), (HARMLESS,))
    assert [one.text for one in found if one.kind is Kind.PAID_TWICE] == twice


def test_an_order_that_failed_in_calm_weather_may_be_paid_once() -> None:
    baseline = outcome(replace(seen(), kept=Counter({OTHER: 2})))
    assert reasons(baseline, outcome(replace(seen(), kept=Counter({ORDER: 1}))), (HARMLESS,)) == ()
    assert reasons(baseline, outcome(replace(seen(), kept=Counter({ORDER: 2}))), (HARMLESS,))


def test_another_exit_code_counts_unless_a_fault_decides_what_becomes_of_a_payment() -> None:
    assert kinds(seen(), 1) == [Kind.EXIT]
    assert kinds(seen(), 0) == []
    assert kinds(seen(), 1, REFUSED) == []
    assert kinds(seen(), None, REFUSED) == [Kind.HUNG]


def test_the_audit_counts_by_its_new_errors_and_by_the_warning_that_a_scenario_can_expect() -> None:
    def breached(id_: str, *, is_error: bool) -> Observation:
        return replace(seen(), breaches={id_: Breach(id_, is_error, "a finding")})

    assert kinds(breached("all-pages-read", is_error=True)) == [Kind.AUDIT]
    assert kinds(breached("catalog-cached", is_error=False)) == []
    assert kinds(breached("refusal-not-repeated", is_error=False)) == [Kind.AUDIT]
    baseline = outcome(breached("all-pages-read", is_error=True))
    assert reasons(baseline, outcome(breached("all-pages-read", is_error=True)), (HARMLESS,)) == ()


def test_an_expectation_counts_that_was_met_in_calm_weather() -> None:
    unmet = replace(seen(), unmet={"sold": "sold: expected 1, got 0"})
    assert kinds(unmet) == [Kind.EXPECTATION]
    assert reasons(outcome(unmet), outcome(unmet), (HARMLESS,)) == ()


def test_two_runs_failed_alike_when_they_share_a_reason() -> None:
    one = reasons(BASELINE, outcome(seen(), 1), (HARMLESS,))
    both = reasons(BASELINE, outcome(replace(seen(), kept=Counter({ORDER: 4})), 1), (HARMLESS,))
    assert same(one, both)
    assert not same(one, reasons(BASELINE, outcome(seen(), 2), (HARMLESS,)))
    assert not same((), ())
