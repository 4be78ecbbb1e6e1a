"""What a scenario expects to have happened: expectations, and their verdicts."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from simulator.domain.model.rules import Fields


class ExpectationKind(StrEnum):
    """The subject of an expectation; the value is its key in a scenario."""

    CALLS = "calls"
    PAYMENTS = "payments"
    CALLBACKS = "callbacks"
    WEBHOOKS = "webhooks"
    RULE = "rule"
    OUTCOME = "outcome"
    BALANCE = "balance"


@dataclass(frozen=True, slots=True)
class Count:
    """How often something should have happened; with `high` None, at least `low` times."""

    low: int = 1
    high: int | None = None

    def admits(self, count: int) -> bool:
        """True when `count` is within the bounds."""
        return self.low <= count and (self.high is None or count <= self.high)

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low}"
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def _always(facts: Fields) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Expectation:
    """One statement of what should have happened. `test` selects the calls, payments, callbacks or webhooks that count;
    `label` is the rule, outcome or reseller; `amount` is the expected wallet balance."""

    name: str
    kind: ExpectationKind
    count: Count = Count()
    test: Callable[[Fields], bool] = _always
    label: str = ""
    amount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an expectation is met; `actual` is a count, or the balance in MYR."""

    expectation: Expectation
    actual: int | Decimal
    ok: bool
    message: str


def judge_count(expectation: Expectation, actual: int, note: str = "") -> Verdict:
    """Compare a count with the expectation; `note` says what the count may have missed."""
    count = expectation.count
    return _verdict(expectation, actual, count.admits(actual), str(count), str(actual), note)


def judge_balance(expectation: Expectation, actual: Decimal) -> Verdict:
    """Compare a wallet's balance with the expectation."""
    assert expectation.amount is not None, "a balance is expected with an amount"
    is_met = actual == expectation.amount
    return _verdict(expectation, actual, is_met, f"{expectation.amount:.2f}", f"{actual:.2f}", "")


def _verdict(
    expectation: Expectation, actual: int | Decimal, is_met: bool, wanted: str, got: str, note: str
) -> Verdict:
    text = f"{expectation.name}: expected {wanted}, got {got}" + (f" ({note})" if note else "")
    return Verdict(expectation, actual, is_met, text)
