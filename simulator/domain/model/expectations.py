"""What a scenario expects to have happened: an expectation, and the verdict when somebody asks."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from simulator.domain.model.rules import Fields


class Kind(StrEnum):
    """What an expectation is about; the value is its key in a scenario."""

    CALLS = "calls"
    PAYMENTS = "payments"
    CALLBACKS = "callbacks"
    WEBHOOKS = "webhooks"
    RULE = "rule"
    OUTCOME = "outcome"
    BALANCE = "balance"


@dataclass(frozen=True, slots=True)
class Count:
    """How often something should have happened; `high` None is any number from `low` on."""

    low: int = 1
    high: int | None = None

    def admits(self, count: int) -> bool:
        """True when that is often enough, and not too often."""
        return self.low <= count and (self.high is None or count <= self.high)

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low}"
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def _always(facts: Fields) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Expectation:
    """One statement of what should have happened. `test` says which calls, payments, callbacks or webhooks count;
    `label` is the rule, the outcome or the reseller that is meant; `amount` is what the wallet should hold."""

    name: str
    kind: Kind
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
    """Hold a count against what was expected; `note` says what the count may have missed."""
    count = expectation.count
    return _verdict(expectation, actual, count.admits(actual), str(count), str(actual), note)


def judge_balance(expectation: Expectation, actual: Decimal) -> Verdict:
    """Hold a wallet's balance against what was expected."""
    assert expectation.amount is not None, "a balance is expected with an amount"
    is_met = actual == expectation.amount
    return _verdict(expectation, actual, is_met, f"{expectation.amount:.2f}", f"{actual:.2f}", "")


def _verdict(
    expectation: Expectation, actual: int | Decimal, is_met: bool, wanted: str, got: str, note: str
) -> Verdict:
    text = f"{expectation.name}: expected {wanted}, got {got}" + (f" ({note})" if note else "")
    return Verdict(expectation, actual, is_met, text)
