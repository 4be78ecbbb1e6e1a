"""The options of a select field (SPEC 2.2): the one source for options, billers, sub-products and payments."""

from decimal import Decimal

from msgspec.structs import replace

from simulator.domain.model import draw
from simulator.domain.model.catalog import (
    Catalog,
    DataSource,
    FormField,
    Option,
    OptionList,
    Product,
)

NO_OPTIONS = OptionList()
PLAN_CODE = "subproduct_code"


def offered(seed: int, product: Product, field_id: str, account_number: str = "") -> OptionList:
    """The options of a field for an account number, in display order, inactive ones included.

    A list written for that number takes precedence. Otherwise the field's own options; for a dynamic field each option,
    and its `account_number`, is drawn from (seed, product, field, account number). Empty for a field that is not a
    select.
    """
    written = product.options_for.get((field_id, account_number))
    if written is not None:
        return written
    options = product.options.get(field_id, NO_OPTIONS)
    if field_id not in product.fields_by_account:
        return options
    identity = (product.code, field_id, account_number)
    mine = options.without(tuple(option.code for option in options.personal if not _is_for(seed, option, identity)))
    if any(option.account_digits for option in mine):
        return OptionList(_for_account(seed, option, identity) for option in mine)
    return mine


def account_source(product: Product, field_id: str) -> str | None:
    """The field whose value is required as `account_number` to resolve a dynamic field's options."""
    source = data_source(product, field_id)
    if source is None or source.type != "dynamic":
        return None
    return source.params.get("account_number", {}).get("from_field")


def data_source(product: Product, field_id: str) -> DataSource | None:
    """Where a field's options come from; None for an unknown field and for one that is not a select."""
    return next((field.data_source for field in product.fields if field.id == field_id), None)


def dependencies(product: Product, field_id: str) -> dict[str, str]:
    """The inputs that a dynamic field's options require: parameters and the fields that provide them."""
    source = data_source(product, field_id)
    if source is None or source.type != "dynamic":
        return {}
    read = {name: one["from_field"] for name, one in source.params.items() if "from_field" in one}
    return {name: field for name, field in read.items() if name == "account_number" or field in source.depends_on}


def plan_field(product: Product) -> FormField | None:
    """The pricing field whose options are plans; None for a product that has none."""
    source, field = product.fulfillment.extras.get(PLAN_CODE), product.pricing
    return field if source is not None and field is not None and source.from_field == field.id else None


def subproduct_field(product: Product) -> str | None:
    """The select field whose options the legacy endpoints call sub-products (SPEC 2.16): plans, loan accounts, or
    billers."""
    source = product.fulfillment.extras.get(PLAN_CODE)
    return source.from_field if source and source.from_field in product.options else biller_field(product)


def biller_field(product: Product) -> str | None:
    """The select field whose options are billers: the one that feeds `extras.biller_code`."""
    source = product.fulfillment.extras.get("biller_code")
    return source.from_field if source and source.from_field in product.options else None


def biller_product(catalog: Catalog) -> Product | None:
    """The first product that is paid to billers; products on sale take precedence."""
    found = [product for product in catalog.products.values() if biller_field(product)]
    return min(found, key=lambda product: not product.is_active, default=None)


def amount_range(product: Product, *options: Option | None) -> tuple[Decimal | None, Decimal | None]:
    """The minimum and maximum amount (SPEC 2.1, 2.2): those of the selected options, which are billers, else the
    product's, else those of the pricing field."""
    field = product.pricing
    low = product.min_amount.amount if product.min_amount else field.minimum if field else None
    high = product.max_amount.amount if product.max_amount else field.maximum if field else None
    for option in options:
        if option is not None:
            low = option.min_amount.amount if option.min_amount else low
            high = option.max_amount.amount if option.max_amount else high
    return low, high


def limiting_biller(*options: Option | None) -> str:
    """The code of the first selected option that has limits of its own; empty when there is none."""
    return next((option.code for option in options if option and (option.min_amount or option.max_amount)), "")


def _is_for(seed: int, option: Option, identity: tuple[str, str, str]) -> bool:
    return draw.fraction(seed, "option", *identity, option.code) < option.share


def _for_account(seed: int, option: Option, identity: tuple[str, str, str]) -> Option:
    if not option.account_digits:
        return option
    rest = draw.digits(seed, option.account_digits - 1, "account", *identity, option.code)
    first = draw.digits(seed, 1, "first", *identity, option.code)
    return replace(option, account_number=f"{int(first) % 9 + 1}{rest}")
