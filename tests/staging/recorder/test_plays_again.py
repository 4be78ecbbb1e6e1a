"""A recorded scenario plays what was seen: the same calls at the same times have the same outcomes."""

from pathlib import Path

import pytest

from tests.support.client import running
from tests.support.traffic import Ask, Step, get, outcomes, pay, play, replayed, tellings

ACCOUNTS = {"RELOAD": "0123456789", "ELECTRIC": "210012345678", "WATER": "1234567890", "GIFTCARD": "0123456789"}
AMOUNTS = {"RELOAD": "10", "ELECTRIC": "50", "WATER": "20.50", "GIFTCARD": "25"}
FIELDS = {"RELOAD": "amount", "DATA": "plan", "GIFTCARD": "amount"}
OPENING: list[Step] = [
    get("/v2/balance"),
    get("/v2/catalog?include_inactive=true"),
    *(
        get(f"/v2/options?product_code={code}&field_id={name}&account_number=0123456789")
        for code, name in FIELDS.items()
    ),
]


def paid(rounds: int) -> list[Step]:
    """Payments of several products, each asked for again while it is under way and long after."""

    def all_of(n: int) -> list[Step]:
        return [pay(f"{code}-{n}", code, AMOUNTS[code], account) for code, account in ACCOUNTS.items()]

    steps: list[Step] = []
    for n in range(rounds):
        steps += [*all_of(n), 1.5, *all_of(n), 4, *all_of(n), 30]
    steps += [4000]
    for n in range(rounds):
        steps += all_of(n)
    return steps


def by_digits(suffixes: list[str], product: str = "ELECTRIC", prefix: str = "2100123456") -> list[Step]:
    return [pay(f"{product}-{suffix}", product, "50", prefix + suffix) for suffix in suffixes]


REFUSED = [*by_digits(["40", "41", "42", "43", "44", "58", "99", "10", "10", "40", "99"]), 10, *by_digits(["10"])]
REFUND: list[Step] = [
    *by_digits(["61"]),
    10,
    *by_digits(["61"]),
    Ask("POST", "/v2/transactions/void", {"refid": "ELECTRIC-61", "user_email": ["a@example.com"], "refund_type": 1}),
    70,
    *by_digits(["61"]),
    3600,
    *by_digits(["61"]),
]
BILLS: list[Step] = [get(f"/v2/bill-presentment?product=ELECTRIC&account=2100123456{n}") for n in ("10", "11", "12")]
RUNS: dict[str, list[Step]] = {
    "default": paid(3),
    "mixed-results": paid(12),
    "stale-callbacks": paid(3),
    "callback-storm": paid(2),
    "lost-callbacks": paid(4),
    "provider-failures": paid(12),
    "stuck-processing": paid(3),
    "low-balance": paid(4),
    "refused-payments": REFUSED,
    "refunds": REFUND,
    "bill-errors": BILLS,
    "bad-network": [get(f"/v2/networkstatus?product={code}") for code in ("RELOAD", "FP", "ELECTRIC")],
}

ODD_CALLBACKS = {"stale-callbacks", "callback-storm", "lost-callbacks"}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", RUNS)
def test_repeated_calls_have_equal_outcomes_at_equal_times(scenario: str, tmp_path: Path) -> None:
    steps = OPENING + RUNS[scenario]
    with running(scenario) as client:
        seen = play(client, steps)
    again = replayed(seen.recorded(), steps, tmp_path)
    assert outcomes(again) == outcomes(seen)
    if scenario not in ODD_CALLBACKS:
        assert tellings(again) == tellings(seen)


@pytest.mark.parametrize("scenario", ["mixed-results", "refused-payments", "refunds"])
def test_without_accounts_the_same_calls_in_the_same_order_have_the_same_outcomes(
    scenario: str, tmp_path: Path
) -> None:
    steps = OPENING + RUNS[scenario]
    with running(scenario) as client:
        seen = play(client, steps)
    text = seen.recorded(names_accounts=False)
    assert [line for line in text.splitlines() if "when:" in line and "account:" in line] == []
    assert outcomes(replayed(text, steps, tmp_path)) == outcomes(seen)


def test_equal_traffic_gives_equal_text() -> None:
    with running("mixed-results") as client:
        seen = play(client, OPENING + paid(4))
    assert seen.recorded() == seen.recorded()
