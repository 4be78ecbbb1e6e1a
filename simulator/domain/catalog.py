"""The product catalog (SPEC 2.1): immutable, shared by all sandboxes that start from the same scenario.

A change makes a new `Catalog`; a reseller's overlay is laid over a product when it is looked at.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

from simulator.domain.bills import BillProfile
from simulator.domain.rules import Text


@dataclass(frozen=True, slots=True)
class Money:
    """An amount with its currency."""

    amount: Decimal
    currency: str = "MYR"


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where a select field's options come from. `params` maps a query parameter to `{"static": value}` or
    `{"from_field": field id}`."""

    type: str
    depends_on: tuple[str, ...] = ()
    params: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FormField:
    """An element of a product's form. `accepts` tests a text against `pattern`."""

    id: str
    type: str
    input_mode: str
    label: str
    placeholder: str = ""
    required: bool = True
    order: int = 0
    role: str = "none"
    pattern: str | None = None
    accepts: Callable[[str], bool] | None = None
    message: str | None = None
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    data_source: DataSource | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where fulfillment reads one value of the payment request from."""

    from_field: str
    path: str | None = None
    omit_if_empty: bool = False


@dataclass(frozen=True, slots=True)
class Fulfillment:
    """How the form maps onto `POST /v2/topup`."""

    account: Source | None = None
    amount: Source | None = None
    extras: Mapping[str, Source] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Discount:
    """`unit_price` is the cost per unit of face value (`percentage`) or a negative amount a transaction (`fixed`);
    `value` is the same for people."""

    type: str
    unit_price: Decimal
    value: str


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A reseller's selling price: `fixed` adds `value`, `percentage` multiplies by it."""

    type: str
    value: Decimal
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A selectable item of a select field. `denomination` is set for options of a pricing field alone."""

    code: str
    label: str
    denomination: Decimal | None = None
    is_active: bool = True
    description: str | None = None
    validity: str | None = None
    features: tuple[str, ...] = ()
    rrp: Money | None = None


@dataclass(frozen=True, slots=True)
class Fulfilled:
    """What a successful payment of a product carries: templates for `sn`, `pin`, `voucherlink` and `note`, and how
    long the voucher is good for."""

    texts: Mapping[str, Text] = field(default_factory=dict)
    valid_for: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """A product as the scenario's catalog describes it, before any reseller's overlay."""

    code: str
    name: str
    image_url: str
    processing_time: str
    fields: tuple[FormField, ...]
    fulfillment: Fulfillment
    discount: Discount
    note: str | None = None
    is_active: bool = True
    denomination: str | None = None
    denomination_currency: str | None = None
    denomination_unit_price: Decimal = Decimal(1)
    currency: str = "MYR"
    min_amount: Money | None = None
    max_amount: Money | None = None
    price_adjustment: Adjustment | None = None
    options: Mapping[str, tuple[Option, ...]] = field(default_factory=dict)
    fulfilled: Fulfilled = Fulfilled()
    voidable: bool = False
    bill: BillProfile | None = None
    account: FormField | None = field(init=False)
    pricing: FormField | None = field(init=False)

    def __post_init__(self) -> None:
        """Find the first fields with the roles `account` and `pricing`, which every payment looks at."""
        for role in ("account", "pricing"):
            found = next((field_ for field_ in self.fields if field_.role == role), None)
            object.__setattr__(self, role, found)


@dataclass(frozen=True, slots=True)
class Overlay:
    """One reseller's view of a product; None leaves the product's own value."""

    is_active: bool | None = None
    price_adjustment: Adjustment | None = None

    def over(self, product: Product) -> Product:
        """The product as this reseller sees it."""
        return replace(
            product,
            is_active=product.is_active if self.is_active is None else self.is_active,
            price_adjustment=self.price_adjustment or product.price_adjustment,
        )


@dataclass(frozen=True, slots=True)
class Category:
    """A shelf of products."""

    id: str
    name: str
    product_codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A row of categories; the order of groups and categories is the order on screen."""

    id: str
    name: str
    icon_url: str
    categories: tuple[Category, ...]


@dataclass(frozen=True)
class Catalog:
    """Groups in display order and products by code. Equal contents need not be equal objects: identity counts."""

    groups: tuple[Group, ...] = ()
    products: Mapping[str, Product] = field(default_factory=dict)

    __hash__ = object.__hash__
    __eq__ = object.__eq__
