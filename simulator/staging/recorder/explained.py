"""What decides which outcome a product's payments, look-ups or requests have: the account, the amount, or nothing that
is seen; then they are played in the order in which they came, and drawn by weight after that."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

VALUES_MAX = 50  # accounts or amounts that are named
IN_ORDER_MAX = 40  # exceptions that are named by their place
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9+@._-]{0,59}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Observed:
    """One of them: whose it was, how much, and the place of its outcome among all outcomes."""

    account: str
    amount: str
    outcome: int


@dataclass(frozen=True, slots=True)
class Part:
    """A rule: conditions, counts beside them, outcomes with how often each was seen, and what it is for people."""

    outcomes: Mapping[int, int]
    when: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    said: str = ""


def explain(observed: Sequence[Observed], *, names_accounts: bool, by_amount: bool = True) -> list[Part]:
    """The rules of one product, in order. `names_accounts` allows accounts in them."""
    counts = Counter(one.outcome for one in observed)
    usual = max(counts, key=lambda outcome: (counts[outcome], -_first(observed, outcome)))
    if len(counts) == 1:
        return [Part(counts)]
    for key, is_allowed, value_of in (
        ("account", names_accounts, _account),
        ("amount", by_amount, _amount),
    ):
        values = _by_value(observed, value_of, usual) if is_allowed else None
        if values is not None:
            return [*_named(key, values, observed, value_of), Part({usual: counts[usual]}, said="all others")]
    return _in_order(observed, usual, counts)


def _account(one: Observed) -> str:
    return one.account


def _amount(one: Observed) -> str:
    return one.amount


def _first(observed: Sequence[Observed], outcome: int) -> int:
    return next(place for place, one in enumerate(observed) if one.outcome == outcome)


def _by_value(observed: Sequence[Observed], value_of: Callable[[Observed], str], usual: int) -> dict[str, int] | None:
    """The outcome of each value that has another one than the usual; None when a value had several, when there are too
    many of them, or when one cannot be written."""
    outcome_of: dict[Hashable, int] = {}
    for one in observed:
        if outcome_of.setdefault(value_of(one), one.outcome) != one.outcome:
            return None
    found = {str(value): outcome for value, outcome in outcome_of.items() if outcome != usual}
    return found if len(found) <= VALUES_MAX and all(map(_PLAIN.fullmatch, found)) else None


def _named(
    key: str, values: Mapping[str, int], observed: Sequence[Observed], value_of: Callable[[Observed], str]
) -> list[Part]:
    parts = []
    for outcome in dict.fromkeys(values.values()):
        named = [value for value, of in values.items() if of == outcome]
        seen = sum(value_of(one) in named for one in observed)
        parts.append(Part({outcome: seen}, {key: named[0] if len(named) == 1 else named}))
    return parts


def _in_order(observed: Sequence[Observed], usual: int, counts: Counter[int]) -> list[Part]:
    drawn = Part(dict(sorted(counts.items())), said="drawn by weight")
    exceptions = [(place, one.outcome) for place, one in enumerate(observed, 1) if one.outcome != usual]
    if len(exceptions) > IN_ORDER_MAX:
        return [drawn]
    parts = [Part({outcome: 1}, counts={"nth": place}) for place, outcome in exceptions]
    return [*parts, Part({usual: counts[usual]}, counts={"times": counts[usual]}, said="the others, in order"), drawn]
