"""`conform` finds each defect of a service, and names the check."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest

from simulator.staging.conform.context import CHECKS
from simulator.staging.conform.run import MISHAP
from tests.support.client import Client, running
from tests.support.conforming import BILL, DATA, RELOAD, conformed
from tests.support.damages import DAMAGES, PAYING


@pytest.fixture
def client() -> Iterator[Client]:
    """A service with a little history, of several seconds."""
    with running({}) as made:
        for number, amount in enumerate(("5", "10", "20")):
            made.pay(f"before-{number}", amount)
            made.advance(10)
            made.pass_time(10)
        yield made


def test_every_check_finds_a_damage() -> None:
    assert {row.check for row in DAMAGES.values()} == set(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("what", DAMAGES)
def test_a_damage_is_found_and_named_by_the_check_that_is_meant_for_it(what: str, client: Client) -> None:
    row = DAMAGES[what]
    orders = (RELOAD, DATA, BILL) if row in PAYING or row.check == "subproducts-codes" else ()
    (result,) = conformed(client, *orders, only={row.check}, damage=row.damage).results
    assert result.outcome == "departs", result
    fields = [one.field for one in result.departures]
    assert any(fnmatchcase(field, row.field) for field in fields), fields
    assert MISHAP not in fields, "the check ended with an exception"
    assert not any("Request(" in one.actual for one in result.departures), "a signature is not for a report"


@pytest.mark.slow
@pytest.mark.parametrize("check", sorted({row.check for row in DAMAGES.values()}))
def test_the_check_passes_without_its_damage(check: str, client: Client) -> None:
    (result,) = conformed(client, RELOAD, DATA, BILL, only={check}).results
    assert result.outcome == "passed", result
