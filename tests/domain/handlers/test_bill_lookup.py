"""Bills in the domain: drawn from the seed, written by rules, reduced by payments, refused in order."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from simulator.domain.commands import LookUpBill, OpenCase
from simulator.domain.model.bills import (
    Bill,
    BillError,
    BillField,
    BillFound,
    BillRefused,
    BillThen,
    PersonPools,
    draw_bill,
)
from simulator.domain.model.cases import CaseKind
from simulator.domain.model.catalog import (
    Catalog,
    FormField,
    Fulfillment,
    Money,
    Option,
    OptionList,
    Source,
)
from simulator.domain.model.details import DetailKind, detail
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import Status, Step
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import (
    ACCEPTED,
    BILL,
    CATALOG,
    PEOPLE,
    PROFILE,
    after,
    fire_due,
    money_product,
    order,
    pay,
    rule,
    sandbox,
    seconds,
)

KEY = ("P", "1", "")
NOON = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
BILLERS = OptionList(
    (
        Option("1", "Club", needs_ref2=True),
        Option("2", "School", min_amount=Money(Decimal(50)), max_amount=Money(Decimal(60))),
        Option("3", "Closed", is_active=False),
    )
)
SCHEME = money_product(
    "SCHEME",
    fields=(FormField("biller", "select", "text", "Biller"), *money_product().fields),
    bill=msgspec.structs.replace(PROFILE, biller_name="", returned=frozenset({BillField.OUTSTANDING})),
    options={"biller": BILLERS},
    fulfillment=Fulfillment(Source("account"), Source("amount"), {"biller_code": Source("biller", "code")}),
)
SOLD = Catalog(
    products={**CATALOG.products, "SCHEME": SCHEME, "OLD": money_product("OLD", bill=PROFILE, is_active=False)}
)


def look_up(box: Sandbox, product: str = "BILL", account: str = "123456", at: float = 0, **more: Any) -> Any:
    return box.apply(LookUpBill(more.pop("reseller", "R1"), product, account, **more), seconds(at))


def bill(box: Sandbox, **more: Any) -> Bill:
    found = look_up(box, **more)
    assert isinstance(found, BillFound), found
    return found.bill


def bill_rule(changes: Mapping[str, object] | None = None, error: BillError | str = "", **more: Any) -> Rule[BillThen]:
    then = BillThen(changes or {}, BillRefused(error, more.pop("label", "")) if error else None)
    return Rule(more.pop("id_", "b1"), more.pop("when", lambda facts: True), then, **more)


def test_an_account_always_has_the_same_bill_and_another_account_another_bill() -> None:
    first, again, other = (bill(sandbox(), account=account) for account in ("123456", "123456", "654321"))
    assert first == again != other
    assert Decimal(20) <= (first.outstanding or 0) <= Decimal(400)
    assert first.biller_name == "The Biller"
    assert None not in (first.customer_name, first.balance, first.data, first.address, first.e_bill, first.due_date)


def test_another_seed_makes_another_bill() -> None:
    assert draw_bill(PROFILE, "B", ("P", "1", ""), 1, NOON) != draw_bill(PROFILE, "B", ("P", "1", ""), 2, NOON)


def test_a_seed_draws_equal_values_in_every_version() -> None:
    """Scenarios, recorded runs and expectations of users rely on it."""
    assert draw_bill(PROFILE, "B", KEY, 1, NOON) == Bill(
        "B",
        customer_name="Devi Lim",
        outstanding=Decimal("31.22"),
        balance="44.63",
        data="25.56 GB",
        address="2, Jalan Melati, 30000 Ipoh, Perak",
        e_bill="https://bills.example.com/ac4626ee-38fe-46ba-84c5-5a5dd9765306.pdf",
        due_date=date(2026, 12, 9),
    )


def test_an_account_holder_is_requested_only_by_bills_that_show_it() -> None:
    def nobody() -> PersonPools:
        raise AssertionError("nobody was needed")

    returned = frozenset(BillField) - {BillField.CUSTOMER, BillField.ADDRESS}
    made = draw_bill(
        msgspec.structs.replace(PROFILE, returned=returned, people=nobody, custom_field={"a": ["b"]}), "B", KEY, 1, NOON
    )
    assert (made.customer_name, made.address, made.custom_field) == (None, None, {"a": ["b"]})


def test_the_identity_number_of_the_account_holder_is_in_the_billers_field() -> None:
    written = {"holder": {"ic": "{ic_number}", "all": ["no. {ic_number}", 1, None]}, "{ic_number}": "plain"}
    made = draw_bill(msgspec.structs.replace(PROFILE, custom_field=written), "B", KEY, 1, NOON)
    number = PEOPLE.ic_number(1, "bill", *KEY)
    assert made.custom_field == {"holder": {"ic": number, "all": [f"no. {number}", 1, None]}, "{ic_number}": "plain"}


@pytest.mark.parametrize("field", list(BillField))
def test_a_bill_has_exactly_the_fields_of_its_profile(field: BillField) -> None:
    made = draw_bill(msgspec.structs.replace(PROFILE, returned=frozenset({field})), "B", ("P", "1", ""), 1, NOON)
    fields = {
        BillField.CUSTOMER: made.customer_name,
        BillField.OUTSTANDING: made.outstanding,
        BillField.BALANCE: made.balance,
        BillField.DATA: made.data,
        BillField.ADDRESS: made.address,
        BillField.E_BILL: made.e_bill,
        BillField.DUE_DATE: made.due_date,
    }
    assert {name for name, value in fields.items() if value is not None} == {field}


def test_amounts_are_drawn_between_the_bounds_to_the_cent() -> None:
    profile = msgspec.structs.replace(PROFILE, lowest=Decimal("1.50"), highest=Decimal("1.52"))
    drawn = {draw_bill(profile, "B", ("P", str(n), ""), 1, NOON).outstanding for n in range(60)}
    assert drawn == {Decimal("1.50"), Decimal("1.51"), Decimal("1.52")}


def test_balances_reach_from_0_to_50_ringgit_and_data_from_0_to_30_gigabytes() -> None:
    bills = [draw_bill(PROFILE, "B", ("P", str(n), ""), 1, NOON) for n in range(400)]
    balances = [Decimal(str(bill.balance)) for bill in bills]
    data = [Decimal(str(bill.data).removesuffix(" GB")) for bill in bills]
    assert 0 <= min(balances) < 1 < 49 < max(balances) <= 50
    assert 0 <= min(data) < 1 < 29 < max(data) <= 30


def test_a_bill_is_due_on_its_own_day_of_the_month_which_never_has_passed() -> None:
    due = {n: draw_bill(PROFILE, "B", ("P", str(n), ""), 1, NOON).due_date for n in range(60)}
    for n, day in due.items():
        assert isinstance(day, date)
        assert date(2026, 11, 21) <= day <= date(2026, 12, 20)
        later = draw_bill(PROFILE, "B", ("P", str(n), ""), 1, NOON.replace(year=2027, month=1, day=31)).due_date
        assert isinstance(later, date)
        assert (later.day, later.month) == (day.day, 2)
    assert len(set(due.values())) > 15


def test_a_payment_reduces_the_outstanding_amount_and_a_refund_restores_it() -> None:
    box = sandbox(rule(ACCEPTED, after(5, Status.SUCCESSFUL)))
    full = bill(box).outstanding
    assert full is not None
    pay(box, order(amount="15.50"))
    assert bill(box, at=4).outstanding == full, "a pending payment has paid nothing"
    fire_due(box, seconds(5))
    assert bill(box, at=5).outstanding == full - Decimal("15.50")
    assert bill(box, at=5, reseller="R2").outstanding == full - Decimal("15.50"), "it is the biller's"
    pay(box, order("ref-2", amount=500, reseller="R2"), at=5)
    fire_due(box, seconds(10))
    assert bill(box, at=10).outstanding == 0
    box.apply(OpenCase(CaseKind.VOID, "R2", "ref-2"), seconds(10))
    fire_due(box, seconds(70))
    assert bill(box, at=70).outstanding == full - Decimal("15.50")
    assert bill(box, account="999", at=70).outstanding != 0


def test_a_failed_payment_pays_nothing() -> None:
    box = sandbox(rule(Step(Status.FAILED)))
    full = bill(box).outstanding
    pay(box)
    assert bill(box).outstanding == full


def test_bills_of_an_account_at_several_billers_are_separate() -> None:
    box = sandbox(rule(Step(Status.SUCCESSFUL)), catalog=SOLD)
    one, two = (bill(box, product="SCHEME", biller_code=code, ref2="r") for code in "12")
    assert one.outstanding != two.outstanding
    pay(box, order(product="SCHEME", amount=500, extras={"biller_code": "1", "ref2": "r"}))
    assert bill(box, product="SCHEME", biller_code="1", ref2="r").outstanding == 0
    assert bill(box, product="SCHEME", biller_code="2") == two


def test_a_product_without_billers_has_a_single_bill_per_account_under_any_code() -> None:
    box = sandbox()
    assert bill(box, biller_code="1") == bill(box)


def test_a_product_with_several_billers_shows_the_requested_biller() -> None:
    box = sandbox(catalog=SOLD)
    made = bill(box, product="SCHEME", biller_code="2", amount="50")
    assert made == Bill("School", outstanding=made.outstanding)
    assert Decimal(50) <= (made.outstanding or 0) <= Decimal(60), "it can be paid at once"


REFUSALS = [
    ({"product": "NONE"}, BillError.PRODUCT),
    ({"product": "CARD"}, BillError.UNAVAILABLE),
    ({"product": "OLD"}, BillError.UNAVAILABLE),
    ({"product": "SCHEME"}, BillError.BILLER),
    ({"product": "SCHEME", "biller_code": "9"}, BillError.BILLER),
    ({"product": "SCHEME", "biller_code": "3"}, BillError.BILLER),
    ({"product": "SCHEME", "biller_code": "9", "account": "x", "amount": "x"}, BillError.BILLER),
    ({"product": "SCHEME", "biller_code": "1", "account": "x"}, BillError.REF2),
    ({"product": "SCHEME", "biller_code": "1", "account": "x", "ref2": "r"}, BillError.ACCOUNT),
    ({"product": "SCHEME", "biller_code": "2", "amount": "49.99"}, BillError.AMOUNT),
    ({"product": "SCHEME", "biller_code": "2", "amount": "60.01"}, BillError.AMOUNT),
    ({"product": "SCHEME", "biller_code": "1", "ref2": "r", "amount": "0.5"}, BillError.AMOUNT),
    ({"account": "12a"}, BillError.ACCOUNT),
    ({"account": "12a", "amount": "x"}, BillError.ACCOUNT),
    ({"amount": "x"}, BillError.AMOUNT),
    ({"amount": "0"}, BillError.AMOUNT),
    ({"amount": "-5"}, BillError.AMOUNT),
    ({"amount": "0.99"}, BillError.AMOUNT),
    ({"amount": "10.001"}, BillError.AMOUNT),
    ({"amount": "10000.01"}, BillError.AMOUNT),
    ({"amount": "1e5"}, BillError.AMOUNT),
    ({"amount": "1,000"}, BillError.AMOUNT),
    ({"amount": "9" * 60}, BillError.AMOUNT),
]


@pytest.mark.parametrize(("asked", "error"), REFUSALS)
def test_the_first_failed_check_of_a_look_up_is_reported(asked: dict[str, Any], error: BillError) -> None:
    assert look_up(sandbox(catalog=SOLD), **asked) == BillRefused(error)


def test_a_look_up_of_a_product_without_bills_names_the_products_that_have_bills() -> None:
    assert look_up(sandbox(catalog=SOLD), "CARD").detail == detail(
        DetailKind.NO_BILLS, product="CARD", able=("BILL", "SCHEME")
    )
    assert look_up(sandbox(catalog=SOLD), "OLD").detail == detail(DetailKind.INACTIVE_PRODUCT, product="OLD")


def test_a_look_up_without_a_biller_says_so_and_an_unknown_biller_is_answered_with_the_billers_on_sale() -> None:
    box = sandbox(catalog=SOLD)
    missing = detail(DetailKind.MISSING, name="biller_code", product="SCHEME")
    assert look_up(box, "SCHEME").detail == missing
    facts = {"name": "biller_code", "product": "SCHEME", "code": "9", "nearest": "", "whom": {}, "known": ("1", "2")}
    assert look_up(box, "SCHEME", biller_code="9").detail == detail(DetailKind.NO_OPTION, **facts)


@pytest.mark.parametrize("amount", ["", "1", "10000.00", "12.5", "1e3", " +10. "])
def test_a_valid_amount_changes_nothing(amount: str) -> None:
    assert bill(sandbox(), amount=amount) == bill(sandbox())


def test_a_rule_lays_its_fields_over_the_drawn_bill_and_needs_no_valid_account() -> None:
    changes = {"customer_name": "Nobody", "address": None, "outstanding": Decimal("88.80")}
    found = look_up(sandbox(bills=(bill_rule(changes, name="odd"),)), account="no digits")
    assert (found.rule, found.bill.customer_name, found.bill.address) == ("odd", "Nobody", None)
    assert (found.bill.outstanding, found.bill.e_bill is None) == (Decimal("88.80"), False)


def test_a_bill_is_valid_unless_a_rule_says_otherwise() -> None:
    assert bill(sandbox()).is_valid
    assert not bill(sandbox(bills=(bill_rule({"is_valid": False}),))).is_valid


def test_a_rule_may_give_a_bill_to_a_product_without_bills() -> None:
    box = sandbox(bills=(bill_rule({"outstanding": Decimal(5)}),))
    assert bill(box, product="CARD") == Bill("Product CARD", outstanding=Decimal(5))


def test_payments_reduce_an_amount_written_by_a_rule() -> None:
    box = sandbox(rule(Step(Status.SUCCESSFUL)), bills=(bill_rule({"outstanding": Decimal("88.80")}),))
    pay(box, order(amount="8.80"))
    assert bill(box).outstanding == Decimal(80)


def test_a_rule_refuses_with_its_own_words_and_is_named() -> None:
    box = sandbox(bills=(bill_rule(error="Come back tomorrow", label="closed", name="closed"),))
    assert look_up(box) == BillRefused("Come back tomorrow", "closed", "closed")
    assert look_up(box, product="NONE") == BillRefused(BillError.PRODUCT)


def test_rules_see_the_look_up() -> None:
    seen: list[dict[str, object]] = []

    def when(facts: Any) -> bool:
        seen.append(dict(facts))
        assert seen[-1].pop("outstanding") is not None
        return False

    box = sandbox(bills=(bill_rule(when=when),))
    look_up(box, biller_code="7", ref2="8", amount="10", sender="::1", key="rk")
    look_up(box, reseller="R2")
    common = {"product": "BILL", "account": "123456", "now": box.state.now, "start": box.state.started}
    signed = {"key": "rk", "address": "::1"}
    assert seen == [
        {**common, "reseller": "R1", "amount": "10", "extras": {"biller_code": "7", "ref2": "8"}, **signed},
        {**common, "reseller": "R2", "amount": None, "extras": {}, "key": "", "address": ""},
    ]


def test_payments_of_products_without_bills_are_not_remembered() -> None:
    box = sandbox(rule(Step(Status.SUCCESSFUL)))
    pay(box, order(product="CARD", amount=5))
    assert box.state.bills_paid == {}
    pay(box, order("ref-2", extras={"biller_code": ["odd"]}))
    assert list(box.state.bills_paid) == [(BILL.code, "123456", "")]


@pytest.mark.parametrize(
    ("product", "sent", "ignored"),
    [
        ("BILL", {}, None),
        ("BILL", {"biller_code": "1"}, ("biller_code",)),
        ("BILL", {"ref2": "A1"}, ("ref2",)),
        ("BILL", {"biller_code": "1", "ref2": "A1"}, ("biller_code", "ref2")),
        ("SCHEME", {"biller_code": "2", "ref2": "A1"}, None),
    ],
)
def test_parameters_that_a_product_does_not_use_are_named(
    product: str, sent: dict[str, Any], ignored: tuple[str, ...] | None
) -> None:
    names = None if ignored is None else {"names": ignored, "product": product}
    detail = look_up(sandbox(catalog=SOLD), product, **sent).detail
    assert (detail.facts if detail else None) == names


@pytest.mark.parametrize(
    ("bills", "product", "unpaid"),
    [
        ((bill_rule({"outstanding": Decimal("88.80")}),), "BILL", Decimal("88.80")),
        ((bill_rule(error="Come back tomorrow"),), "BILL", None),
        ((), "CARD", None),
    ],
)
def test_a_payments_rule_sees_what_the_look_up_would_show(
    bills: tuple[Rule[BillThen], ...], product: str, unpaid: Decimal | None
) -> None:
    def when(facts: Any) -> bool:
        assert facts["outstanding"]() == unpaid
        return True

    box = sandbox(rule(Step(Status.SUCCESSFUL), when=when, id_="r1"), bills=bills)
    assert pay(box, order(product=product, amount=5)).rule == "r1"
    assert [count.matched for _, count in box.state.bills.counted_rules()] == [0] * len(bills), "it counts no rule"
