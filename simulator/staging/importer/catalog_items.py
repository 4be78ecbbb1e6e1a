"""The section `catalog` from recorded answers: products and tree as far as a scenario can hold them, with comments."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from simulator.domain.model.catalog import Catalog, Option, Product
from simulator.domain.model.money import parse_number
from simulator.domain.model.schedule import NetworkStatus
from simulator.scenario.yaml import block, comment, scalar
from simulator.short_text import one_line
from simulator.staging.bodies import as_dict, as_list, as_text, by_code, dicts
from simulator.staging.importer.account_answers import Offer, ProductAnswers
from simulator.staging.importer.catalog_differences import list_differences, product_differences, tree_differences
from simulator.staging.importer.fitting import fit_groups, fit_product
from simulator.wire.option_lists import label_without_validity

MYR = "MYR"
ALWAYS_SENT = ("product_code", "field_id")
# No catalog contains the receipt of a successful payment; these are examples.
RECEIPTS: Mapping[str, dict[str, str]] = {
    "pin": {"sn": "{digits:12}", "pin": "{digits:16}", "valid_for": "365d"},
    "link": {"sn": "{digits:12}", "voucherlink": "https://vouchers.example.com/{trxid}/{alnum:12}"},
}
RECEIPT = {"sn": "{digits:12}"}
INPUT_MODES = {"text": "text", "number": "numeric", "select": "text", "money": "decimal"}


def product_item(answers: ProductAnswers) -> dict[str, Any]:
    """Return the item of `catalog.products`."""
    body = answers.body
    pricing = as_dict(body.get("pricing"))
    currency = as_text(pricing.get("currency")) or MYR
    unit_price = parse_number(body.get("denomination_unit_price"))
    shown: dict[str, Any] = {
        "code": body.get("code"),
        "name": body.get("name") or body.get("code"),
        "note": body.get("note"),
        "image_url": body.get("image_url"),
        "processing_time": body.get("processing_time") or "instant",
        "is_active": None if body.get("is_active") is not False else False,
        "voidable": True if answers.listed.get("is_refundable") is True else None,
        "currency": None if currency == MYR else currency,
        "denomination": body.get("denomination"),
        "denomination_currency": body.get("denomination_currency"),
        "denomination_unit_price": None if unit_price == 1 else unit_price,
        "min_amount": money(body.get("min_amount"), currency),
        "max_amount": money(body.get("max_amount"), currency),
        "discount": _discount(pricing),
        "price_adjustment": _adjustment(as_dict(pricing.get("price_adjustment"))),
    }
    shown["fields"] = [_form(form, place, answers, currency) for place, form in enumerate(dicts(body.get("fields")), 1)]
    shown["fulfillment"] = _fulfillment(as_dict(body.get("fulfillment")))
    shown["fulfilled"] = RECEIPTS.get(as_text(shown["processing_time"]), RECEIPT)
    return _without_none(shown)


def money(value: object, currency: str) -> Any:
    """Return `"10.50"`, or an object for a foreign currency; None for None."""
    amount, other = as_dict(value).get("amount"), as_dict(value).get("currency")
    if amount is None or other in (None, currency):
        return amount
    return {"amount": amount, "currency": other}


def _discount(pricing: dict[str, Any]) -> dict[str, Any]:
    discount, unit_price = as_dict(pricing.get("discount")), parse_number(pricing.get("unit_price"))
    shown = as_text(discount.get("value"))
    if discount.get("type") == "fixed":
        value = abs(unit_price or Decimal(0))
        usual = f"{_plain(value * 100)} sen"
    else:
        exact = (1 - (Decimal(1) if unit_price is None else unit_price)) * 100
        short = Decimal(_plain(exact))
        value = short if f"{1 - short / 100:f}" == as_text(pricing.get("unit_price")) else exact
        usual = f"{_plain(value)}%"
    kind = "fixed" if discount.get("type") == "fixed" else "percentage"
    return _without_none({"type": kind, "value": f"{value:f}", "shown": None if shown in ("", usual) else shown})


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _adjustment(adjustment: dict[str, Any]) -> dict[str, Any] | None:
    if not adjustment:
        return None
    currency = adjustment.get("currency")
    return _without_none(
        {
            "type": adjustment.get("type"),
            "value": parse_number(adjustment.get("value")),
            "currency": None if currency == MYR else currency,
        }
    )


def _form(form: dict[str, Any], place: int, answers: ProductAnswers, currency: str) -> dict[str, Any]:
    kind, validation = as_text(form.get("type")) or "text", as_dict(form.get("validation"))
    shown = {
        "id": form.get("id"),
        "role": None if form.get("role") == "none" else form.get("role"),
        "type": None if kind == "text" else kind,
        "input_mode": None if form.get("input_mode") == INPUT_MODES.get(kind) else form.get("input_mode"),
        "label": form.get("label") or form.get("id"),
        "placeholder": form.get("placeholder") or None,
        "required": None if form.get("required") is not False else False,
        "order": None if form.get("order") == place else form.get("order"),
        "currency": None if kind != "money" or form.get("currency") == MYR else form.get("currency"),
        "validation": _without_none({key: validation.get(key) for key in ("pattern", "message", "min", "max")}) or None,
    }
    if kind == "select":
        shown["data_source"] = _data_source(as_dict(form.get("data_source")), answers.body.get("code"), form.get("id"))
        offers = {
            offer.account: _options(offer, answers, currency)
            for offer in answers.offers.get(as_text(form.get("id")), ())
        }
        is_dynamic = as_dict(shown["data_source"]).get("type") == "dynamic"
        shown["options"] = offers.pop("", None if is_dynamic else [])
        shown["options_for"] = offers or None
    return _without_none(shown)


def _data_source(source: dict[str, Any], code: object, field_id: object) -> dict[str, Any] | None:
    params = {
        name: one
        for name, one in as_dict(source.get("params")).items()
        if one != {"static": code if name == ALWAYS_SENT[0] else field_id} or name not in ALWAYS_SENT
    }
    kind = None if source.get("type") == "reference" else source.get("type")
    return (
        _without_none({"type": kind, "depends_on": source.get("depends_on") or None, "params": params or None}) or None
    )


def _options(offer: Offer, answers: ProductAnswers, currency: str) -> list[dict[str, Any]]:
    legacy = by_code(answers.subproducts.get(offer.account, ()), "subproduct_code")
    legacy |= by_code(answers.billers, "biller_code")
    inactive = [_option(item, legacy, currency) | {"is_active": False} for item in dicts(offer.inactive)]
    return [_option(item, legacy, currency) for item in dicts(offer.active)] + inactive


def _option(item: dict[str, Any], legacy: Mapping[str, dict[str, Any]], currency: str) -> dict[str, Any]:
    code = item.get("code")
    rest = legacy.get(code, {}) if isinstance(code, str) else {}
    return _without_none(
        {
            "code": code,
            "label": _label(item, rest),
            "denomination": item.get("denomination"),
            "validity": item.get("validity"),
            "features": item.get("features") or None,
            "description": item.get("description"),
            "rrp": money(item.get("rrp"), currency),
            "account_number": item.get("account_number"),
            "min_amount": money(item.get("min_amount"), MYR),
            "max_amount": money(item.get("max_amount"), MYR),
            "suggested_category": rest.get("suggested_category"),
            "additional_description": as_list(rest.get("additional_description")) or None,
        }
    )


def _label(item: dict[str, Any], rest: dict[str, Any]) -> object:
    """Return the whole label if the legacy list has it: the label of an option may lack its validity (SPEC 2.2)."""
    whole, validity = as_text(rest.get("display_name")), as_text(item.get("validity"))
    if whole and label_without_validity(Option("", whole, validity=validity or None)) == item.get("label"):
        return whole
    return item.get("label")


def _fulfillment(fulfillment: dict[str, Any]) -> dict[str, Any] | None:
    extras = {name: _source(source) for name, source in as_dict(fulfillment.get("extras")).items()}
    return (
        _without_none(
            {
                "account": _source(fulfillment.get("account")),
                "amount": _source(fulfillment.get("amount")),
                "extras": extras or None,
            }
        )
        or None
    )


def _source(source: object) -> Any:
    found = as_dict(source)
    return found["from_field"] if found.keys() == {"from_field"} else (found or None)


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value != ""}


@dataclass(slots=True)
class FittedProduct:
    """A product, its item of the file, and the product built from the item; None if it cannot be written. An `ours`
    product was in no answer, so it cannot be compared."""

    answers: ProductAnswers
    item: dict[str, Any]
    built: Product | None
    notes: list[str] = field(default_factory=list)
    is_ours: bool = False

    @property
    def code(self) -> str:
        """Return its code, on a single line."""
        return one_line(as_text(self.answers.body.get("code")))


@dataclass(slots=True)
class FittedCatalog:
    """All products, and the tree of the account, of the file, and as built; None for a tree that cannot be written."""

    products: list[FittedProduct]
    groups: list[Any]
    written: list[dict[str, Any]]
    tree: Catalog | None

    @property
    def built(self) -> Mapping[str, Product]:
        """Return the products that were built, by code."""
        return {product.built.code: product.built for product in self.products if product.built is not None}

    @property
    def network(self) -> dict[str, str]:
        """Return the products that are interrupted."""
        interruption = str(NetworkStatus.INTERRUPTION)
        return {
            product.code: interruption
            for product in self.products
            if product.built is not None and product.answers.network_status == interruption
        }

    @property
    def document(self) -> dict[str, Any]:
        """Return the section as values."""
        groups = {"groups": self.written} if self.tree is not None else {}
        return groups | {"products": [product.item for product in self.products if product.built is not None]}


def fit_catalog(products: Sequence[ProductAnswers], groups: list[Any]) -> FittedCatalog:
    """Remove what a scenario cannot hold."""
    fitted = [FittedProduct(answers, item := product_item(answers), fit_product(item)) for answers in products]
    written = [_group(group) for group in dicts(groups)]
    tree = fit_groups(written, [product.built.code for product in fitted if product.built is not None])
    return FittedCatalog(fitted, groups, written, tree)


def catalog_lines(fitted: FittedCatalog, hint: str) -> Iterator[str]:
    """Yield the lines of the section. `hint` says how to get a dynamic field's options; it may name `{product}`."""
    whole = None if fitted.tree is None else Catalog(fitted.tree.groups, fitted.built)
    yield "catalog:"
    if whole is not None:
        yield from comment(tree_differences(fitted.groups, whole), 2)
        yield from block({"groups": fitted.written}, 2)
    else:
        yield from comment(["The tree of the account cannot be written in a scenario."], 2)
    yield "  products:" if fitted.built else "  products: []"
    for product in fitted.products:
        if product.built is None:
            yield from comment([f"The account's product {product.code!r} cannot be written in a scenario."], 4)
            continue
        yield from comment(_comments(product, product.built, whole, hint), 4)
        yield from block([product.item], 4)


def _comments(product: FittedProduct, built: Product, whole: Catalog | None, hint: str) -> Iterator[str]:
    if not product.is_ours:
        yield from product_differences(product.answers, built)
    if whole is not None:
        yield from list_differences(product.answers, built, whole)
    status = product.answers.network_status
    if status not in ("", *NetworkStatus):
        yield one_line(f"networkstatus: the account has {scalar(status)}, this file Healthy")
    for name in product.answers.unasked:
        yield f"options of {one_line(name)} depend on an account number: {hint.replace('{product}', product.code)}"
    yield from product.notes


def _group(group: dict[str, Any]) -> dict[str, Any]:
    shown = {name: group.get(name) for name in ("id", "name", "icon_url") if group.get(name)}
    categories = [
        {name: category.get(name) for name in ("id", "name", "product_codes") if category.get(name)}
        for category in dicts(group.get("categories"))
    ]
    return shown | ({"categories": categories} if categories else {})
