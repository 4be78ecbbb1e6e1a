"""Expectations of a scenario, each with its verdict."""

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
    """The expected number of occurrences; with `high` None, at least `low`."""

    low: int = 1
    high: int | None = None

    def admits(self, count: int) -> bool:
        """Return whether `count` is within the bounds."""
        return self.low <= count and (self.high is None or count <= self.high)

    def exceeds(self, count: int) -> int:
        """Return the distance of `count` from the bounds; 0 within them."""
        return max(self.low - count, 0 if self.high is None else count - self.high, 0)

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low}"
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


ANY_COUNT = Count(0, None)


class Expectation(msgspec.Struct, frozen=True):
    """A statement of what should have happened. `test` selects the calls, payments, callbacks or webhooks that count;
    `parts` lists its conditions. `label` is the rule, outcome or reseller; `amount` is the expected wallet balance.
    With `per`, calls are counted for each value of that fact; two calls with the same value must be at least `apart`,
    in the sandbox's time. `written` is the whole statement as plain values, `place` its position in a file."""

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
        """Return whether calls are grouped by a value or compared by time, instead of only counted."""
        return bool(self.per) or self.apart is not None


def continued(old: Mapping[int, Expectation], new: Mapping[int, Expectation]) -> dict[int, int]:
    """Map each new expectation to the old expectation whose count it continues, by their keys. Each old count continues
    at most once, since equal statements count separately."""
    found: dict[int, int] = {}
    left = {place: (one.name, one.kind, one.written) for place, one in old.items()}
    for place, one in new.items():
        before = next((at for at, other in left.items() if other == (one.name, one.kind, one.written)), None)
        if before is not None:
            found[place] = before
            del left[before]
    return found


class Verdict(msgspec.Struct, frozen=True):
    """The result of an expectation; `actual` is a count, or the balance in MYR. For an unmet expectation, `nearest`
    lists what did happen and `pending` what is still scheduled, one per line."""

    expectation: Expectation
    actual: int | Decimal
    ok: bool
    message: str
    nearest: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


def judge_count(expectation: Expectation, actual: int, note: str = "", where: str = "", left_out: int = 0) -> Verdict:
    """Compare a count with the expectation. `note` explains what the count may have missed, `where` locates surplus
    occurrences. There is no verdict when the `left_out` records, which a log has evicted, could change it."""
    count = expectation.count
    is_final = actual >= count.low if count.high is None else actual > count.high
    if left_out and not is_final:
        got = f"no verdict: {actual}, and the log has evicted {left_out} older ones"
        return verdict(expectation, actual, str(count), got, ok=False)
    got = f"{actual}{where}" if count.high is not None and is_final else str(actual)
    return verdict(expectation, actual, str(count), got, note, ok=count.admits(actual))


def judge_balance(expectation: Expectation, actual: Decimal) -> Verdict:
    assert expectation.amount is not None, "a balance is expected with an amount"
    wanted = f"{expectation.amount:.2f}"
    return verdict(expectation, actual, wanted, f"{actual:.2f}", ok=actual == expectation.amount)


def verdict(
    expectation: Expectation, actual: int | Decimal, wanted: str, got: str, note: str = "", *, ok: bool
) -> Verdict:
    text = f"{expectation.name}: expected {wanted}, got {got}" + (f" ({note})" if note else "")
    return Verdict(expectation, actual, ok, text)
