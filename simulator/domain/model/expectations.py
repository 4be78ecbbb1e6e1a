"""What a scenario expects to have happened: expectations, and their verdicts."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

import msgspec

from simulator.domain.model.rules import Fields, SourceLine, matches_all


class ExpectationKind(StrEnum):
    """The subject of an expectation; the value is its key in a scenario."""

    CALLS = "calls"
    PAYMENTS = "payments"
    CALLBACKS = "callbacks"
    WEBHOOKS = "webhooks"
    RULE = "rule"
    OUTCOME = "outcome"
    BALANCE = "balance"


class Count(msgspec.Struct, frozen=True):
    """How often something should have happened; with `high` None, at least `low` times."""

    low: int = 1
    high: int | None = None

    @property
    def is_any(self) -> bool:
        """True when every count is admitted."""
        return self.low == 0 and self.high is None

    def admits(self, count: int) -> bool:
        """True when `count` is within the bounds."""
        return self.low <= count and (self.high is None or count <= self.high)

    def exceeds(self, count: int) -> int:
        """How far `count` is outside of the bounds; 0 within."""
        return max(self.low - count, 0 if self.high is None else count - self.high, 0)

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low}"
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


ANY_COUNT = Count(0, None)


class Expectation(msgspec.Struct, frozen=True):
    """One statement of what should have happened. `test` selects the calls, payments, callbacks or webhooks that count,
    and `parts` has its conditions one by one; `label` is the rule, outcome or reseller; `amount` is the expected wallet
    balance. With `per`, calls are counted for each value of that fact; two calls of one value are at least `apart` of
    the sandbox's time. `written` is the whole statement as plain values, `place` where it is, if in a file."""

    name: str
    kind: ExpectationKind
    count: Count = Count()
    test: Callable[[Fields], bool] = matches_all
    label: str = ""
    amount: Decimal | None = None
    parts: Mapping[str, Callable[[Fields], bool]] = msgspec.field(default_factory=dict)
    per: str = ""
    apart: timedelta | None = None
    written: object = None
    place: SourceLine | None = None

    @property
    def has_values(self) -> bool:
        """True when calls are told apart by a value or by their time, not only counted."""
        return bool(self.per) or self.apart is not None

    def counts_like(self, other: "Expectation") -> bool:
        """True when the other one counts the same, so that its count can go on."""
        return (self.name, self.kind, self.written) == (other.name, other.kind, other.written)


def continued(old: Mapping[int, Expectation], new: Mapping[int, Expectation]) -> dict[int, int]:
    """The key of each new expectation that counts like an old one, with the key of the latter. An old count goes on in
    one new one only, since equal statements count each for itself."""
    found: dict[int, int] = {}
    left = dict(old)
    for place, one in new.items():
        before = next((at for at, other in left.items() if other.counts_like(one)), None)
        if before is not None:
            found[place] = before
            del left[before]
    return found


class Verdict(msgspec.Struct, frozen=True):
    """Whether an expectation is met; `actual` is a count, or the balance in MYR. Of one that is not met, `nearest` says
    what did happen and `pending` what is still to come, a line each."""

    expectation: Expectation
    actual: int | Decimal
    ok: bool
    message: str
    nearest: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


def judge_count(expectation: Expectation, actual: int, note: str = "", where: str = "") -> Verdict:
    """Compare a count with the expectation; `note` says what the count may have missed, `where` of what there are too
    many."""
    count = expectation.count
    got = f"{actual}{where}" if count.high is not None and actual > count.high else str(actual)
    return verdict(expectation, actual, str(count), got, note, ok=count.admits(actual))


def judge_balance(expectation: Expectation, actual: Decimal) -> Verdict:
    """Compare a wallet's balance with the expectation."""
    assert expectation.amount is not None, "a balance is expected with an amount"
    wanted = f"{expectation.amount:.2f}"
    return verdict(expectation, actual, wanted, f"{actual:.2f}", ok=actual == expectation.amount)


def verdict(
    expectation: Expectation, actual: int | Decimal, wanted: str, got: str, note: str = "", *, ok: bool
) -> Verdict:
    """A verdict with its sentence."""
    text = f"{expectation.name}: expected {wanted}, got {got}" + (f" ({note})" if note else "")
    return Verdict(expectation, actual, ok, text)
