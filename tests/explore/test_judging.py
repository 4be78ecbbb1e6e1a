"""Verdicts: signs that a run failed, and signs that do not count."""

from collections import Counter
from dataclasses import replace

import pytest

from simulator.explore.fault_catalogue import Fault, single_faults
from simulator.explore.observation import Observation, OrderKey
from simulator.explore.run_verdicts import Kind, reasons
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


def test_the_audit_counts_by_what_the_baseline_did_not_violate() -> None:
    def breached(id_: str) -> Observation:
        return replace(seen(), breaches={id_: "a finding"})

    [error] = reasons(BASELINE, outcome(breached("all-pages-read")), (HARMLESS,))
    assert (error.kind, error.needs_audit) == (Kind.AUDIT, True)
    [warning] = reasons(BASELINE, outcome(breached("refusal-not-repeated")), (HARMLESS,))
    assert (warning.kind, warning.needs_audit) == (Kind.AUDIT, False), "a scenario can expect it"
    assert reasons(outcome(breached("all-pages-read")), outcome(breached("all-pages-read")), (HARMLESS,)) == ()


def test_an_expectation_counts_that_was_met_in_calm_weather() -> None:
    unmet = replace(seen(), unmet={"sold": "sold: expected 1, got 0"})
    assert kinds(unmet) == [Kind.EXPECTATION]
    assert reasons(outcome(unmet), outcome(unmet), (HARMLESS,)) == ()
