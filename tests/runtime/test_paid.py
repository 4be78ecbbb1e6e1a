"""Payments that an expectation is about are counted as they happen: as a look at all of them would count."""

import random
from typing import Any

import pytest

from simulator.runtime import counters
from simulator.runtime.expectations import verdicts, verdicts_in_slices
from tests.support.cases import ACCOUNT, pay_bill, void
from tests.support.client import Client, running

STATUSES = ("Accepted", "Processing", "Succesful", "Failed", "Refund")
EXPECT: list[dict[str, Any]] = [
    *({"payments": {"status": status}, "count": {"min": 1}} for status in STATUSES),
    {"payments": {"product": "RELOAD", "status": {"not": "Failed"}}, "count": {"min": 1}},
    {"payments": {}, "count": {"min": 1}},
]
RULES: list[dict[str, Any]] = [
    {"when": {"account": ACCOUNT}, "then": [{"status": "Succesful"}]},
    {"when": {"account": {"suffix": "1"}}, "then": [{"status": "Failed"}]},
    {"when": {"account": {"suffix": "2"}}, "then": [{"status": "Accepted"}, {"after": "5s", "status": "Failed"}]},
    {"when": {"account": {"suffix": "3"}}, "then": [{"status": "Processing"}, {"requery": 1, "status": "Succesful"}]},
    {"when": {"account": {"suffix": "4"}}, "then": [{"status": "Succesful"}]},
]


def counted(client: Client) -> list[object]:
    return [one.actual for one in verdicts(client.live)]


def looked_at(client: Client) -> list[object]:
    """The same by a scan of all, which it then goes on from."""
    client.live.counters.paid.forget()
    return counted(client)


def live_through(client: Client, rounds: int) -> None:
    drawn = random.Random(rounds)  # noqa: S311 - no secret
    for number in range(rounds):
        client.pay(f"r-{rounds}-{number}", account=f"012345678{drawn.randrange(6)}")
        if drawn.random() < 0.3:
            client.pay(f"r-{rounds}-{drawn.randrange(number + 1)}")  # asked for again, perhaps with other values
        if drawn.random() < 0.3:
            pay_bill(client, refid := f"bill-{rounds}-{number}")
            void(client, refid)
        if drawn.random() < 0.2:
            client.advance(drawn.randrange(1, 100))


@pytest.mark.slow
@pytest.mark.parametrize("lag", [0, 3, 10_000])
def test_what_is_counted_is_what_a_look_at_all_payments_finds(monkeypatch: pytest.MonkeyPatch, lag: int) -> None:
    monkeypatch.setattr(counters, "LAG_MAX", lag)
    with running({"payments": RULES, "expect": EXPECT}) as client:
        for rounds in (25, 26):
            live_through(client, rounds)
            found = counted(client)
            assert found == looked_at(client)
        assert all(found[1:]), "each later status was met, a refund after a void, too"


def test_no_payment_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    with running({"expect": EXPECT[-1:]}) as client:
        for number in range(20):
            client.pay(f"r{number}")
        counted(client)
        monkeypatch.setattr("simulator.runtime.facts.of_payment", None)
        monkeypatch.setattr("simulator.runtime.expectations._Scan._about", lambda *_: pytest.fail("it is known"))
        assert counted(client)[-1] == 20


def test_one_that_came_later_counts_what_was_there_before_and_what_comes_during_its_scan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("simulator.runtime.expectations.SLICE", 2)
    with running({"expect": EXPECT[-1:]}) as client:
        for number in range(7):
            client.pay(f"r{number}")
        client.live.counters.paid.forget()
        first, second = verdicts_in_slices(client.live), verdicts_in_slices(client.live)
        next(first)
        client.pay("meanwhile")
        next(second)
        assert [[one.actual for one in part][-1:] for part in first if part] == [[7]]
        client.advance(60)
        assert [[one.actual for one in part][-1:] for part in second if part] == [[8]], "the moment at which it began"
        found = counted(client)
        assert found[-1] == 8
        assert found == looked_at(client)
