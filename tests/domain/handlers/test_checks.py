"""The checks of a new payment under any extras, and the parts that the application does not show."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.domain.commands import CreatePayment
from simulator.domain.model.catalog import (
    Catalog,
    DataSource,
    FormField,
    Fulfillment,
    Money,
    Option,
    OptionList,
    Product,
    Source,
)
from simulator.domain.model.details import DetailKind, detail
from simulator.domain.model.transactions import PaymentAnswer, PaymentRefused, Reason
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
    assert (box.state.agenda.next_due is None) is not made
    assert not box.violations()


def lender(*options: Option, **changes: Any) -> Any:
    """A product whose account belongs to a selected option, which `extras.subproduct_code` names."""
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
def test_an_identity_may_have_several_accounts_of_the_same_kind(account: str, good: bool) -> None:
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
def test_an_options_limits_override_the_products_which_override_the_fields(code: str, amount: str, good: bool) -> None:
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


FREE = money_product("FREE", fields=())
WHOLE = money_product("WHOLE", fields=(FormField("amount", "number", "numeric", "Amount", role="pricing"),))
OPEN = money_product("OPEN", fields=(FormField("amount", "money", "decimal", "Amount", role="pricing"),))
LIMITS_OF_FIELD = money_product("FIELD")  # 1 to 10000
NOT_POSITIVE, NO_CENTS, NOT_WHOLE = DetailKind.NOT_POSITIVE, DetailKind.NO_CENTS, DetailKind.NOT_WHOLE
TOO_LITTLE, TOO_MUCH, NOT_SOLD = DetailKind.TOO_LITTLE, DetailKind.TOO_MUCH, DetailKind.NOT_SOLD


@pytest.mark.parametrize(
    ("product", "amount", "wrong"),
    [
        (FREE, "0.001", None),  # any positive amount of a product without a pricing field
        (FREE, "0", NOT_POSITIVE),
        (FREE, "-1", NOT_POSITIVE),
        (WHOLE, "1", None),
        (WHOLE, "1.00", None),
        (WHOLE, "1.5", NOT_WHOLE),
        (WHOLE, "0", NOT_POSITIVE),
        (OPEN, "0.01", None),
        (OPEN, "0.005", NO_CENTS),
        (OPEN, "0", NOT_POSITIVE),
        (LIMITS_OF_FIELD, "1", None),
        (LIMITS_OF_FIELD, "0.99", TOO_LITTLE),
        (LIMITS_OF_FIELD, "0.999", NO_CENTS),  # what is wrong with the number is said first
        (LIMITS_OF_FIELD, "900.01", None),
        (LIMITS_OF_FIELD, "10000.01", TOO_MUCH),
        (CARD, "5", None),
        (CARD, "7", NOT_SOLD),
        (CARD, "-5", NOT_POSITIVE),
        (replace(CARD, max_amount=Money(Decimal(10))), "20", TOO_MUCH),
        (replace(CARD, min_amount=Money(Decimal(6))), "5", TOO_LITTLE),
        (replace(OPEN, max_amount=Money(Decimal(10))), "10", None),
        (replace(OPEN, max_amount=Money(Decimal(10))), "10.01", TOO_MUCH),
    ],
)
def test_an_amount_is_positive_of_the_fields_kind_and_within_the_limits(
    product: Product, amount: str, wrong: DetailKind | None
) -> None:
    box = sandbox(catalog=Catalog(products={product.code: product}))
    if wrong is None:
        assert pay(box, order(product=product.code, amount=amount)).created
        return
    answer = refused(box, order(product=product.code, amount=amount))
    assert (answer.reason, answer.code, answer.detail and answer.detail.kind) == (Reason.DENOMINATION, 58, wrong)


@pytest.mark.parametrize(
    ("amount", "kind", "shown"),
    [
        ("ten", DetailKind.NO_NUMBER, '"ten"'),
        ("x" * 100, DetailKind.NO_NUMBER, '"' + "x" * 100 + '"'),
        (None, DetailKind.NO_NUMBER, None),
        (True, DetailKind.NO_NUMBER, True),
        ("1e30", DetailKind.TOO_MANY_DIGITS, '"1e30"'),
        ("9" * 101, DetailKind.TOO_MANY_DIGITS, '"' + "9" * 101 + '"'),
        (10**16, DetailKind.TOO_MANY_DIGITS, 10**16),
    ],
)
def test_an_amount_that_is_no_number_is_quoted(amount: object, kind: DetailKind, shown: object) -> None:
    answer = refused(sandbox(), order(amount=amount))
    assert answer.reason is Reason.DENOMINATION
    assert answer.detail == detail(kind, amount=shown)


@pytest.mark.parametrize(
    ("denominations", "amount", "sold", "left_out"),
    [
        ((5, 10, 20), 11, (5, 10, 20), None),
        (tuple(range(1, 13)), 20, tuple(range(3, 13)), 2),
        (tuple(range(10, 24)), "15.5", tuple(range(11, 21)), 4),
    ],
)
def test_the_ten_nearest_denominations_are_named(
    denominations: tuple[int, ...], amount: object, sold: tuple[int, ...], left_out: int | None
) -> None:
    box = sandbox(catalog=Catalog(products={"CARD": fixed_product(denominations=denominations)}))
    found = refused(box, order(product="CARD", amount=amount)).detail
    assert found is not None
    assert (found.facts["sold"], found.facts["left_out"], found.facts["whom"]) == (sold, left_out, {})


def test_denominations_beyond_the_limits_are_not_named() -> None:
    product = replace(CARD, min_amount=Money(Decimal(10)), max_amount=Money(Decimal(10)))
    box = sandbox(catalog=Catalog(products={"CARD": product}))
    found = refused(box, order(product="CARD", amount=7)).detail
    assert found is not None
    assert found.facts["sold"] == (10,)
    empty = sandbox(catalog=Catalog(products={"CARD": replace(CARD, options={})}))
    assert refused(empty, order(product="CARD", amount=5)).detail == detail(
        DetailKind.NOTHING_SOLD, product="CARD", whom={}
    )


@pytest.mark.parametrize(("biller", "code"), [("BOTH", "BOTH"), ("LEAST", "LEAST"), ("NONE", "")])
def test_a_limit_names_the_option_that_sets_it(biller: str, code: str) -> None:
    box = sandbox(catalog=Catalog(products={"LOAN": lender(*LIMITED)}))
    command = order(
        product="LOAN", account="1", amount="101" if biller == "BOTH" else "4.99", extras={"subproduct_code": biller}
    )
    found = refused(box, command).detail
    assert found is not None
    assert found.facts["biller"] == code


@pytest.mark.parametrize(
    ("account", "kind"), [("", DetailKind.NO_ACCOUNT), ("abc", DetailKind.ACCOUNT_PATTERN), ("123", None)]
)
def test_an_account_is_required_and_fits_its_field(account: str, kind: DetailKind | None) -> None:
    pattern = FormField(
        "account", "text", "tel", "Account", role="account", pattern="digits", accepts=str.isdigit, message="Digits."
    )
    box = sandbox(catalog=Catalog(products={"P": money_product("P", fields=(pattern,))}))
    command = order(product="P", account=account)
    if kind is None:
        assert pay(box, command).created
        return
    answer = refused(box, command)
    assert (answer.reason, answer.detail) == (Reason.ACCOUNT, detail(kind, pattern="digits", message="Digits."))


def test_a_product_without_an_account_field_accepts_any_nonempty_account() -> None:
    box = sandbox()
    assert pay(box, order("r1", "CARD", 5, account="whatever")).created
    assert refused(box, order("r2", "CARD", 5, account="")).detail == detail(
        DetailKind.NO_ACCOUNT, pattern=None, message=None
    )


BY_ACCOUNT = DataSource("dynamic", ("account",), {"account_number": {"from_field": "account"}})
NUMBER = FormField("account", "text", "numeric", "Account", role="account")
DYNAMIC = FormField("amount", "select", "numeric", "Amount", role="pricing", data_source=BY_ACCOUNT)


@pytest.mark.parametrize(
    ("changes", "whom"),
    [
        ({}, {}),
        ({"fields_by_account": frozenset({"amount"})}, {"account": "77"}),
        ({"options_for": {("amount", "77"): CARD.options["amount"]}}, {"account": "77"}),
    ],
)
def test_a_refusal_names_the_account_where_the_denominations_depend_on_it(
    changes: dict[str, Any], whom: dict[str, str]
) -> None:
    product = replace(CARD, fields=(NUMBER, DYNAMIC), **changes)
    box = sandbox(catalog=Catalog(products={"CARD": product}))
    found = refused(box, order(product="CARD", amount=7, account="77")).detail
    assert found == detail(
        NOT_SOLD,
        product="CARD",
        amount=Decimal(7),
        sold=(Decimal(5), Decimal(10), Decimal(20)),
        left_out=None,
        whom=whom,
    )


def test_an_option_that_an_account_is_not_offered_cannot_be_bought_by_it() -> None:
    five, ten = (Option(f"{value}", f"RM{value}", Decimal(value), share=Decimal(value == 5)) for value in (5, 10))
    product = replace(
        CARD,
        fields=(NUMBER, DYNAMIC),
        fields_by_account=frozenset({"amount"}),
        options={"amount": OptionList((five, ten))},
    )
    box = sandbox(catalog=Catalog(products={"CARD": product}))
    assert pay(box, order("r1", "CARD", 5)).created
    assert refused(box, order("r2", "CARD", 10)).reason is Reason.DENOMINATION
