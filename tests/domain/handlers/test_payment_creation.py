"""Creating and re-querying payments (SPEC 4.11)."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from simulator.domain.commands import ChangeProduct
from simulator.domain.model.catalog import Catalog, Category, Discount, Fulfillment, Group, Money, Overlay, Source
from simulator.domain.model.details import DetailKind, detail
from simulator.domain.model.domain_events import DomainEvent, LedgerPosting
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import PaymentThen, Reason, Refusal, Status, Step
from simulator.domain.model.wallet import EntryType
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import (
    ACCEPTED,
    BILL,
    START,
    after,
    fire_due,
    fixed_product,
    money_product,
    order,
    pay,
    refused,
    rule,
    sandbox,
    scenario,
    seconds,
)


def balance(box: Sandbox, reseller: str = "R1") -> Decimal:
    return box.state.resellers[reseller].wallet.balance


def test_a_payment_debits_its_cost_and_answers_with_the_first_step() -> None:
    box = sandbox()
    answer = pay(box)
    assert (answer.created, answer.result.status, answer.result.kind.code) == (True, Status.ACCEPTED, 1)
    assert (answer.result.kind.cost, answer.balance) == (Decimal("97.00"), Decimal("903.00"))
    assert [entry.type for entry in box.state.resellers["R1"].wallet.entries] == [EntryType.TRANSACTION]


def test_a_refid_answers_with_its_first_payment_for_ever() -> None:
    box = sandbox()
    first = pay(box)
    again = pay(box, order(amount=50, account="999999"), at=10**9)
    assert again.transaction is first.transaction
    assert not again.created
    assert balance(box) == Decimal("903.00")


def test_payments_of_a_kind_share_it_until_the_product_changes() -> None:
    box = sandbox()
    first, second = (pay(box, order(f"ref-{number}")).transaction for number in range(2))
    assert first.kind is second.kind
    box.apply(ChangeProduct("BILL", {"name": "Renamed"}), START)
    third, fourth = (pay(box, order(f"ref-{number}")).transaction for number in (2, 3))
    assert third.kind is fourth.kind
    assert (first.kind.product_name, third.kind.product_name) == (BILL.name, "Renamed")


def test_a_refid_belongs_to_one_reseller() -> None:
    box = sandbox()
    assert pay(box).transaction.trxid != pay(box, order(reseller="R2")).transaction.trxid
    assert (balance(box), balance(box, "R2")) == (Decimal("903.00"), Decimal("903.00"))


def test_a_refid_with_other_parameters_is_refused_when_the_scenario_says_so() -> None:
    box = sandbox(assume={"refid-reused-with-other-parameters": "reject"})
    pay(box)
    assert refused(box, order(amount=50)).reason is Reason.REFID
    assert not pay(box, order(amount="100.00")).created, "the same amount, written otherwise"


REFUSALS = [
    # product, account, amount, reason
    ("NONE", "123456", 100, Reason.PRODUCT),
    ("NONE", "abc", "x", Reason.PRODUCT),
    ("OFF", "123456", 5, Reason.PRODUCT),
    ("BILL", "abc", 100, Reason.ACCOUNT),
    ("BILL", "abc", "x", Reason.ACCOUNT),
    ("BILL", "123456", "x", Reason.DENOMINATION),
    ("BILL", "123456", 0, Reason.DENOMINATION),
    ("BILL", "123456", -5, Reason.DENOMINATION),
    ("BILL", "123456", "0.99", Reason.DENOMINATION),
    ("BILL", "123456", "10000.01", Reason.DENOMINATION),
    ("BILL", "123456", "1.001", Reason.DENOMINATION),
    ("BILL", "123456", Decimal("1e400"), Reason.DENOMINATION),
    ("BILL", "123456", 10**60, Reason.DENOMINATION),
    ("BILL", "123456", True, Reason.DENOMINATION),
    ("CARD", "123456", 7, Reason.DENOMINATION),
    ("BILL", "123456", 9999, Reason.BALANCE),
]


@pytest.mark.parametrize(("product", "account", "amount", "reason"), REFUSALS)
def test_the_first_failed_check_refuses_and_nothing_is_created(
    product: str, account: str, amount: object, reason: Reason
) -> None:
    catalog = Catalog(
        products={p.code: p for p in (money_product(), fixed_product(), fixed_product("OFF", is_active=False))}
    )
    box = sandbox(catalog=catalog)
    answer = refused(box, order(product=product, account=account, amount=amount))
    assert answer.reason is reason
    assert answer.balance == balance(box) == Decimal("1000.00")
    assert not box.state.transactions
    assert not box.state.resellers["R1"].wallet.entries
    assert pay(box).created, "the refid is still free"


@pytest.mark.parametrize("amount", [10, "10", "10.00", Decimal("1E1"), Decimal("10.0")])
def test_a_denomination_may_be_written_in_every_way(amount: object) -> None:
    assert pay(sandbox(), order(product="CARD", amount=amount)).created


def test_the_last_cent_can_be_spent() -> None:
    box = sandbox(balance="97.00")
    assert pay(box).balance == 0
    assert refused(box, order("ref-2", amount=1)).reason is Reason.BALANCE


def test_a_failed_payment_returns_its_cost_to_the_wallet() -> None:
    box = sandbox(rule(ACCEPTED, after(5, Status.FAILED, code=48)))
    answer = pay(box)
    fire_due(box, seconds(5))
    result = answer.transaction.result
    assert (result.status, result.kind.code, result.kind.cost, result.balance) == (
        Status.FAILED,
        48,
        Decimal(0),
        Decimal("1000.00"),
    )
    assert [entry.type for entry in box.state.resellers["R1"].wallet.entries] == [
        EntryType.TRANSACTION,
        EntryType.REFUND,
    ]
    assert not box.violations()


@pytest.mark.parametrize("status", [Status.FAILED, Status.SUCCESSFUL])
@pytest.mark.parametrize("first", [(), (ACCEPTED,)], ids=["at once", "later"])
def test_the_ledger_has_the_entries_as_they_were_posted(first: tuple[Step, ...], status: Status) -> None:
    box = sandbox(rule(*first, after(5, status) if first else Step(status)))
    events: list[DomainEvent] = []
    box.watch(events.append)
    pay(box, order("ref-1", amount="12.5"))
    pay(box, order("ref-2", account="999999"))
    fire_due(box, seconds(5))
    posted = [event.entry for event in events if isinstance(event, LedgerPosting)]
    entries = box.state.resellers["R1"].wallet.entries
    assert len(posted) == (4 if status is Status.FAILED else 2)
    assert list(entries) == entries[:] == posted
    assert list(map(repr, entries)) == list(map(repr, posted)), "amounts have the same digits"


def test_a_failed_payment_may_keep_reporting_its_cost() -> None:
    box = sandbox(rule(Step(Status.FAILED)), assume={"failed-wallet": "keep_cost"})
    answer = pay(box)
    assert (answer.result.kind.cost, answer.balance) == (Decimal("97.00"), Decimal("1000.00"))


def test_a_final_first_step_is_answered_at_once_and_leaves_nothing_on_the_agenda() -> None:
    box = sandbox(rule(Step(Status.SUCCESSFUL)))
    assert pay(box).result.status is Status.SUCCESSFUL
    assert box.state.agenda.next_due is None


def test_pins_and_expiry_come_with_success_alone() -> None:
    box = sandbox()
    answer = pay(box, order(product="PIN", amount=25))
    assert (answer.result.texts.pin, answer.result.texts.expiry) == ("", None)
    fire_due(box, seconds(5))
    result = answer.transaction.result
    assert result.texts.pin == "7-ref-1"
    assert result.texts.expiry is not None
    assert f"{result.texts.expiry:%Y%m%d}" == "20271101"


def test_ids_depend_only_on_seed_and_refid() -> None:
    alone, crowded = sandbox(), sandbox()
    for number in range(20):
        pay(crowded, order(f"other-{number}", amount=1))
    assert pay(alone).transaction.trxid == pay(crowded).transaction.trxid
    other_seed = Sandbox(scenario(), 8, START)
    assert pay(other_seed).transaction.trxid != pay(alone).transaction.trxid


def test_an_overlay_changes_the_products_of_a_single_reseller() -> None:
    made = scenario()
    first = msgspec.structs.replace(made.resellers[0], overlay={"BILL": Overlay(is_active=False)})
    box = Sandbox(replace(made, resellers=(first, made.resellers[1])), 7, START)
    assert refused(box, order()).reason is Reason.PRODUCT
    assert pay(box, order(reseller="R2")).created


def test_a_fixed_discount_may_cover_the_whole_price() -> None:
    cheap = money_product(discount=Discount("fixed", Decimal("-2.00"), "RM2"))
    box = sandbox(catalog=Catalog(products={"BILL": cheap}))
    assert pay(box, order(amount=1)).result.kind.cost == 0
    assert pay(box, order("ref-2", amount="12.34")).result.kind.cost == Decimal("10.34")


def test_remarks_of_the_caller_are_echoed() -> None:
    assert pay(sandbox(), order(remarks="table 4")).result.texts.remarks == "table 4"


WITH_CODE = money_product(
    "CODED", fulfillment=Fulfillment(Source("account"), Source("amount"), {"code": Source("account")})
)
CODED = Catalog(products={"CODED": WITH_CODE})


def test_a_payment_stores_the_extras_of_its_product_and_no_others() -> None:
    box = sandbox(catalog=CODED, assume={"refid-reused-with-other-parameters": "reject"})
    sent = order(product="CODED", extras={"code": "123", "note": "x" * 900, "more": {"a": [1, "b"]}})
    assert pay(box, sent).transaction.extras == {"code": "123"}
    assert not pay(box, order(product="CODED", extras={"code": "123"})).created, "others are not compared"
    assert refused(box, order(product="CODED", extras={"code": "124"})).reason is Reason.REFID


LARGE: list[tuple[str, object]] = [
    ("code", "1" * 997),
    ("note", "x" * 997),
    ("x" * 1001, "1"),
    ("note", ["x" * 500, {"a": "x" * 500}]),
    ("note", [[]] * 1000),
    ("note", {str(number): 1 for number in range(500)}),
]


@pytest.mark.parametrize(("name", "value"), LARGE, ids=range(len(LARGE)))
def test_an_extra_that_is_too_large_is_refused_though_the_product_lacks_it(name: str, value: object) -> None:
    box = sandbox(catalog=CODED)
    answer = refused(box, order(product="CODED", extras={"code": "123", name: value}))
    assert (answer.reason, answer.code) == (Reason.EXTRAS, 43)
    assert answer.detail is not None
    assert answer.detail.kind is DetailKind.EXTRA_TOO_LARGE


def test_an_extra_may_be_as_long_as_the_limit_says() -> None:
    box = sandbox(catalog=CODED)
    assert pay(box, order(product="CODED", extras={"code": "1" * 996, "note": ["x" * 995]})).created


def test_a_scenario_may_ignore_the_size_of_extras_that_are_not_stored() -> None:
    box = sandbox(catalog=CODED, assume={"extras-size": "stored"})
    answer = pay(box, order(product="CODED", extras={"code": "123", "note": "x" * 5000}))
    assert answer.transaction.extras == {"code": "123"}
    assert refused(box, order("ref-2", product="CODED", extras={"code": "1" * 997})).reason is Reason.EXTRAS


REJECT = {"refid-reused-with-other-parameters": "reject"}


@pytest.mark.parametrize(
    ("other", "kept", "rejected"),
    [
        ({"amount": "1E+2"}, {}, False),
        ({"amount": 50}, {"amount": Decimal(100)}, True),
        ({"amount": "ten"}, {"amount": Decimal(100)}, True),
        ({"account": "1"}, {"account": "123456"}, True),
        ({"product": "CARD"}, {"product": "BILL"}, True),
        ({"remarks": "other"}, {"remarks": ""}, False),
        ({"remarks": "other", "account": "1"}, {"account": "123456", "remarks": ""}, True),
        ({"extras": {"unknown": "x"}}, {}, False),
    ],
)
def test_a_reused_refid_says_what_is_kept_or_is_rejected(other: Any, kept: dict[str, object], rejected: bool) -> None:
    box = sandbox()
    pay(box)
    answer = pay(box, order(**other))
    note = detail(DetailKind.REFID_EXISTS, refid="ref-1", kept=kept)
    assert (answer.created, answer.detail) == (False, note if kept else None)
    box = sandbox(assume=REJECT)
    pay(box)
    if not rejected:
        assert pay(box, order(**other)).detail == (note if kept else None)
        return
    conflict = refused(box, order(**other))
    assert (conflict.reason, conflict.code, conflict.balance) == (Reason.REFID, 46, Decimal(903))
    assert conflict.product_name == "Product BILL"
    assert conflict.detail == detail(DetailKind.REFID_CONFLICT, refid="ref-1", kept=kept)


def test_a_reused_refid_names_extras_that_differ() -> None:
    product = fixed_product(
        "DATA",
        fulfillment=Fulfillment(None, Source("amount"), {"subproduct_code": Source("amount", "code")}),
    )
    box = sandbox(catalog=Catalog(products={"DATA": product}))
    pay(box, order(product="DATA", amount=5, extras={"subproduct_code": "DATA-5"}))
    for extras, kept in [({"subproduct_code": "DATA-5"}, None), ({"subproduct_code": "x"}, "DATA-5"), ({}, "DATA-5")]:
        answer = pay(box, order(product="DATA", amount=5, extras=extras))
        expected = detail(DetailKind.REFID_EXISTS, refid="ref-1", kept={"extras.subproduct_code": kept})
        assert answer.detail == (expected if kept else None)


@pytest.mark.parametrize(("choice", "balance_told"), [(None, "806.00"), ("own_entry", "903.00")])
def test_the_balance_in_a_requery_is_configurable(choice: str | None, balance_told: str) -> None:
    box = sandbox(assume={"requery-balance": choice})
    pay(box)
    assert pay(box, order("ref-2")).balance == Decimal("806.00")
    assert pay(box).balance == Decimal(balance_told)


def test_a_product_that_is_not_sold_says_why_and_what_was_meant() -> None:
    off, hidden = fixed_product("OFF", is_active=False), fixed_product("HIDDEN", is_hidden=True)
    box = sandbox(catalog=Catalog(products={one.code: one for one in (fixed_product(), off, hidden)}))
    for product, wrong in [
        ("OFF", detail(DetailKind.INACTIVE_PRODUCT, product="OFF")),
        (" ", detail(DetailKind.BLANK_PRODUCT)),
        ("CARDS", detail(DetailKind.NO_PRODUCT, product="CARDS", nearest="CARD")),
        ("HIDDE", detail(DetailKind.NO_PRODUCT, product="HIDDE", nearest="")),
        ("OF", detail(DetailKind.NO_PRODUCT, product="OF", nearest="")),
    ]:
        answer = refused(box, order(product=product))
        assert (answer.reason, answer.code, answer.detail) == (Reason.PRODUCT, 41, wrong)
        assert answer.product_name == ("Product OFF" if product == "OFF" else "")


def test_an_insufficient_balance_names_balance_and_cost() -> None:
    answer = refused(sandbox(balance="96.99"), order())
    assert answer.code == 40
    assert answer.detail == detail(DetailKind.BALANCE, balance=Money(Decimal("96.99")), cost=Money(Decimal("97.00")))
    assert pay(sandbox(balance="97.00")).balance == 0


def test_the_balance_has_to_cover_the_face_value_where_the_scenario_says_so() -> None:
    assume = {"insufficient-balance": "face_value"}
    wanted = {"balance": Money(Decimal("99.99")), "face": Money(Decimal(100))}
    assert refused(sandbox(balance="99.99", assume=assume), order()).detail == detail(DetailKind.BALANCE, **wanted)
    assert pay(sandbox(balance="100.00", assume=assume)).balance == 3
    assert pay(sandbox(balance="99.99")).balance == Decimal("2.99")


@pytest.mark.parametrize(
    ("refusal", "code", "remarks"),
    [
        (Refusal(Reason.EXTRAS), 43, ""),
        (Refusal(Reason.EXTRAS, 99, "custom"), 99, "custom"),
        (Refusal(Reason.PLAN_REQUIRED), 44, "several plans share this amount and a plan code is required"),
        (Refusal(Reason.BALANCE, 0), 0, ""),
    ],
)
def test_a_rule_may_refuse_a_payment(refusal: Refusal, code: int, remarks: str) -> None:
    one = Rule("r1", lambda facts: True, PaymentThen((), refusal=refusal), "no")
    box = sandbox(one)
    answer = refused(box, order())
    assert (answer.reason, answer.code, answer.remarks, answer.rule) == (refusal.reason, code, remarks, "no")
    assert (balance(box), len(box.state.transactions), box.state.agenda.next_due) == (Decimal(1000), 0, None)


def test_a_payment_records_what_it_was_and_where_it_came_from() -> None:
    category = Category("c", "Category", ("ABROAD",))
    abroad = money_product("ABROAD", denomination_unit_price=Decimal("0.5"), denomination_currency="THB")
    catalog = Catalog((Group("g", "Group", "", (category,)),), {"ABROAD": abroad})
    box = sandbox(catalog=catalog)
    made = pay(box, order(product="ABROAD", sender="10.0.0.9"), at=3).transaction
    assert (made.face, made.cost) == (Decimal(50), Decimal("48.50"))
    assert (made.kind.currency, made.kind.category) == ("THB", category)
    assert (made.created, made.sender, made.entry_ids, made.rule) == (seconds(3), "10.0.0.9", (1,), "")
    (entry,) = box.state.resellers["R1"].wallet.entries
    assert (entry.remarks, entry.trxid, entry.amount) == ("Product ABROAD 123456", made.trxid, Decimal("-48.50"))
    assert pay(sandbox(), order()).transaction.kind.currency == "MYR"


def test_rules_see_the_payment() -> None:
    seen: dict[str, object] = {}
    one = rule(after(0, Status.SUCCESSFUL), when=lambda facts: seen.update(facts) or True)
    box = sandbox(one)
    pay(box, order(product="BILL", amount="10.00", extras={"x": "y"}, sender="::1", key="rk"), at=5)
    unpaid = seen.pop("outstanding")
    assert callable(unpaid)
    assert seen == {
        "now": seconds(5),
        "start": START,
        "reseller": "R1",
        "product": "BILL",
        "account": "123456",
        "amount": Decimal(10),
        "extras": {"x": "y"},
        "refid": "ref-1",
        "key": "rk",
        "address": "::1",
    }
