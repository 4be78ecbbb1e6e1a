"""The catalog of a scenario: groups of categories, products with forms and bills, and changes of them at run time."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from simulator.domain.model.bills import (
    BillError,
    BillField,
    BillProfile,
    BillRefused,
    BillThen,
)
from simulator.domain.model.catalog import Catalog, Category, Fulfillment, Group, Product, Receipt, Source, TreeKind
from simulator.domain.model.money import is_whole_cents
from simulator.scenario.reading.value_reader import ONE, ValueReader, read_object, refuse_repeats
from simulator.scenario.sections.product_forms import (
    MYR,
    discount,
    form_field,
    money,
    options,
    options_for,
    price_adjustment,
    refuse_empty_range,
    refuse_too_many,
    varies_by_account,
)
from simulator.scenario.sections.templates import person_pools, templates

FULFILLED_TEXTS = ("sn", "pin", "note", "voucherlink")


def catalog(section: ValueReader) -> Catalog:
    """Return groups and products."""
    items = section["products"].items()
    refuse_repeats([item["code"] for item in items], "product")
    refuse_too_many([form for item in items for form in item["fields"].items()])
    products = {item["code"].text(): product(item) for item in items}
    groups = section["groups"].items()
    refuse_repeats([item["id"] for item in groups], "group")
    refuse_repeats([item["id"] for group in groups for item in group["categories"].items()], "category")
    return Catalog(tuple(_group(item, products) for item in groups), MappingProxyType(products))


def _group(item: ValueReader, products: Mapping[str, Product]) -> Group:
    categories = tuple(_category(entry, products) for entry in item["categories"].items())
    return Group(item["id"].text(), item["name"].text(), item["icon_url"].text(), categories)


def _category(item: ValueReader, products: Mapping[str, Product]) -> Category:
    return Category(item["id"].text(), item["name"].text(), product_codes(item["product_codes"], products))


def product_codes(item: ValueReader, products: Mapping[str, Product]) -> tuple[str, ...]:
    """Return the products of a category, in display order."""
    codes = item.items()
    refuse_repeats(codes, "product")
    for code in codes:
        code.refuse_unknown("product", products, "in the catalog")
    return tuple(code.text() for code in codes)


def product(item: ValueReader) -> Product:
    """Return a product. `fulfillment` need not repeat the definitions of the form's roles."""
    code = item["code"].text()
    currency, texts = item["currency"].text(MYR), templates(item["fulfilled"], FULFILLED_TEXTS)
    forms = item["fields"].items()
    refuse_repeats([form["id"] for form in forms], "field")
    ids = [form["id"].text() for form in forms]
    result = Product(
        code=code,
        name=item["name"].text(),
        note=item["note"].text() or None,
        image_url=item["image_url"].text(),
        processing_time=item["processing_time"].text(),
        is_active=item["is_active"].boolean(True),
        voidable=item["voidable"].boolean(),
        bill=bill_profile(item["bill"]),
        is_hidden=item["is_hidden"].boolean(),
        currency=currency,
        denomination=item["denomination"].text() or None,
        denomination_currency=item["denomination_currency"].text() or None,
        denomination_unit_price=item["denomination_unit_price"].amount(ONE),
        min_amount=money(item["min_amount"], currency),
        max_amount=money(item["max_amount"], currency),
        discount=discount(item["discount"]),
        price_adjustment=price_adjustment(item["price_adjustment"]),
        fields=tuple(form_field(form, code, place, ids) for place, form in enumerate(forms, 1)),
        options=MappingProxyType(
            {form["id"].text(): options(form, code, currency) for form in forms if form["type"].text() == "select"}
        ),
        options_for=options_for(forms, code, currency),
        fields_by_account=frozenset(form["id"].text() for form in forms if varies_by_account(form)),
        fulfillment=_fulfillment(item["fulfillment"], forms, ids),
        fulfilled=Receipt(MappingProxyType(texts), item["fulfilled"]["valid_for"].optional_duration()),
    )
    refuse_repeats([form["role"] for form in forms if form["role"].text("none") != "none"], "field of the role")
    refuse_empty_range(item, result.min_amount, result.max_amount)
    return result


def _fulfillment(item: ValueReader, forms: list[ValueReader], ids: list[str]) -> Fulfillment:
    extras = {name: source for name, entry in item["extras"].entries() if (source := _source(entry, ids)) is not None}
    by_role = {form["role"].text(): form for form in forms}
    return Fulfillment(
        account=_source(item["account"], ids) or _source_of_role(by_role.get("account")),
        amount=_source(item["amount"], ids) or _source_of_role(by_role.get("pricing")),
        extras=MappingProxyType(extras),
    )


def _source_of_role(form: ValueReader | None) -> Source | None:
    if form is None:
        return None
    is_choice = form["type"].text() == "select" and form["role"].text() == "pricing"
    return Source(form["id"].text(), "denomination" if is_choice else None)


def _source(item: ValueReader, ids: list[str]) -> Source | None:
    """Parse `phone`, or `{from_field: phone, path: …, omit_if_empty: …}`."""
    if not item.is_given:
        return None
    from_field = item["from_field"] if item.is_mapping else item
    from_field.refuse_unknown("field", ids, "of this product")
    if not item.is_mapping:
        return Source(from_field.text())
    return Source(from_field.text(), item["path"].text() or None, item["omit_if_empty"].boolean())


SHARED_ONLY = ("name", "note", "discount", "options")


class Changes(NamedTuple):
    """Changes of a product's properties, and options to put on sale or take off sale."""

    properties: Mapping[str, Any]
    options: Mapping[str, bool]


def build_tree_changes(data: Mapping[str, object], kind: TreeKind, found: Catalog) -> Mapping[str, Any]:
    """Read changes of a category or group from an object. Raises `ScenarioError`."""
    return read_object(data, kind, f"{kind}_changes", lambda item: tree_changes(item, kind, found.products))


def tree_changes(item: ValueReader, kind: TreeKind, products: Mapping[str, Product]) -> Mapping[str, Any]:
    """Read the changes of a category or group."""
    readers: dict[str, Callable[[ValueReader], Any]] = {"name": ValueReader.text}
    if kind is TreeKind.GROUP:
        readers["icon_url"] = ValueReader.text
    if kind is TreeKind.CATEGORY:
        readers["product_codes"] = lambda codes: product_codes(codes, products)
    return _given(item, readers)


def _given(item: ValueReader, readers: Mapping[str, Callable[[ValueReader], Any]]) -> dict[str, Any]:
    """Return the members that are given, each read by its reader."""
    return {name: read(item[name]) for name, read in readers.items() if item.has(name)}


def build_changes(data: Mapping[str, object], product: Product, *, is_overlay: bool) -> Changes:
    """Read changes from an object. Raises `ScenarioError`."""
    return read_object(data, "product", "product_changes", lambda item: changes(item, product, is_overlay=is_overlay))


def changes(item: ValueReader, product: Product | None, *, is_overlay: bool) -> Changes:
    """Read the changes; in an overlay null resets a property to the product's own value."""
    if is_overlay:
        item.misplaced("{!r} is the same for all resellers", *SHARED_ONLY)
    if item["is_active"].is_null and not is_overlay:
        text = "must be true or false; only an overlay takes null, which restores the product's value"
        item["is_active"].problem("type", text)
    return Changes(_given(item, CHANGED), _options(item["options"], product))


CHANGED: Mapping[str, Callable[[ValueReader], Any]] = {
    "is_active": lambda item: None if item.is_null else item.boolean(),
    "price_adjustment": price_adjustment,
    "name": ValueReader.text,
    "note": lambda item: item.text() or None,
    "discount": discount,
}


def _options(item: ValueReader, product: Product | None) -> Mapping[str, bool]:
    found: dict[str, bool] = {}
    for code, entry in item.entries():
        lists = [*product.options.values(), *product.options_for.values()] if product else []
        if product and not any(code in options.by_code for options in lists):
            entry.problem("unknown_option", f"product {product.code!r} has no option {code!r}", at_key=True)
        found[code] = entry["is_active"].boolean(True)
    return found


RETURNED_BY_DEFAULT = (BillField.CUSTOMER, BillField.OUTSTANDING, BillField.ADDRESS, BillField.DUE_DATE)
LOWEST, HIGHEST = Decimal(20), Decimal(400)


def bill_profile(item: ValueReader) -> BillProfile | None:
    """Return the bills of a product's biller; None for a product without bills."""
    if not item.is_mapping:
        return None
    returns, outstanding = item["returns"], item["outstanding"]
    returned = [entry.text() for entry in returns.items()] if returns.is_given else RETURNED_BY_DEFAULT
    low, high = _cents(outstanding["min"], LOWEST), _cents(outstanding["max"], HIGHEST)
    if low > high:
        outstanding.problem("out_of_range", f"no amount is between {low} and {high}")
    return BillProfile(
        biller_name=item["biller_name"].text(),
        returned=frozenset(field for field in BillField if field in returned),
        lowest=low,
        highest=max(low, high),
        people=person_pools,
        custom_field=item["custom_field"].plain,
    )


def _cents(item: ValueReader, usual: Decimal) -> Decimal:
    amount = item.amount(usual)
    if not is_whole_cents(amount):
        item.problem("bad_amount", f"an outstanding amount is in whole sen, not {amount}")
    return amount


def bill_then(item: ValueReader) -> BillThen:
    """Return the `then` of a bill rule: `bill`, which overrides the drawn bill, or `error`."""
    bill, error = item["bill"], item["error"]
    if bill.is_given:
        item.misplaced("a look-up is answered with 'bill' or refused with 'error', not both", "error")
    elif item.is_given and not error.is_given:
        item.problem("missing_key", "a bill rule needs 'bill' or 'error'")
    if error.is_given:
        return BillThen({}, BillRefused(_error(error.text()), item["error_message"].text()))
    item.misplaced("error_message goes with an error; write 'error' beside it", "error_message")
    changes = {field: read(bill[key]) for key, (field, read) in FIELDS.items() if bill[key].is_given}
    return BillThen(MappingProxyType(changes))


def _error(text: str) -> BillError | str:
    """Return a known error by its name, else a custom text."""
    return next((error for error in BillError if error == text), text)


def _text(item: ValueReader) -> str | None:
    return None if item.is_null else item.text()


def _amount(item: ValueReader) -> Decimal | None:
    return None if item.is_null else _cents(item, Decimal(0))


# The names of SPEC 2.6, the domain's names, and the readers.
FIELDS: Mapping[str, tuple[str, Callable[[ValueReader], object]]] = {
    "message": ("message", _text),
    "BillerName": ("biller_name", ValueReader.text),
    "CustomerName": ("customer_name", _text),
    "Outstanding": ("outstanding", _amount),
    "Balance": ("balance", _text),
    "Data": ("data", _text),
    "Address": ("address", _text),
    "E-Bill": ("e_bill", _text),
    "CustomField": ("custom_field", lambda item: item.plain),
    "DueDate": ("due_date", _text),
    "transaction_validity": ("is_valid", lambda item: None if item.is_null else item.boolean()),
    "transaction_message": ("validity_message", _text),
}
