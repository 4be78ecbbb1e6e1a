"""Offers of a select field, for everybody and per account number."""

from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.model.catalog import (
    DataSource,
    FormField,
    Fulfillment,
    Money,
    Option,
    OptionList,
    Product,
    Source,
)
from simulator.domain.model.pricing import (
    account_source,
    amount_range,
    biller_field,
    biller_product,
    dependencies,
    limiting_biller,
    offered,
    subproduct_field,
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


IC = FormField("ic", "text", "text", "IC")


def dynamic(type_: str = "dynamic", depends_on: tuple[str, ...] = ("ic",)) -> Product:
    params = {
        "account_number": {"from_field": "account"},
        "ic_number": {"from_field": "ic"},
        "other": {"from_field": "other"},
        "field_id": {"static": "pick"},
    }
    pick = FormField("pick", "select", "text", "Pick", data_source=DataSource(type_, depends_on, params))
    return money_product(fields=(pick, IC))


def test_a_dynamic_field_requires_what_its_options_depend_on() -> None:
    assert dependencies(dynamic(), "pick") == {"account_number": "account", "ic_number": "ic"}
    assert dependencies(dynamic(depends_on=()), "pick") == {"account_number": "account"}
    assert dependencies(dynamic("reference"), "pick") == {}
    assert dependencies(dynamic(), "ic") == dependencies(dynamic(), "unknown") == {}


@pytest.mark.parametrize(
    ("extras", "found"),
    [
        ({"subproduct_code": Source("pick", "code")}, "pick"),
        ({"subproduct_code": Source("text"), "biller_code": Source("pick", "code")}, "pick"),
        ({"biller_code": Source("pick", "code")}, "pick"),
        ({"subproduct_code": Source("text")}, None),
        ({}, None),
    ],
)
def test_sub_products_are_the_options_of_a_plan_code_or_else_the_billers(
    extras: dict[str, Source], found: str | None
) -> None:
    one = product(Option("A", "a"), fulfillment=Fulfillment(None, None, extras))
    assert subproduct_field(one) == found


@pytest.mark.parametrize(
    ("codes_", "limiting"),
    [
        ([None, "A"], ""),
        (["A", "LOW", "HIGH"], "LOW"),
        (["HIGH", "LOW"], "HIGH"),
        ([], ""),
    ],
)
def test_the_first_option_with_limits_of_its_own_is_the_limiting_one(codes_: list[str | None], limiting: str) -> None:
    low, high = Money(Decimal(5)), Money(Decimal(9))
    known = {
        "A": Option("A", ""),
        "LOW": Option("LOW", "", min_amount=low),
        "HIGH": Option("HIGH", "", max_amount=high),
    }
    assert limiting_biller(*(known[code] if code else None for code in codes_)) == limiting


@pytest.mark.parametrize(
    ("limits", "options", "expected"),
    [
        ({}, [], (1, 10000)),
        ({"min_amount": Money(Decimal(3))}, [], (3, 10000)),
        ({"max_amount": Money(Decimal(7))}, [None], (1, 7)),
        ({"min_amount": Money(Decimal(3))}, [Option("A", "", min_amount=Money(Decimal(2)))], (2, 10000)),
        ({}, [Option("A", "", max_amount=Money(Decimal(5))), Option("B", "")], (1, 5)),
        ({"fields": ()}, [], (None, None)),
    ],
)
def test_limits_come_from_the_options_else_from_the_product_else_from_the_field(
    limits: Any, options: Any, expected: tuple[int | None, int | None]
) -> None:
    assert amount_range(money_product(**limits), *options) == expected


def test_a_drawn_account_number_has_its_digits_and_never_begins_with_zero() -> None:
    accounts = set()
    for number in IDENTITIES[:100]:
        (one,) = offered(1, product(Option("A", "a", account_digits=2)), "pick", number)
        assert one.account_number is not None
        accounts.add(one.account_number)
        assert len(one.account_number) == 2
    assert {account[0] for account in accounts} == set("123456789")
    assert {account[1] for account in accounts} == set("0123456789")
    (one,) = offered(1, product(Option("A", "a", account_digits=8)), "pick", "7")
    assert one.account_number == "14732786", "a seed draws in every version what it drew before"
