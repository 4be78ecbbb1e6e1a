"""Catalog change events: each difference of two catalogs is published once, to the scenario's target (SPEC 6.4)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import msgspec
import pytest

from simulator.contract.validator import validator
from simulator.domain.commands import ChangeProduct
from simulator.domain.handlers.catalog_events import CatalogChange, CatalogShape, changes, publish
from simulator.domain.handlers.webhook_jobs import emit
from simulator.domain.model.catalog import (
    Adjustment,
    Catalog,
    Category,
    Discount,
    Fulfillment,
    Group,
    Option,
    OptionList,
    Product,
    Receipt,
    Source,
)
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.webhooks import CatalogEntry, WebhookPolicy, WebhookStart
from simulator.domain.sandbox import Sandbox
from simulator.wire import webhook_bodies
from tests.support.worlds import (
    START,
    fire_due,
    fixed_product,
    money_product,
    sandbox,
    seconds,
)

CATEGORY = Category("category", "Category", ("BILL", "CARD"))
GROUP = Group("group", "Group", "https://img.example/g.png", (CATEGORY,))
BEFORE = Catalog((GROUP,), {"BILL": money_product(), "CARD": fixed_product()})


def differences(before: Catalog, after: Catalog) -> list[CatalogChange]:
    return list(changes(before, after, CatalogShape()))


def with_products(**products: Product | None) -> Catalog:
    merged = {**BEFORE.products, **products}
    return Catalog(BEFORE.groups, {code: product for code, product in merged.items() if product is not None})


def with_options(change: Callable[[OptionList], OptionList]) -> Catalog:
    card = BEFORE.products["CARD"]
    return with_products(CARD=replace(card, options={"amount": change(OptionList(card.options["amount"]))}))


def with_groups(*groups: Group) -> Catalog:
    return Catalog(groups, BEFORE.products)


CARD = BEFORE.products["CARD"]
OTHER = Option("OTHER", "Other")
CASES: list[tuple[str, Catalog, list[str]]] = [
    ("nothing", BEFORE, []),
    ("equal things that are other objects", with_products(BILL=replace(BEFORE.products["BILL"])), []),
    (
        "a product goes off sale, and leaves the tree",
        with_products(BILL=money_product(is_active=False)),
        ["group.updated group", "category.updated category", "product.updated BILL"],
    ),
    (
        "a product is hidden",
        with_products(BILL=replace(BEFORE.products["BILL"], is_hidden=True)),
        ["group.updated group", "category.updated category", "product.deleted BILL"],
    ),
    (
        "what nobody is shown",
        with_products(BILL=replace(BEFORE.products["BILL"], voidable=True, fulfilled=Receipt())),
        [],
    ),
    ("a product comes", with_products(NEW=money_product("NEW")), ["product.created NEW"]),
    (
        "a product goes with its options",
        with_products(CARD=None),
        ["group.updated group", "category.updated category", "product.deleted CARD"],
    ),
    (
        "a price adjustment changes the price of each option",
        with_products(CARD=replace(CARD, price_adjustment=Adjustment("fixed", Decimal(1)))),
        ["product.updated CARD", "option.updated CARD amount CARD-5", "option.updated CARD amount CARD-10"],
    ),
    (
        "a discount changes the cost of each option",
        with_products(CARD=replace(CARD, discount=Discount("fixed", Decimal("-0.40"), "40 sen"))),
        ["product.updated CARD", "option.updated CARD amount CARD-5", "option.updated CARD amount CARD-10"],
    ),
    (
        "one option goes off sale",
        with_options(lambda old: OptionList((msgspec.structs.replace(old[0], is_active=False), *old[1:]))),
        ["option.deleted CARD amount CARD-5"],
    ),
    (
        "one option for another",
        with_options(lambda old: OptionList((old[0], msgspec.structs.replace(old[1], code="CARD-11")))),
        ["option.created CARD amount CARD-11", "option.deleted CARD amount CARD-10"],
    ),
    (
        "an option that is written for a single account number",
        with_products(CARD=replace(CARD, options_for={("amount", "1"): OptionList((OTHER,))})),
        ["option.created CARD amount OTHER"],
    ),
    (
        "a product and an option",
        with_products(CARD=replace(CARD, name="Other", options={})),
        ["product.updated CARD", "option.deleted CARD amount CARD-5", "option.deleted CARD amount CARD-10"],
    ),
    (
        "a category is renamed, and with it its group changes",
        with_groups(msgspec.structs.replace(GROUP, categories=(msgspec.structs.replace(CATEGORY, name="Other"),))),
        ["group.updated group", "category.updated category"],
    ),
    ("a group is renamed", with_groups(msgspec.structs.replace(GROUP, name="Other")), ["group.updated group"]),
    ("a group goes", with_groups(), ["group.deleted group", "category.deleted category"]),
    ("a group comes", with_groups(GROUP, msgspec.structs.replace(GROUP, id="g2", categories=())), ["group.created g2"]),
]


@pytest.mark.parametrize(("after", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_difference_is_one_event(after: Catalog, expected: list[str]) -> None:
    found = differences(BEFORE, after)
    assert [" ".join((change.type, *change.key)) for change in found] == expected
    back = [" ".join((change.type, *change.key)) for change in differences(after, BEFORE)]
    swap = {"created": "deleted", "deleted": "created", "updated": "updated"}
    assert sorted(back) == sorted(
        line.replace(word, swap[word]) for line in expected for word in swap if f".{word} " in line
    )


def box_with(catalog: WebhookStart | None, **assume: str) -> Sandbox:
    """A sandbox whose events have the newest shape, without withheld mappings."""
    chosen = {"catalog-event-version": "newest"} | {name.replace("_", "-"): choice for name, choice in assume.items()}
    return sandbox(catalog=BEFORE, webhooks=WebhookPolicy(catalog=catalog), assume=chosen)


def test_each_event_is_a_delivery_to_the_scenarios_target_in_the_shape_of_the_contract() -> None:
    secret = "ab" * 32
    box = box_with(WebhookStart("inbox:catalog", secret))
    before = box.state.catalog
    for _, after, expected in CASES:
        box.state.catalog = after
        publish(box.state, before, START)
        jobs = [fired.send.job for fired in fire_due(box, seconds(0)) if fired.send]
        assert len(jobs) == len(expected)
        box.state.catalog = before
    deliveries = list(box.state.deliveries)
    assert len({one.event.id for one in deliveries}) == len(deliveries) == sum(len(case[2]) for case in CASES)
    for one in deliveries:
        assert (one.url, one.webhook.secret, one.reseller) == ("inbox:catalog", secret, "")
        assert validator("catalog-event").problems(webhook_bodies.event(one.event)) == {}


def test_an_event_of_an_option_names_its_field_and_product() -> None:
    box = box_with(WebhookStart("inbox:catalog"))
    box.state.catalog = with_options(lambda old: OptionList((msgspec.structs.replace(old[0], label="Five"), *old[1:])))
    publish(box.state, BEFORE, START)
    (one,) = box.state.deliveries
    data = webhook_bodies.event(one.event)["data"]
    assert (data["product_code"], data["field_id"], data["code"], data["label"]) == ("CARD", "amount", "CARD-5", "Five")
    assert len(one.webhook.secret) == 64


@pytest.mark.parametrize("target", [None, WebhookStart("inbox:catalog", enabled=False)])
def test_without_an_enabled_target_nothing_is_published(target: WebhookStart | None) -> None:
    box = box_with(target)
    box.state.catalog = with_products(CARD=None)
    publish(box.state, BEFORE, START)
    assert len(box.state.deliveries) == 0


def test_an_event_keeps_no_list_of_options_alive_that_it_does_not_show() -> None:
    """A change of an option among 25,000 makes a new list; a log full of such events would hold thousands of them."""
    codes = [Option(f"{number}", "Biller") for number in range(50)]
    card = replace(
        CARD, options={**CARD.options, "biller": OptionList(codes)}, options_for={("amount", "1"): OptionList()}
    )
    after = replace(card, name="Other", options={**card.options, "biller": OptionList(codes[:1])})
    catalogs = [Catalog((GROUP,), {**BEFORE.products, "CARD": one}) for one in (card, after)]
    found = differences(*catalogs)
    assert [change.type for change in found] == ["product.updated", *["option.deleted"] * 49]
    for change in found:
        product = change.entry.product or change.entry.resource
        assert isinstance(product, Product)
        assert set(product.options) <= {"amount"}
        assert product.options_for == {}


def test_a_published_product_has_the_loss_risk_of_its_options() -> None:
    loss = replace(CARD, price_adjustment=Adjustment("percentage", Decimal("0.1")))
    change, *_ = differences(BEFORE, with_products(CARD=loss))
    box = box_with(WebhookStart("inbox:catalog"))
    published = emit(box.state, box.state.catalog_webhook, "", change.type, change.entry, START)
    assert webhook_bodies.event(published.event)["data"]["pricing"]["has_loss_risk"] is True


def test_a_loss_risk_that_ends_with_a_plan_is_published_for_the_product() -> None:
    """5.00 is sold for 4.50 and costs 4.60, 10.00 for 9.50 and costs 9.20."""
    discount = Discount("percentage", Decimal("0.92"), "8%")
    card = replace(CARD, price_adjustment=Adjustment("fixed", Decimal("-0.50")), discount=discount)
    five, ten = card.options["amount"]
    without = replace(card, options={"amount": OptionList((msgspec.structs.replace(five, is_active=False), ten))})
    found = differences(with_products(CARD=card), with_products(CARD=without))
    assert [change.type for change in found] == ["product.updated", "option.deleted"]
    assert found[0].entry.has_loss_risk is False
    found = differences(with_products(CARD=without), with_products(CARD=card))
    assert [change.type for change in found] == ["product.updated", "option.created"]
    assert found[0].entry.has_loss_risk is True


def test_a_deleted_option_is_published_with_the_prices_that_it_had() -> None:
    five, ten = CARD.options["amount"]
    after = replace(CARD, price_adjustment=Adjustment("fixed", Decimal(1)), options={"amount": OptionList((ten,))})
    gone = differences(BEFORE, with_products(CARD=after))[-1]
    assert (gone.type, gone.key[-1]) == ("option.deleted", five.code)
    assert gone.entry.product is not None
    assert gone.entry.product.price_adjustment is None


TARGET = WebhookStart("inbox:catalog")
DEARER = Adjustment("fixed", Decimal(1))


def events(box: Sandbox) -> list[tuple[str, str]]:
    """The type of each event so far, and the reseller that it is for."""
    data = [(one.event.type, one.event.data) for one in box.state.deliveries]
    return [(type_, entry.reseller) for type_, entry in data if isinstance(entry, CatalogEntry)]


OPTIONS_CHANGE = ["option.updated"] * 2


@pytest.mark.parametrize(
    ("assume", "expected"),
    [
        ({}, ["product.updated", *OPTIONS_CHANGE]),
        ({"catalog_overlay_events": "not_published"}, []),
    ],
)
def test_a_change_for_a_single_reseller_is_published_only_for_it(assume: dict[str, str], expected: list[str]) -> None:
    box = box_with(TARGET, **assume)
    box.apply(ChangeProduct("CARD", {"price_adjustment": DEARER}, reseller="R1"), seconds(1))
    assert events(box) == [(type_, "R1") for type_ in expected]
    assert box.state.catalog_changes == bool(expected)


def test_a_change_for_all_is_published_again_for_a_reseller_with_a_different_view() -> None:
    box = box_with(TARGET)
    box.apply(ChangeProduct("CARD", {"is_active": False}, reseller="R1"), START)
    seen = len(events(box))
    box.apply(ChangeProduct("CARD", {"note": "for all"}), START)
    assert events(box)[seen:] == [("product.updated", "")], "R1's event would be the same one"
    box.apply(ChangeProduct("CARD", {"is_active": False}), START)
    assert ("product.updated", "R1") not in events(box)[seen:], "R1 did not see it on sale"
    seen = len(events(box))
    box.apply(ChangeProduct("BILL", {"note": "other"}), START)
    assert events(box)[seen:] == [("product.updated", "")]


def test_an_option_whose_price_changes_for_a_single_reseller_is_published_for_it() -> None:
    box = box_with(TARGET)
    box.apply(ChangeProduct("CARD", {"is_active": True}, reseller="R1"), START)
    assert events(box) == [], "its view is the same"
    box.apply(ChangeProduct("CARD", {"price_adjustment": DEARER}, reseller="R1"), START)
    seen = len(events(box))
    box.apply(ChangeProduct("CARD", {"price_adjustment": Adjustment("fixed", Decimal(2))}), START)
    assert [whom for _, whom in events(box)[seen:]] == ["", "", ""], "R1 keeps its own price"


SWITCH_S = (datetime(2027, 1, 11, tzinfo=SERVICE_ZONE) - START).total_seconds()


@pytest.mark.parametrize(
    ("assume", "at", "is_new"),
    [
        ({}, 0, True),
        ({"catalog_event_version": "default"}, 0, False),
        ({"catalog_event_version": "default"}, SWITCH_S - 1, False),
        ({"catalog_event_version": "default"}, SWITCH_S, True),
        ({"catalog_event_version": "default", "old_fulfillment": "denomination"}, 0, True),
    ],
)
def test_an_event_has_the_shape_that_is_the_default_then(assume: dict[str, str], at: float, is_new: bool) -> None:
    box = box_with(TARGET, **assume)
    box.apply(ChangeProduct("BILL", {"name": "New"}), seconds(at))
    (one,) = box.state.deliveries
    assert isinstance(one.event.data, CatalogEntry)
    assert one.event.data.by_denomination is is_new


def test_two_changes_have_events_of_their_own() -> None:
    box = box_with(TARGET)
    for name in ("A", "B", "A"):
        box.apply(ChangeProduct("BILL", {"name": name}), START)
        box.apply(ChangeProduct("BILL", {"is_active": name == "B"}, reseller="R1"), START)
    types = [one.event.type for one in box.state.deliveries]
    assert types.count("product.updated") == 6
    assert len({one.event.id for one in box.state.deliveries}) == len(types)


@pytest.mark.parametrize(("choice", "expected"), [("listed", ["group.updated", "category.updated"]), ("whole", [])])
def test_a_product_off_sale_leaves_the_tree_unless_the_tree_is_whole(choice: str, expected: list[str]) -> None:
    box = box_with(TARGET, tree_products=choice)
    box.apply(ChangeProduct("BILL", {"is_active": False}), START)
    assert [type_ for type_, _ in events(box)] == [*expected, "product.updated"]


@pytest.mark.parametrize("card", [None, replace(CARD, is_active=False, is_hidden=True)])
def test_a_product_on_sale_for_a_single_reseller_leaves_the_tree_of_that_reseller(card: Product | None) -> None:
    box = box_with(TARGET)
    box.apply(ChangeProduct("CARD", {"is_active": False}), START)
    box.apply(ChangeProduct("CARD", {"is_active": True}, reseller="R1"), START)
    seen, before = len(events(box)), box.state.catalog
    box.state.catalog = with_products(CARD=card)
    publish(box.state, before, START)
    assert events(box)[seen:] == [("product.deleted", ""), ("group.updated", "R1"), ("category.updated", "R1")]


@pytest.mark.parametrize(("version", "expected"), [("default", ["product.updated"]), ("newest", [])])
def test_a_product_whose_amount_older_clients_cannot_map_any_more_has_an_event(
    version: str, expected: list[str]
) -> None:
    """Two plans with equal prices, so that the price alone does not identify the paid plan."""
    plans = Fulfillment(Source("account"), Source("amount"), {"subproduct_code": Source("amount")})
    five, ten = CARD.options["amount"]
    same_price = OptionList((five, msgspec.structs.replace(ten, denomination=five.denomination)))
    box = box_with(TARGET, catalog_event_version=version)
    before = with_products(CARD=replace(CARD, fulfillment=plans))
    box.state.catalog = with_products(CARD=replace(CARD, fulfillment=plans, options={"amount": same_price}))
    publish(box.state, before, START)
    assert events(box) == [(type_, "") for type_ in (*expected, "option.updated")]


def test_a_product_that_is_on_sale_for_some_resellers_moves_in_the_tree_of_each_of_them() -> None:
    box = box_with(TARGET)
    box.apply(ChangeProduct("CARD", {"is_active": False}), START)
    for reseller in ("R1", "R2"):
        box.apply(ChangeProduct("CARD", {"is_active": True}, reseller=reseller), START)
    products, seen = box.state.catalog.products, len(events(box))

    def tree(*codes: tuple[str, ...]) -> Catalog:
        categories = tuple(Category(f"c{place}", "Category", one) for place, one in enumerate(codes))
        return Catalog((msgspec.structs.replace(GROUP, categories=categories),), products)

    box.state.catalog = tree(("BILL",), ("CARD",))
    publish(box.state, tree(("BILL", "CARD"), ()), START)
    types = ["group.updated", "category.updated", "category.updated"]
    assert events(box)[seen:] == [(type_, reseller) for reseller in ("R1", "R2") for type_ in types]
    assert len({one.event.id for one in box.state.deliveries}) == len(box.state.deliveries)
