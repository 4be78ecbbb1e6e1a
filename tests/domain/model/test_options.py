"""What a select field offers, for everybody and for one account number."""

from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.model.catalog import (
    DataSource,
    FormField,
    Fulfillment,
    Option,
    OptionList,
    Product,
    Source,
)
from simulator.domain.model.options import (
    account_source,
    biller_field,
    biller_product,
    offered,
)
from simulator.scenario.library import load_scenario
from tests.support.worlds import money_product

CATALOG = load_scenario("default").catalog
IDENTITIES = [f"90010114{number:04}" for number in range(400)]


def product(*options: Option, drawn: bool = True, **more: Any) -> Product:
    return money_product(
        options={"pick": OptionList(options)}, fields_by_account=frozenset({"pick"} if drawn else ()), **more
    )


def codes(found: OptionList) -> list[str]:
    return [option.code for option in found]


def test_a_static_field_offers_its_options_to_everybody() -> None:
    static = product(Option("a", "A"), Option("b", "B", is_active=False), drawn=False)
    assert offered(1, static, "pick", "x") is static.options["pick"]
    assert codes(offered(1, static, "pick")) == ["a", "b"]
    assert codes(offered(1, static, "pick").active) == ["a"]


@pytest.mark.parametrize("field", ["account", "amount", "nothing"])
def test_a_field_that_is_not_a_select_offers_nothing(field: str) -> None:
    assert offered(1, product(Option("a", "A")), field) == ()


@pytest.mark.parametrize("share", ["0", "0.25", "0.5", "1"])
def test_a_share_of_all_account_numbers_is_offered_an_option(share: str) -> None:
    drawn = product(Option("all", "All"), Option("some", "Some", share=Decimal(share)))
    got = sum("some" in codes(offered(1, drawn, "pick", identity)) for identity in IDENTITIES)
    assert abs(got / len(IDENTITIES) - float(share)) < 0.1


def test_offered_options_depend_only_on_seed_product_field_and_account() -> None:
    drawn = product(*(Option(f"o{place}", "O", account_digits=10, share=Decimal("0.5")) for place in range(12)))
    first = offered(1, drawn, "pick", "900101145678")
    assert offered(1, drawn, "pick", "900101145678") == first
    assert offered(2, drawn, "pick", "900101145678") != first
    assert offered(1, drawn, "pick", "900101145679") != first
    assert {len(option.account_number or "") for option in first} == {10}


def test_a_list_that_is_written_for_an_account_number_counts_alone() -> None:
    written = OptionList([Option("mine", "Mine")])
    drawn = product(Option("all", "All"), options_for={("pick", "7"): written})
    assert offered(1, drawn, "pick", "7") is written
    assert codes(offered(1, drawn, "pick", "8")) == ["all"]


def test_account_numbers_that_are_offered_the_same_share_one_list() -> None:
    data = CATALOG.products["DATA"]
    lists = {id(offered(1, data, "plan", f"01{number:08}")) for number in range(200)}
    assert len(lists) == 2


def test_so_many_combinations_are_not_all_kept() -> None:
    drawn = product(*(Option(f"o{place}", "O", share=Decimal("0.5")) for place in range(16)))
    lists = [offered(1, drawn, "pick", identity) for identity in IDENTITIES]
    assert len({id(each) for each in lists}) > 64
    assert [codes(each) for each in lists] == [codes(offered(1, drawn, "pick", identity)) for identity in IDENTITIES]
    assert len(vars(drawn.options["pick"])["_parts"]) == 64


def test_indexes_know_codes_and_denominations() -> None:
    plans = CATALOG.products["DATA"].options["plan"]
    assert plans.by_code["D10M"].denomination == 10
    assert [plan.code for plan in plans.by_denomination[Decimal(10)]] == ["D10W", "D10M", "D10N"]
    assert Decimal(15) not in plans.by_denomination, "D15 is inactive"
    assert plans.by_code["D15"] not in plans.active


def test_a_dynamic_field_names_the_field_that_its_account_number_comes_from() -> None:
    assert account_source(CATALOG.products["DATA"], "plan") == "phone"
    assert account_source(CATALOG.products["STUDENTLOAN"], "loan") == "ic_number"
    for code, field in (("RELOAD", "amount"), ("DATA", "phone"), ("DATA", "nothing")):
        assert account_source(CATALOG.products[code], field) is None
    asks_nothing = FormField("pick", "select", "text", "Pick", data_source=DataSource("dynamic"))
    assert account_source(money_product(fields=(asks_nothing,)), "pick") is None


def test_billers_are_the_options_that_feed_biller_code() -> None:
    found = biller_product(CATALOG)
    assert found is not None
    assert (found.code, biller_field(found)) == ("INTERBANK", "biller")
    assert biller_field(CATALOG.products["DATA"]) is None
    typed = Fulfillment(extras={"biller_code": Source("account")})
    assert biller_field(money_product(fulfillment=typed)) is None


def test_an_identity_has_one_to_four_loan_accounts_of_different_kinds() -> None:
    loans = CATALOG.products["STUDENTLOAN"]
    seen = [offered(1, loans, "loan", identity) for identity in IDENTITIES]
    assert {len(each) for each in seen} == {1, 2, 3, 4}
    assert all(len({loan.code for loan in each}) == len(each) for each in seen)
    assert loans.account is not None
    assert loans.account.accepts is not None
    assert all(loans.account.accepts(loan.account_number or "") for each in seen for loan in each)
    assert [loan.account_number for loan in offered(5, loans, "loan", "900101145678")] == ["1029384756", "837465920"]
