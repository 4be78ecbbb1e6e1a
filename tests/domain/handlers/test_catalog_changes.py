"""Changes of products: the differences, the affected resellers, and the catalog's time."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.commands import ChangeProduct, ChangeTree
from simulator.domain.errors import Unacceptable, Unknown
from simulator.domain.model.catalog import (
    Adjustment,
    Catalog,
    Category,
    Discount,
    Group,
    Option,
    OptionList,
    ProductChange,
    TreeChange,
    TreeKind,
)
from simulator.domain.model.transactions import Reason
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import (
    CATALOG,
    START,
    fixed_product,
    order,
    pay,
    refused,
    sandbox,
    seconds,
)

THREE_PERCENT = Adjustment("percentage", Decimal("1.03"))


def change(
    box: Sandbox, code: str = "CARD", at: float = 10, reseller: str | None = None, **changes: Any
) -> ProductChange:
    options = changes.pop("options", {})
    done = box.apply(ChangeProduct(code, changes, options, reseller), seconds(at))
    assert isinstance(done, ProductChange)
    return done


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("is_active", False),
        ("name", "Other"),
        ("note", "New"),
        ("price_adjustment", THREE_PERCENT),
        ("discount", Discount("fixed", Decimal("-0.50"), "50 sen")),
    ],
)
def test_a_change_reports_the_differences_and_updates_the_catalogs_time(name: str, value: Any) -> None:
    box = sandbox()
    before = box.state.catalog
    done = change(box, **{name: value})
    assert done.changed == (name,)
    assert getattr(done.after, name) == value != getattr(done.before, name)
    assert box.state.catalog.products["CARD"] is done.after
    assert box.state.catalog_updated == seconds(10)
    assert before.products["CARD"] is done.before, "a catalog that others share stays what it was"
    assert box.state.catalog.products["BILL"] is before.products["BILL"]
    again = change(box, at=20, **{name: value})
    assert (bool(again), again.changed) == (False, ())
    assert box.state.catalog_updated == seconds(10)


def test_options_go_off_sale_and_back() -> None:
    box = sandbox()
    done = change(box, options={"CARD-5": False})
    assert [(one.field_id, one.before.is_active, one.after.is_active) for one in done.options] == [
        ("amount", True, False)
    ]
    assert refused(box, order(product="CARD", amount=5)).reason is Reason.DENOMINATION
    assert pay(box, order(product="CARD", amount=10)).created
    assert not change(box, at=20, options={"CARD-5": False})
    assert change(box, at=30, options={"CARD-5": True, "CARD-10": True}).options[0].after.code == "CARD-5"
    assert box.state.catalog_updated == seconds(30)
    assert pay(box, order("ref-2", product="CARD", amount=5), at=31).created


def test_options_for_a_single_account_number_go_off_sale_too() -> None:
    written = {("amount", "7"): OptionList([Option("GOLD", "Gold", Decimal(5)), Option("TIN", "Tin", Decimal(6))])}
    product = fixed_product(options_for=written)
    box = sandbox(catalog=Catalog(products={"CARD": product}))
    done = change(box, options={"GOLD": False})
    assert [(one.field_id, one.after.code) for one in done.options] == [("amount", "GOLD")]
    assert [one.is_active for one in done.after.options_for["amount", "7"]] == [False, True]
    assert done.after.options["amount"] == product.options["amount"]


def test_an_inactive_product_is_refused_and_sold_again() -> None:
    box = sandbox()
    change(box, is_active=False)
    assert refused(box, order(product="CARD", amount=5)).reason is Reason.PRODUCT
    change(box, is_active=True)
    assert pay(box, order(product="CARD", amount=5)).created


def test_an_overlay_changes_the_catalog_of_a_single_reseller() -> None:
    box = sandbox()
    one, other = box.state.resellers["R1"], box.state.resellers["R2"]
    done = change(box, reseller="R1", is_active=False, price_adjustment=THREE_PERCENT)
    assert (done.changed, done.reseller) == (("is_active", "price_adjustment"), "R1")
    seen, theirs = (each.sees(box.state.catalog, "CARD") for each in (one, other))
    assert seen is not None
    assert theirs is not None
    assert (seen.is_active, seen.price_adjustment) == (False, THREE_PERCENT)
    assert (theirs.is_active, theirs.price_adjustment) == (True, None)
    assert one.catalog_updated(box.state.catalog_updated) == seconds(10)
    assert other.catalog_updated(box.state.catalog_updated) == box.state.catalog_updated == START
    assert refused(box, order(product="CARD", amount=5)).reason is Reason.PRODUCT
    assert pay(box, order(reseller="R2", product="CARD", amount=5)).created


def test_the_catalogs_time_increases_under_a_stopped_clock() -> None:
    box = sandbox()
    one = box.state.resellers["R1"]
    seen = [one.catalog_updated(box.state.catalog_updated)]
    for number, reseller in enumerate((None, "R1", None, "R1", "R1")):
        price = Adjustment("fixed", Decimal(number + 1), "MYR")
        change(box, at=0, reseller=reseller, price_adjustment=price, **({} if reseller else {"note": str(number)}))
        seen.append(one.catalog_updated(box.state.catalog_updated))
    assert seen == sorted(set(seen))
    assert seen[-1] - START == timedelta(milliseconds=5)


def test_an_overlay_gives_back_to_the_product() -> None:
    box = sandbox()
    change(box, reseller="R1", is_active=False)
    assert not change(box, at=11, reseller="R1", is_active=False)
    assert change(box, at=12, reseller="R1", is_active=None).after.is_active
    assert not change(box, at=13, reseller="R1", is_active=True), "it is active already"
    assert box.state.resellers["R1"].catalog_updated(box.state.catalog_updated) == seconds(12)


def test_an_overlay_stays_over_later_changes_of_the_product() -> None:
    box = sandbox()
    change(box, reseller="R1", is_active=True)
    change(box, at=11, is_active=False)
    assert pay(box, order(product="CARD", amount=5)).created
    assert refused(box, order(reseller="R2", product="CARD", amount=5)).reason is Reason.PRODUCT


@pytest.mark.parametrize(
    ("command", "error", "code"),
    [
        (ChangeProduct("NOTHING", {"name": "x"}), Unknown, "unknown_product"),
        (ChangeProduct("CARD", {"is_active": True}, {}, "NOBODY"), Unknown, "unknown_reseller"),
        (ChangeProduct("CARD", {"name": "x"}, {"CARD-7": True}), Unknown, "unknown_option"),
        (ChangeProduct("CARD", {"code": "x"}), Unacceptable, "unacceptable_change"),
        (ChangeProduct("CARD", {"name": "x"}, {}, "R1"), Unacceptable, "unacceptable_change"),
        (ChangeProduct("CARD", {}, {"CARD-5": False}, "R1"), Unacceptable, "unacceptable_change"),
    ],
)
def test_an_invalid_change_is_refused_without_effect(command: ChangeProduct, error: type[Exception], code: str) -> None:
    box = sandbox()
    catalog, overlay = box.state.catalog, box.state.resellers["R1"].overlay
    with pytest.raises(error) as refusal:
        box.apply(command, seconds(10))
    assert getattr(refusal.value, "code", "") == code
    assert box.state.catalog is catalog
    assert box.state.resellers["R1"].overlay is overlay
    assert box.state.catalog_updated == START


TREE = (
    Group(
        "g1",
        "First",
        "https://img.example/1.png",
        (Category("c1", "One", ("BILL", "CARD")), Category("c2", "Two", ("PIN",))),
    ),
    Group("g2", "Second", "https://img.example/2.png", (Category("c3", "Three", ("CARD",)),)),
)


def with_tree() -> Sandbox:
    return sandbox(catalog=Catalog(TREE, CATALOG.products))


def change_tree(box: Sandbox, kind: TreeKind, id_: str, **changes: Any) -> TreeChange:
    done: TreeChange = box.apply(ChangeTree(kind, id_, changes), seconds(10))
    return done


@pytest.mark.parametrize(
    ("kind", "id_", "changes", "changed"),
    [
        (TreeKind.CATEGORY, "c2", {"name": "New"}, ("name",)),
        (TreeKind.CATEGORY, "c3", {"product_codes": ("PIN", "CARD"), "name": "Three"}, ("product_codes",)),
        (TreeKind.GROUP, "g2", {"name": "New", "icon_url": "https://x"}, ("icon_url", "name")),
        (TreeKind.GROUP, "g1", {"name": "First"}, ()),
    ],
)
def test_a_category_or_group_changes_in_its_place(
    kind: TreeKind, id_: str, changes: dict[str, Any], changed: tuple[str, ...]
) -> None:
    box = with_tree()
    done = change_tree(box, kind, id_, **changes)
    assert done.changed == changed
    assert box.state.catalog.part(kind, id_) == done.after
    assert all(getattr(done.after, name) == value for name, value in changes.items())
    assert box.state.catalog_updated == (seconds(10) if changed else START)
    for other in TreeKind:
        parts = zip(box.state.catalog.parts(other), Catalog(TREE).parts(other), strict=True)
        assert [now.id for now, _ in parts] == [one.id for one in Catalog(TREE).parts(other)]
    same = [one for one in box.state.catalog.parts(TreeKind.CATEGORY) if one.id != id_]
    assert same == [one for one in Catalog(TREE).parts(TreeKind.CATEGORY) if one.id != id_]


@pytest.mark.parametrize(
    ("kind", "id_", "changes", "error", "message"),
    [
        (TreeKind.CATEGORY, "c9", {"name": "x"}, Unknown, "this sandbox has no category 'c9'"),
        (TreeKind.GROUP, "c1", {"name": "x"}, Unknown, "this sandbox has no group 'c1'"),
        (TreeKind.CATEGORY, "c1", {"icon_url": "x"}, Unacceptable, "'icon_url' cannot be changed"),
        (TreeKind.GROUP, "g1", {"product_codes": ("CARD",)}, Unacceptable, "'product_codes' cannot be changed"),
        (TreeKind.CATEGORY, "c1", {"product_codes": ("CARD", "X")}, Unknown, "this sandbox has no product 'X'"),
    ],
)
def test_a_change_of_the_tree_is_refused_whole(
    kind: TreeKind, id_: str, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    box = with_tree()
    with pytest.raises(error, match=message):
        change_tree(box, kind, id_, **changes)
    assert box.state.catalog.groups == TREE
