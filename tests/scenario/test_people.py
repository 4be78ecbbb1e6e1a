"""People and businesses that Faker makes up: the same ones everywhere, fit for any answer, imported late."""

import subprocess
import sys
import textwrap
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.bills import BillProfile
from simulator.scenario.library import load_scenario, scenario_from_object
from simulator.scenario.sections import templates
from simulator.scenario.sections.product_forms import GENERATED_MAX
from simulator.scenario.sections.templates import business, person_pools
from tests.support.processes import environment

PRINT_PEOPLE = """
    from simulator.scenario.sections.templates import business, person_pools
    print(person_pools())
    print([business(number) for number in range(100_001, 101_001)])
"""
PRINT_WHEN_IMPORTED = """
    import sys
    from tests.support.client import running
    with running() as client:
        for path in ("/v2/catalog", "/v2/options?product_code=INTERBANK&field_id=biller", "/v2/balance"):
            assert client.call("GET", path).status == 200
        assert client.pay().status == 200
        print("faker" in sys.modules)
        query = "product=ELECTRIC&account=210012345678"
        assert client.call("GET", "/v2/bill-presentment?" + query).data["CustomerName"]
        print("faker" in sys.modules)
"""


def python(program: str, **variables: str) -> str:
    """Return the output of a program in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment(**variables)).stdout


def profile(scenario: str, product: str) -> BillProfile:
    found = load_scenario(scenario).catalog.products[product].bill
    assert found is not None
    return found


@pytest.mark.slow
def test_two_processes_make_the_same_people_with_any_hash_seed_and_zone() -> None:
    one = python(PRINT_PEOPLE, PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C")
    other = python(PRINT_PEOPLE, PYTHONHASHSEED="1", TZ="America/Los_Angeles", LC_ALL="C.UTF-8")
    assert one == other
    assert len(one) > 10_000


@pytest.mark.slow
def test_faker_is_imported_with_the_first_generated_name() -> None:
    assert python(PRINT_WHEN_IMPORTED).split() == ["False", "True"]


def test_scenarios_share_the_people() -> None:
    assert profile("default", "ELECTRIC").people() is profile("bill-errors", "WATER").people()


def test_all_that_is_made_up_can_stand_in_a_header_and_on_one_line() -> None:
    pools = person_pools()
    texts = [*pools.streets, *pools.towns, *pools.births]
    texts += [name for pool in pools.names for name in (*pool.given, *pool.family)]
    texts += [text for number in range(1_000) for text in business(number)]
    assert [text for text in texts if not (text and text.isascii() and text.isprintable())] == []


def test_there_are_names_of_two_languages_and_enough_of_each() -> None:
    assert [(len(pool.given), len(pool.family)) for pool in person_pools().names] == [
        (templates.POOL, templates.POOL)
    ] * 2
    for pool in person_pools().names:
        assert len(set(pool.given)) * len(set(pool.family)) > 10_000


@given(st.integers(0, 2**32), st.text())
def test_an_identity_number_has_12_digits_and_a_date_of_birth(seed: int, identity: str) -> None:
    number = person_pools().ic_number(seed, identity)
    assert (len(number), number.isdecimal()) == (12, True)
    born = datetime.strptime(number[:6], "%y%m%d")  # noqa: DTZ007  # a date has no zone
    assert f"{born:%y%m%d}" == number[:6]
    assert 1 <= int(number[6:8]) <= templates.BIRTHPLACES


@pytest.mark.slow
def test_no_two_businesses_of_a_catalog_have_the_same_name() -> None:
    assert len({business(number)[0] for number in range(100_001, 100_001 + GENERATED_MAX)}) == GENERATED_MAX


def test_a_generated_option_without_a_label_is_a_business_which_its_code_decides() -> None:
    def options(count: int, first: int) -> dict[str, tuple[str, str | None]]:
        field = {"id": "shop", "type": "select", "label": "Shop", "generate": {"count": count, "first": first}}
        product = {"code": "SHOPS", "name": "Shops", "image_url": "https://images.example.com/x.png"}
        written = product | {"processing_time": "instant", "discount": {"type": "fixed", "value": 0}, "fields": [field]}
        found = scenario_from_object({"catalog": {"products": [written]}}).catalog.products["SHOPS"].options["shop"]
        return {option.code: (option.label, option.description) for option in found}

    many, few = options(300, 1_000), options(2, 1_010)
    assert many["1010"] == few["1010"] == business(1_010)
    assert len({name for name, _ in many.values()}) == 300
