"""The checks of a new payment under any extras, and the parts that the application does not show."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.domain.commands import CreatePayment
from simulator.domain.model.answers import PaymentAnswer, PaymentRefused
from simulator.domain.model.catalog import (
    Catalog,
    FormField,
    Fulfillment,
    Money,
    Option,
    OptionList,
    Source,
)
from simulator.domain.model.transactions import Reason
from simulator.domain.sandbox import Sandbox
from simulator.scenario.library import load_scenario
from tests.support.tiers import examples
from tests.support.worlds import (
    fixed_product,
    money_product,
    order,
    pay,
    refused,
    sandbox,
)

START = datetime(2026, 11, 1, tzinfo=UTC)
SCENARIO = load_scenario("default")
NAMES = st.sampled_from(["subproduct_code", "biller_code", "ic_number", "ref2", "other"])
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=30),
    st.sampled_from(["K", "SP", "D10W", "D30", "1001", "1004", "1045", "900101145678"]),
    st.lists(st.text(max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.none(), max_size=3),
)
ACCOUNTS = st.sampled_from(["0123456789", "1029384756", "12345678", "0120000017", "", "x"])
AMOUNTS: Any = st.sampled_from(["10", 30, "0.50", "25.50", "ten", "-1", Decimal("1e400"), "50"])


@settings(max_examples=examples(300))
@given(st.sampled_from(sorted(SCENARIO.catalog.products)), ACCOUNTS, AMOUNTS, st.dictionaries(NAMES, VALUES))
def test_any_extras_are_answered_and_a_refusal_changes_nothing(
    product: str, account: str, amount: Any, extras: dict[str, Any]
) -> None:
    box = Sandbox(SCENARIO, 1, START)
    answer = box.apply(CreatePayment("RS001", "r", product, account, amount, extras=extras), START)
    made = isinstance(answer, PaymentAnswer)
    assert made or isinstance(answer, PaymentRefused)
    reseller = box.state.resellers["RS001"]
    assert (len(box.state.transactions), len(reseller.refids), len(reseller.wallet.entries)) == (made,) * 3
    assert (box.next_due is None) is not made
    assert not box.violations()


def lender(*options: Option, **changes: Any) -> Any:
    """A product whose account is that of a selected option, which `extras.subproduct_code` names."""
    account = FormField("loan", "select", "text", "Loan", role="account")
    amount = FormField("amount", "money", "decimal", "Amount", role="pricing", minimum=Decimal(5), maximum=Decimal(50))
    extras = {"subproduct_code": Source("loan", "code")}
    fulfillment = Fulfillment(Source("loan", "account_number"), Source("amount"), extras)
    made: dict[str, Any] = {
        "fields": (account, amount),
        "fulfillment": fulfillment,
        "options": {"loan": OptionList(options)},
    }
    return money_product("LOAN", **(made | changes))


TWO_OF_A_KIND = (Option("K", "first", account_number="111"), Option("K", "second", account_number="222"))


@pytest.mark.parametrize(("account", "good"), [("111", True), ("222", True), ("333", False), ("", False)])
def test_an_identity_may_have_several_accounts_of_one_kind(account: str, good: bool) -> None:
    box = sandbox(catalog=Catalog(products={"LOAN": lender(*TWO_OF_A_KIND)}))
    command = order(product="LOAN", account=account, amount=10, extras={"subproduct_code": "K"})
    if good:
        assert pay(box, command).created
    else:
        assert refused(box, command).reason is Reason.ACCOUNT


LIMITED = (
    Option("BOTH", "both", account_number="1", min_amount=Money(Decimal(0)), max_amount=Money(Decimal(100))),
    Option("LEAST", "least", account_number="1", min_amount=Money(Decimal(7))),
    Option("NONE", "none", account_number="1"),
)


@pytest.mark.parametrize(
    ("code", "amount", "good"),
    [
        ("BOTH", "0.01", True),
        ("BOTH", "100", True),
        ("BOTH", "100.01", False),
        ("LEAST", "6.99", False),
        ("LEAST", "40", True),
        ("LEAST", "40.01", False),
        ("NONE", "5", True),
        ("NONE", "4.99", False),
        ("NONE", "40.01", False),
    ],
)
def test_an_options_limits_come_before_the_products_and_those_before_the_fields(
    code: str, amount: str, good: bool
) -> None:
    product = lender(*LIMITED, max_amount=Money(Decimal(40)))
    box = sandbox(catalog=Catalog(products={"LOAN": product}))
    command = order(product="LOAN", account="1", amount=amount, extras={"subproduct_code": code})
    if good:
        assert pay(box, command).created
    else:
        assert refused(box, command).reason is Reason.DENOMINATION


CARD = fixed_product(denominations=(5, 10, 20))


@pytest.mark.parametrize(
    ("limits", "sold"),
    [
        ({}, [5, 10, 20]),
        ({"max_amount": Money(Decimal(10))}, [5, 10]),
        ({"min_amount": Money(Decimal(10))}, [10, 20]),
        ({"min_amount": Money(Decimal(6)), "max_amount": Money(Decimal(15))}, [10]),
    ],
)
def test_the_limits_of_a_product_apply_to_chosen_options_too(limits: dict[str, Any], sold: list[int]) -> None:
    box = sandbox(catalog=Catalog(products={"CARD": replace(CARD, **limits)}))
    for amount in (5, 10, 20):
        answer = box.apply(order(f"r{amount}", "CARD", amount), START)
        assert isinstance(answer, PaymentAnswer) is (amount in sold)
        assert isinstance(answer, PaymentAnswer) or answer.reason is Reason.DENOMINATION
