"""The extras of a payment (SPEC 4.11): billers, references, identity numbers, plan codes."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from simulator.domain.handlers.extras import EXTRA_SIZE_MAX
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
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.transactions import Reason
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import fixed_product, money_product, order, pay, refused, sandbox

ACCOUNT = FormField("account", "text", "numeric", "Account", role="account")
AMOUNT = FormField("amount", "money", "decimal", "Amount", role="pricing")
BILLER = FormField("biller", "select", "text", "Biller")
REF2 = FormField("ref2", "text", "text", "Ref-2", required=False, pattern="digits", accepts=str.isdigit)
NOTE = FormField("note", "text", "text", "Note")
BILLERS = OptionList(
    (
        Option("B1", "one"),
        Option("B2", "two", needs_ref2=True),
        Option("B3", "three", is_active=False),
        Option("B4", "four", max_amount=Money(Decimal(50))),
    )
)
INTERBANK = money_product(
    "INTERBANK",
    fields=(ACCOUNT, AMOUNT, BILLER, REF2, NOTE),
    fulfillment=Fulfillment(
        Source("account"),
        Source("amount"),
        {"biller_code": Source("biller", "code"), "ref2": Source("ref2"), "note": Source("note", omit_if_empty=True)},
    ),
    options={"biller": BILLERS},
)


def box_of(product: Product, **more: Any) -> Sandbox:
    return sandbox(catalog=Catalog(products={product.code: product}), **more)


def outcome(box: Sandbox, product: str, amount: object = 10, **extras: object) -> tuple[Reason | None, Detail | None]:
    """The reason and the detail of the refusal; None twice when the payment was created."""
    command = order(f"r{len(box.state.transactions)}", product, amount, extras=extras)
    answer = box.apply(command, box.state.now)
    return (answer.reason, answer.detail) if hasattr(answer, "reason") else (None, None)


@pytest.mark.parametrize(
    ("extras", "wrong"),
    [
        ({"biller_code": "B1"}, None),
        ({"biller_code": "B1", "ref2": "12", "note": "x"}, None),
        ({}, detail(DetailKind.MISSING, name="extras.biller_code", product="INTERBANK")),
        ({"biller_code": None}, detail(DetailKind.MISSING, name="extras.biller_code", product="INTERBANK")),
        ({"biller_code": 1}, detail(DetailKind.EXTRA_NO_TEXT, name="extras.biller_code")),
        ({"biller_code": "B3"}, detail(DetailKind.INACTIVE_OPTION, name="extras.biller_code", code="B3")),
        ({"biller_code": "B2"}, detail(DetailKind.MISSING, name="extras.ref2", biller="B2")),
        (
            {"biller_code": "B2", "ref2": ""},
            detail(DetailKind.EXTRA_PATTERN, name="extras.ref2", pattern="digits", message=None),
        ),
        ({"biller_code": "B2", "ref2": "1"}, None),
        (
            {"biller_code": "B1", "ref2": "x"},
            detail(DetailKind.EXTRA_PATTERN, name="extras.ref2", pattern="digits", message=None),
        ),
        ({"biller_code": "B1", "note": "x" * (EXTRA_SIZE_MAX - 4)}, None),
        (
            {"biller_code": "B1", "note": "x" * (EXTRA_SIZE_MAX - 3)},
            detail(DetailKind.EXTRA_TOO_LARGE, name="extras.note", most=1000),
        ),
    ],
)
def test_an_extra_is_required_when_needed_and_fits_its_field(extras: dict[str, object], wrong: Detail | None) -> None:
    reason, found = outcome(box_of(INTERBANK), "INTERBANK", **extras)
    assert (reason, found) == (wrong and Reason.EXTRAS, wrong)


@pytest.mark.parametrize(
    ("code", "nearest", "known"),
    [("b1", "B1", ()), ("unlike", "", ("B1", "B2", "B4"))],
)
def test_an_unknown_option_is_answered_with_the_likely_one_or_with_all(
    code: str, nearest: str, known: tuple[str, ...]
) -> None:
    _, found = outcome(box_of(INTERBANK), "INTERBANK", biller_code=code)
    facts = {"name": "extras.biller_code", "product": "INTERBANK", "code": code, "whom": {}}
    assert found == detail(DetailKind.NO_OPTION, nearest=nearest, known=known, **facts)


def test_the_limits_of_the_chosen_biller_apply() -> None:
    box = box_of(INTERBANK)
    assert outcome(box, "INTERBANK", 50, biller_code="B4") == (None, None)
    too_much = detail(DetailKind.TOO_MUCH, amount=Decimal(51), high=Decimal(50), biller="B4")
    assert outcome(box, "INTERBANK", 51, biller_code="B4") == (Reason.DENOMINATION, too_much)
    assert outcome(box, "INTERBANK", 51, biller_code="B1") == (None, None)


# Extras that the product does not have


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("x" * 999, True),
        ("x" * 1000, False),
        (["x" * 998], True),
        (["x" * 999], False),
        ([1] * 499, True),
        ([1] * 500, False),
        ({"ab": "x" * 996}, True),  # the item, its name and its text
        ({"ab": "x" * 997}, False),
        ([[]] * 999, True),
        ([[]] * 1000, False),
        ([""] * 999, True),
        ([*[""] * 997, "x"], True),
        ([*[""] * 998, "x"], False),
        ([["x" * 500], ["y" * 495]], True),
        ([["x" * 500], ["y" * 496]], False),
        (None, True),
        ([[[1]]], True),
    ],
)
def test_an_extra_that_the_product_lacks_has_at_most_a_thousand_characters_and_items(value: object, fits: bool) -> None:
    reason, found = outcome(box_of(fixed_product()), "CARD", 5, o=value)
    wrong = None if fits else detail(DetailKind.EXTRA_TOO_LARGE, name="extras.o", most=1000)
    assert (reason, found) == (wrong and Reason.EXTRAS, wrong)


@pytest.mark.parametrize(
    ("extras", "names", "nearest"),
    [
        ({"zzz": 1}, ["zzz"], []),
        ({"biler_code": "B1"}, ["biler_code"], []),  # the likely name is present already
        ({"nota": "x"}, ["nota"], ["note"]),
        ({"nota": "x", "note": "y"}, ["nota"], []),
        ({f"x{number}": 1 for number in range(7)}, [f"x{number}" for number in range(7)], []),
        ({"nota": 1} | {f"a{number}": 1 for number in range(5)}, [*(f"a{number}" for number in range(5)), "nota"], []),
    ],
)
def test_ignored_extras_are_named_with_the_likely_names(
    extras: dict[str, object], names: list[str], nearest: list[str]
) -> None:
    answer = pay(box_of(INTERBANK), order(product="INTERBANK", amount=10, extras={"biller_code": "B1"} | extras))
    paths = [tuple(f"extras.{name}" for name in some) for some in (names, nearest)]
    assert answer.ignored == detail(DetailKind.IGNORED_EXTRAS, nearest=paths[1], product="INTERBANK", names=paths[0])
    assert not set(names) & set(answer.transaction.extras)


def test_a_requery_with_another_extra_of_the_product_is_answered_with_the_stored_extras() -> None:
    box = box_of(INTERBANK)
    pay(box, order(product="INTERBANK", amount=10, extras={"biller_code": "B1"}))
    again = pay(box, order(product="INTERBANK", amount=10, extras={"biller_code": "B1", "note": "x", "o": 1}))
    assert again.detail == detail(DetailKind.REFID_EXISTS, refid="ref-1", kept={"extras.note": None})


def test_a_refusal_names_the_ignored_extras_but_where_one_of_them_is_the_reason() -> None:
    box = box_of(INTERBANK, balance="0.50")
    good = {"biller_code": "B1", "o": "x"}
    refusal = refused(box, order(product="INTERBANK", amount=10, extras=good))
    assert (refusal.reason, refusal.ignored is None) == (Reason.BALANCE, False)
    refusal = refused(box, order(product="INTERBANK", amount=10, extras=good | {"o": "x" * (EXTRA_SIZE_MAX + 1)}))
    assert (refusal.reason, refusal.ignored) == (Reason.EXTRAS, None)


def test_a_requery_names_the_extras_that_it_sends_and_that_are_ignored() -> None:
    box = box_of(INTERBANK)
    first = order(product="INTERBANK", amount=10, extras={"biller_code": "B1"})
    assert pay(box, first).created
    again = pay(box, msgspec.structs.replace(first, extras={"biller_code": "B1", "o": 1}))
    assert (again.created, again.ignored and again.ignored.facts["names"]) == (False, ("extras.o",))
    assert pay(box, first).ignored is None


def test_a_scenario_may_reject_extras_that_the_product_lacks() -> None:
    box = box_of(INTERBANK, assume={"unsupported-extras": "reject"})
    known = ("extras.biller_code", "extras.ref2", "extras.note")
    wrong = detail(DetailKind.UNSUPPORTED_EXTRAS, product="INTERBANK", names=("extras.o",), known=known)
    assert outcome(box, "INTERBANK", biller_code="B1", o=1) == (Reason.EXTRAS, wrong)
    answer = pay(box, order(product="INTERBANK", amount=10, extras={"biller_code": "B1"}))
    assert answer.ignored is None


# Plan codes (rules 2 and 3 of SPEC 4.11)

PLANS = OptionList(
    (
        Option("P5", "five", Decimal(5)),
        Option("A10", "ten", Decimal(10)),
        Option("B10", "ten", Decimal(10)),
        Option("P20", "twenty", Decimal(20), is_active=False),
    )
)
DATA_AMOUNT = FormField("plan", "select", "numeric", "Plan", role="pricing")
DATA = money_product(
    "DATA",
    fields=(ACCOUNT, DATA_AMOUNT),
    fulfillment=Fulfillment(
        Source("account"), Source("plan", "denomination"), {"subproduct_code": Source("plan", "code")}
    ),
    options={"plan": PLANS},
)
UNKNOWN, MISMATCH, REQUIRED = Reason.PLAN_UNKNOWN, Reason.PLAN_MISMATCH, Reason.PLAN_REQUIRED


@pytest.mark.parametrize(
    ("amount", "code", "reason", "remarks"),
    [
        (5, None, None, ""),  # one plan has this amount
        (5, "", UNKNOWN, "unknown or inactive option code: "),
        (10, None, REQUIRED, "several plans share this amount and a plan code is required"),
        (10, "A10", None, ""),
        (10, "B10", None, ""),
        (10, "a10", UNKNOWN, "unknown or inactive option code: a10"),  # case-sensitive
        (20, "P20", UNKNOWN, "unknown or inactive option code: P20"),
        (20, None, Reason.DENOMINATION, ""),
        (5, "A10", MISMATCH, "option code does not match the amount: code A10, amount 5"),
        ("10.50", "A10", MISMATCH, "option code does not match the amount: code A10, amount 10.50"),
        (7, "x" * 101, UNKNOWN, f"unknown or inactive option code: {'x' * 100}"),
    ],
)
def test_a_plan_code_names_a_plan_on_sale_at_this_amount(
    amount: object, code: str | None, reason: Reason | None, remarks: str
) -> None:
    extras = {} if code is None else {"subproduct_code": code}
    box = box_of(DATA)
    command = order(product="DATA", amount=amount, extras=extras)
    if reason is None:
        assert pay(box, command).transaction.extras == extras
        return
    answer = refused(box, command)
    assert (answer.reason, answer.remarks) == (reason, remarks)
    assert answer.code == (58 if reason is Reason.DENOMINATION else 44)


def test_a_product_with_plans_may_have_billers_too() -> None:
    sources = {"subproduct_code": Source("plan", "code"), "biller_code": Source("biller", "code")}
    fulfillment = Fulfillment(Source("account"), Source("plan", "denomination"), sources)
    options = {"plan": PLANS, "biller": BILLERS}
    box = box_of(replace(DATA, fields=(*DATA.fields, BILLER), fulfillment=fulfillment, options=options))
    assert outcome(box, "DATA", 5, subproduct_code="P5", biller_code="B1") == (None, None)
    wrong = detail(DetailKind.MISSING, name="extras.ref2", biller="B2")
    assert outcome(box, "DATA", 5, subproduct_code="P5", biller_code="B2") == (Reason.EXTRAS, wrong)


def test_the_details_of_a_plan_refusal_name_the_plans() -> None:
    box = box_of(DATA)
    assert outcome(box, "DATA", 10)[1] == detail(DetailKind.PLAN_REQUIRED, amount=Decimal(10), codes=("A10", "B10"))
    assert outcome(box, "DATA", 5, subproduct_code="A10")[1] == detail(
        DetailKind.PLAN_MISMATCH, code="A10", denomination=Decimal(10), amount=Decimal(5)
    )
    assert outcome(box, "DATA", 5, subproduct_code=5) == (
        Reason.EXTRAS,
        detail(DetailKind.EXTRA_NO_TEXT, name="extras.subproduct_code"),
    )


@pytest.mark.parametrize(("choice", "is_needed"), [(None, False), ("always", True)])
def test_whether_a_plan_code_is_always_required_is_a_choice(choice: str | None, is_needed: bool) -> None:
    box = box_of(DATA, assume={"plan-code-required": choice})
    wrong = detail(DetailKind.PLAN_REQUIRED, amount=Decimal(5), codes=("P5",))
    assert outcome(box, "DATA", 5) == ((Reason.PLAN_REQUIRED, wrong) if is_needed else (None, None))


CHECK_PLAN = {"unsupported-extras": "check_plan_code"}


@pytest.mark.parametrize(
    ("assume", "product", "code", "reason", "stored"),
    [
        ({}, fixed_product(), "x", None, {}),
        (CHECK_PLAN, fixed_product(), "x", UNKNOWN, {}),
        (CHECK_PLAN, fixed_product(), "CARD-10", MISMATCH, {}),
        (CHECK_PLAN, fixed_product(), "CARD-5", None, {"subproduct_code": "CARD-5"}),
        (CHECK_PLAN, fixed_product(), "x" * 2000, UNKNOWN, {}),
        (CHECK_PLAN, money_product("CARD"), "x", None, {}),  # its pricing field has no options
        (CHECK_PLAN, money_product("CARD", fields=()), "x", None, {}),
    ],
)
def test_a_scenario_may_check_plan_codes_of_products_without_plans(
    assume: dict[str, str], product: Product, code: str, reason: Reason | None, stored: dict[str, str]
) -> None:
    box = box_of(product, assume=assume)
    command = order(product="CARD", account="1", amount=5, extras={"subproduct_code": code})
    if reason is not None:
        assert refused(box, command).reason is reason
        return
    answer = pay(box, command)
    assert answer.transaction.extras == stored
    assert (answer.ignored is None) is bool(stored)


def test_a_plan_code_that_is_no_text_is_refused_where_it_is_checked_anyway() -> None:
    found = outcome(box_of(fixed_product(), assume=CHECK_PLAN), "CARD", 5, subproduct_code=5)
    assert found == (UNKNOWN, detail(DetailKind.EXTRA_NO_TEXT, name="extras.subproduct_code"))


# Options that depend on an identity number, and the account of a selected option

IC = FormField("ic", "text", "numeric", "Identity number", pattern="12 digits", accepts=lambda text: len(text) == 12)
LOAN_SOURCE = DataSource("dynamic", ("ic",), {"account_number": {"from_field": "ic"}})
LOAN = FormField("loan", "select", "text", "Loan", role="account", data_source=LOAN_SOURCE)
MINE, THEIRS, NOBODY = "900101145678", "850101145678", "700101145678"
STUDENTLOAN = money_product(
    "LOAN",
    fields=(LOAN, AMOUNT, IC),
    fulfillment=Fulfillment(
        Source("loan", "account_number"),
        Source("amount"),
        {"ic_number": Source("ic"), "subproduct_code": Source("loan", "code")},
    ),
    options={"loan": OptionList()},
    options_for={
        ("loan", MINE): OptionList(
            (
                Option("K", "one", account_number="111"),
                Option("S", "two", account_number="222"),
                Option("T", "three", account_number="333", is_active=False),
            )
        ),
        ("loan", THEIRS): OptionList([Option("U", "four", account_number="444")]),
    },
)


def loan(account: str, code: object = None, number: object = MINE, **more: Any) -> tuple[Reason, Detail | None] | None:
    extras = {"ic_number": number} | ({} if code is None else {"subproduct_code": code})
    box = box_of(more.pop("product", STUDENTLOAN), **more)
    answer = box.apply(order(product="LOAN", account=account, amount=10, extras=extras), box.state.now)
    return (answer.reason, answer.detail) if hasattr(answer, "reason") else None


NUMBER = "extras.ic_number"
WHOM = {NUMBER: MINE}
CODE: dict[str, Any] = {"name": "extras.subproduct_code", "product": "LOAN"}


@pytest.mark.parametrize(
    ("account", "code", "wrong"),
    [
        ("111", "K", None),
        ("222", "S", None),
        *[
            (account, "K", detail(DetailKind.FOREIGN_ACCOUNT, account=account, code="K", whose=WHOM, accounts=("111",)))
            for account in ("222", "333", "444", "555")
        ],
    ],
)
def test_the_account_comes_from_the_selected_option(account: str, code: str, wrong: Detail | None) -> None:
    assert loan(account, code) == (None if wrong is None else (Reason.ACCOUNT, wrong))


@pytest.mark.parametrize(
    ("code", "number", "wrong"),
    [
        ("T", MINE, detail(DetailKind.INACTIVE_OPTION, name="extras.subproduct_code", code="T")),
        *[
            (code, MINE, detail(DetailKind.NO_OPTION, code=code, whom=WHOM, nearest="", known=("K", "S"), **CODE))
            for code in ("U", "Z")
        ],
        (
            "K",
            NOBODY,
            detail(DetailKind.NO_OPTION, code="K", whom={NUMBER: NOBODY}, nearest="", known=(), **CODE),
        ),
        ("K", "short", detail(DetailKind.EXTRA_PATTERN, name="extras.ic_number", pattern="12 digits", message=None)),
        ("K", 5, detail(DetailKind.EXTRA_NO_TEXT, name="extras.ic_number")),
    ],
)
def test_an_option_is_offered_to_this_identity(code: str, number: object, wrong: Detail) -> None:
    assert loan("111", code, number) == (Reason.EXTRAS, wrong)


def test_an_identity_that_does_not_fit_is_reported_for_itself_before_its_options() -> None:
    last = Fulfillment(
        STUDENTLOAN.fulfillment.account, Source("amount"), dict(reversed(list(STUDENTLOAN.fulfillment.extras.items())))
    )
    wrong = detail(DetailKind.EXTRA_PATTERN, name="extras.ic_number", pattern="12 digits", message=None)
    assert loan("111", "K", "short", product=replace(STUDENTLOAN, fulfillment=last)) == (Reason.EXTRAS, wrong)


def test_a_code_may_be_left_out_where_the_account_is_enough() -> None:
    extras = {"ic_number": Source("ic"), "subproduct_code": Source("loan", "code", omit_if_empty=True)}
    product = replace(STUDENTLOAN, fulfillment=Fulfillment(Source("loan", "account_number"), Source("amount"), extras))
    assert loan("222", product=product) is None
    wrong = detail(DetailKind.FOREIGN_ACCOUNT, account="5", code="", whose=WHOM, accounts=("111", "222"))
    assert loan("5", product=product) == (Reason.ACCOUNT, wrong)


def test_the_reason_of_a_wrong_account_is_a_choice() -> None:
    answer = loan("555", "K", assume={"option-account": "Invalid_Extras"})
    assert answer is not None
    assert answer[0] is Reason.EXTRAS
