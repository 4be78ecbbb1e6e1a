"""The products of a recording: catalog products as the importer writes them, completed from payments and bills, and
products that were paid for without an observed catalog. Names, addresses and bills are not stored."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from simulator.domain.model.bills import BillField
from simulator.domain.model.money import parse_amount, parse_number
from simulator.domain.model.transactions import Reason
from simulator.short_text import one_line
from simulator.staging.bodies import as_dict, as_text, by_code, dicts, short
from simulator.staging.importer.account_answers import Offer, ProductAnswers
from simulator.staging.importer.catalog_items import FittedCatalog, FittedProduct, fit_catalog
from simulator.staging.importer.fitting import fit_product
from simulator.staging.recorder.catalogs import Catalogs, pricing_form
from simulator.staging.recorder.payment_record import RecordedPayments, SeenPayment
from simulator.staging.recorder.payment_rules import reason_of
from simulator.staging.recorder.traffic_values import DecodedCall, plain_line

CENT = Decimal("0.01")
_HUNDRED = Decimal(100)
_NOT_ABOUT_AMOUNTS = (Reason.ACCOUNT, Reason.BALANCE)


@dataclass(slots=True)
class SeenBiller:
    """The bills of a product."""

    returns: set[str] = field(default_factory=set)
    amounts: list[Decimal] = field(default_factory=list)  # the lowest and the highest
    names: set[str] = field(default_factory=set)
    has_custom_field: bool = False

    def document(self) -> dict[str, Any]:
        """Return `bill` of the product."""
        shown: dict[str, Any] = {}
        if len(self.names) == 1:
            shown["biller_name"] = plain_line(next(iter(self.names)))
        if self.returns:
            shown["returns"] = [str(name) for name in BillField if name in self.returns]
        if self.amounts:
            shown["outstanding"] = {"min": self.amounts[0], "max": self.amounts[-1]}
        if self.has_custom_field:
            shown["custom_field"] = "(not shown)"
        return shown


class Bills:
    """The billers of all observed bills, by product."""

    def __init__(self) -> None:
        self.billers: dict[str, SeenBiller] = {}

    def note(self, call: DecodedCall) -> None:
        """Record `GET /v2/bill-presentment`."""
        data, product = call.data, short(call.query.get("product"))
        if not product or "message" not in data:
            return
        biller = self.billers.setdefault(product, SeenBiller())
        biller.returns |= {str(name) for name in BillField if data.get(name) not in (None, "")}
        biller.has_custom_field |= data.get("CustomField") not in (None, "")
        name, owed = short(data.get("BillerName")), parse_number(data.get("Outstanding"))
        if name and len(biller.names) <= 1:
            biller.names.add(name)
        if owed is not None and owed > 0:
            amounts = sorted([*biller.amounts, owed])
            biller.amounts = [amounts[0], amounts[-1]]


def fit_products(
    catalogs: Catalogs, payments: RecordedPayments, bills: Bills, *, names_accounts: bool
) -> FittedCatalog:
    """Return all products, as a scenario holds them. `names_accounts` as for the recorder."""
    by_product: dict[str, list[SeenPayment]] = {}
    for payment in (*payments.followed.values(), *payments.refusals):
        if payment.statuses or (payment.refusal and reason_of(payment.refusal) in _NOT_ABOUT_AMOUNTS):
            by_product.setdefault(payment.product, []).append(payment)
    answers = catalogs.products()
    notes = {}
    for answered in answers:
        said = list(_merge_offers(answered, names_accounts=names_accounts))
        notes[as_text(answered.body.get("code"))] = [*said, *_add_paid_options(answered, by_product)]
    fitted = fit_catalog(answers, catalogs.groups)
    for product in fitted.products:
        product.notes += notes.get(product.code, [])
    known = {product.code for product in fitted.products}
    paid = {payment.product for payment in payments.followed.values() if payment.statuses}
    for code in sorted({*paid, *bills.billers, *payments.voidable} - known):
        made = _product_from_payments(code, payments, is_hidden=not catalogs.is_empty)
        if made is not None:
            fitted.products.append(made)
    for product in fitted.products:
        _add_bill_and_void(product, bills, payments.voidable)
    return fitted


def _merge_offers(answers: ProductAnswers, *, names_accounts: bool) -> Iterator[str]:
    """Merge the offers of a product: options that all accounts share become common, different options keep their
    account numbers. Yield comments."""
    sources = {as_text(form.get("id")): as_dict(form.get("data_source")) for form in dicts(answers.body.get("fields"))}
    for name, offers in answers.offers.items():
        is_dynamic = sources.get(name, {}).get("type") == "dynamic"
        alike = [offer for offer in offers if offer.active == offers[0].active]
        if not is_dynamic:
            answers.offers[name] = [_merge_items(offers)]
        elif len(alike) == len(offers) or not names_accounts:
            common = max(offers, key=lambda offer: sum(other.active == offer.active for other in offers))
            answers.offers[name] = [Offer("", common.active)]
            source = f"all {len(offers)} that were seen" if len(alike) == len(offers) else "most"
            yield f"options of {one_line(name)} depend on an account number; these come from {source}"


def _merge_items(offers: Sequence[Offer]) -> Offer:
    """Return the items of a field with the same offer for all accounts."""
    active = by_code((item for offer in offers for item in offer.active), "code")
    inactive = by_code((item for offer in offers for item in offer.inactive), "code")
    return Offer("", list(active.values()), list(inactive.values()))


def _add_paid_options(answers: ProductAnswers, by_product: dict[str, list[SeenPayment]]) -> Iterator[str]:
    """Add options that only payments and refusals showed; yield comments about them."""
    code = as_text(answers.body.get("code"))
    paid = by_product.get(code, [])
    _infer_plan_codes(answers, paid)
    for form in dicts(answers.body.get("fields")):
        name = as_text(form.get("id"))
        if form.get("type") != "select" or not name:
            continue
        if name not in answers.offers and as_dict(form.get("data_source")).get("type") == "dynamic":
            answers.unasked.append(name)
        elif name not in answers.offers:
            items = {item["code"]: item for item in _paid_options(answers.body, form, name, paid)}
            yield f"options of {name} were not seen" + ("; these come from payments" if items else "")
            if items:
                answers.offers[name] = [Offer("", list(items.values()))]


def _infer_plan_codes(answers: ProductAnswers, paid: list[SeenPayment]) -> None:
    """Infer plan codes from payments, since catalogs of the older shape do not have them."""
    extras, pricing = as_dict(answers.body.get("fulfillment")).get("extras"), pricing_form(answers.body)
    has_plans = any("subproduct_code" in payment.extras for payment in paid)
    if isinstance(extras, dict) and "subproduct_code" not in extras and has_plans and pricing.get("type") == "select":
        extras["subproduct_code"] = {"from_field": pricing["id"], "path": "code"}


def _paid_options(
    body: dict[str, Any], form: dict[str, Any], name: str, paid: Iterable[SeenPayment]
) -> Iterator[dict[str, Any]]:
    """Yield the options of these payments: amounts of the pricing field, codes of other fields."""
    extras = as_dict(as_dict(body.get("fulfillment")).get("extras"))
    named = [key for key, source in extras.items() if as_dict(source).get("from_field") == name]
    for payment in paid:
        code = next((payment.extras[key] for key in named if key in payment.extras), "")
        amount = parse_amount(payment.amount) if form.get("role") == "pricing" else None
        if amount is None and not code:
            continue
        label = code or f"{amount:f}"
        item: dict[str, Any] = {"code": code or f"{body.get('code')}-{label}", "label": label}
        if amount is not None:
            item["denomination"] = int(amount) if amount == amount.to_integral_value() else amount
        yield item


def _product_from_payments(code: str, payments: RecordedPayments, *, is_hidden: bool) -> FittedProduct | None:
    """Return a product that is only known from payments: any account, any amount."""
    name, amount, cost = payments.sales.get(code, ("", _HUNDRED, _HUNDRED))
    discount = (_HUNDRED * (1 - cost / amount)).quantize(CENT) if 0 < cost <= amount else Decimal(0)
    item: dict[str, Any] = {
        "code": code,
        "name": name or code,
        "processing_time": "instant",
        "discount": {"type": "percentage", "value": f"{discount:f}"},
        "fields": [
            {"id": "account", "role": "account", "label": "Account"},
            {"id": "amount", "role": "pricing", "type": "money", "label": "Amount"},
        ],
    }
    if is_hidden:
        item["is_hidden"] = True
    built = fit_product(item)
    if built is None or built.code != code:
        return None
    said = "no catalog had this product: it takes any account and any amount; its discount comes from a single payment"
    return FittedProduct(ProductAnswers({"code": code}), item, built, [said], is_ours=True)


def _add_bill_and_void(product: FittedProduct, bills: Bills, voidable: set[str]) -> None:
    """Add facts that no catalog contains: bills, voids."""
    if product.built is None:
        return
    code = product.built.code
    more: dict[str, Any] = {}
    if code in voidable:
        more["voidable"] = True
    if (biller := bills.billers.get(code)) is not None:
        more["bill"] = biller.document()
    if more:
        built = fit_product(item := {**product.item, **more})
        if built is not None:
            product.item, product.built = item, built
