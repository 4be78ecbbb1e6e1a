"""The product catalog (SPEC 2.1): immutable, shared by all sandboxes that start from the same scenario.

A change creates a new `Catalog`; a reseller's overlay is applied to a product when it is read.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cached_property

import msgspec

from simulator.domain.errors import Unknown
from simulator.domain.model.bills import BillProfile
from simulator.domain.model.rules import Text


class Category(msgspec.Struct, frozen=True):
    id: str
    name: str
    product_codes: tuple[str, ...]


class Group(msgspec.Struct, frozen=True):
    """A row of categories; groups and categories are in display order."""

    id: str
    name: str
    icon_url: str
    categories: tuple[Category, ...]


def tree_of(groups: tuple[Group, ...], codes: Container[str]) -> tuple[Group, ...]:
    """Return the groups reduced to the products in `codes`, including empty categories."""
    return tuple(
        msgspec.structs.replace(group, categories=tuple(_category_of(category, codes) for category in group.categories))
        for group in groups
    )


def _category_of(category: Category, codes: Container[str]) -> Category:
    shown = tuple(code for code in category.product_codes if code in codes)
    return category if shown == category.product_codes else msgspec.structs.replace(category, product_codes=shown)


class TreeKind(StrEnum):
    """The kinds of tree nodes; the value is the prefix of their events (SPEC 6.4)."""

    CATEGORY = "category"
    GROUP = "group"


class Money(msgspec.Struct, frozen=True):
    """An amount with its currency."""

    amount: Decimal
    currency: str = "MYR"


class DataSource(msgspec.Struct, frozen=True):
    """The source of a select field's options. `params` maps a query parameter to `{"static": value}` or
    `{"from_field": field id}`."""

    type: str
    depends_on: tuple[str, ...] = ()
    params: Mapping[str, Mapping[str, str]] = msgspec.field(default_factory=dict)


class FormField(msgspec.Struct, frozen=True):
    """A field of a product's form. `accepts` tests a text against `pattern`."""

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


class Source(msgspec.Struct, frozen=True):
    """The source of a value of fulfillment in the payment request."""

    from_field: str
    path: str | None = None
    omit_if_empty: bool = False


class Fulfillment(msgspec.Struct, frozen=True):
    """The mapping of the form onto `POST /v2/topup`; each source names a field of the product."""

    account: Source | None = None
    amount: Source | None = None
    extras: Mapping[str, Source] = msgspec.field(default_factory=dict)


class Discount(msgspec.Struct, frozen=True, tag=True, tag_field="property"):
    """A discount. `unit_price` is the cost per unit of face value (`percentage`) or a negative amount per transaction
    (`fixed`); `value` is its display form."""

    type: str
    unit_price: Decimal
    value: str


class Adjustment(msgspec.Struct, frozen=True, tag=True, tag_field="property"):
    """A reseller's selling price: `fixed` adds `value`, `percentage` multiplies by it."""

    type: str
    value: Decimal
    currency: str | None = None


class Option(msgspec.Struct, frozen=True):
    """A selectable item of a select field (SPEC 2.2). `denomination` is set only for options of a pricing field. For a
    dynamic field, `share` is the fraction of account numbers that get the option, and `account_digits` the length of
    the `account_number` drawn for each. All other fields, except `rrp`, belong to billers (SPEC 2.14)."""

    code: str
    label: str
    denomination: Decimal | None = None
    is_active: bool = True
    description: str | None = None
    validity: str | None = None
    features: tuple[str, ...] = ()
    rrp: Money | None = None
    account_number: str | None = None
    account_digits: int = 0
    share: Decimal = Decimal(1)
    min_amount: Money | None = None
    max_amount: Money | None = None
    needs_ref2: bool = False
    suggested_category: str | None = None
    additional_description: tuple[str, ...] = ()


class OptionList(tuple[Option, ...]):
    """Options in display order, including inactive options, with lazily built indexes."""

    @cached_property
    def by_code(self) -> Mapping[str, Option]:
        """Return the first option with each code: an identity may have several accounts of the same kind."""
        return {option.code: option for option in reversed(self)}

    @cached_property
    def active(self) -> "OptionList":
        """Return the options on sale."""
        return self if all(option.is_active for option in self) else OptionList(o for o in self if o.is_active)

    @cached_property
    def inactive(self) -> "OptionList":
        """Return the options not on sale."""
        return OptionList(option for option in self if not option.is_active)

    @cached_property
    def by_denomination(self) -> Mapping[Decimal, tuple[Option, ...]]:
        """Return the options on sale by face value."""
        found: dict[Decimal, list[Option]] = {}
        for option in self.active:
            if option.denomination is not None:
                found.setdefault(option.denomination, []).append(option)
        return {denomination: tuple(options) for denomination, options in found.items()}


class Receipt(msgspec.Struct, frozen=True):
    """The contents of a receipt for a product: templates for `sn`, `pin`, `voucherlink` and `note`, and the validity
    period of the voucher."""

    texts: Mapping[str, Text] = msgspec.field(default_factory=dict)
    valid_for: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """A product as the scenario's catalog describes it, before any reseller's overlay.

    `options` holds the options of each select field. For dynamic fields, `options_for` has the lists written for a
    (field, account number), and `fields_by_account` names the fields whose options vary by account;
    `pricing.offered` resolves what is offered. A hidden product is left out of the catalog.
    """

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
    options: Mapping[str, OptionList] = field(default_factory=dict)
    options_for: Mapping[tuple[str, str], OptionList] = field(default_factory=dict)
    fields_by_account: frozenset[str] = frozenset()
    fulfilled: Receipt = Receipt()
    voidable: bool = False
    bill: BillProfile | None = None
    is_hidden: bool = False
    account: FormField | None = field(init=False)
    pricing: FormField | None = field(init=False)

    def __post_init__(self) -> None:
        """Cache the first fields with the roles `account` and `pricing`, which every payment reads."""
        for role in ("account", "pricing"):
            found = next((field_ for field_ in self.fields if field_.role == role), None)
            object.__setattr__(self, role, found)


class Overlay(msgspec.Struct, frozen=True):
    """One reseller's view of a product; None keeps the product's own value."""

    is_active: bool | None = None
    price_adjustment: Adjustment | None = None

    def over(self, product: Product) -> Product:
        """Return the product as this reseller sees it."""
        return replace(
            product,
            is_active=product.is_active if self.is_active is None else self.is_active,
            price_adjustment=self.price_adjustment or product.price_adjustment,
        )


@dataclass(frozen=True, eq=False)
class Catalog:
    """Groups in display order and products by code. Compared by identity: equal contents may be different objects."""

    groups: tuple[Group, ...] = ()
    products: Mapping[str, Product] = field(default_factory=dict)

    @cached_property
    def categories(self) -> Mapping[str, Category]:
        """Return the first category, in display order, that shows each product."""
        found: dict[str, Category] = {}
        for group in self.groups:
            for category in group.categories:
                for code in category.product_codes:
                    found.setdefault(code, category)
        return found

    def parts(self, kind: TreeKind) -> Sequence[Category | Group]:
        """Return all groups, or all categories, in display order."""
        if kind is TreeKind.GROUP:
            return self.groups
        return [category for group in self.groups for category in group.categories]

    def part(self, kind: TreeKind, id_: str) -> Category | Group:
        """Return the category or group with this id. Raise `Unknown`."""
        for part in self.parts(kind):
            if part.id == id_:
                return part
        raise Unknown(f"unknown_{kind}", f"this sandbox has no {kind} {id_!r}")


class OptionChange(msgspec.Struct, frozen=True):
    """An option of a field before and after."""

    field_id: str
    before: Option
    after: Option


class ProductChange(msgspec.Struct, frozen=True):
    """The effect of a `ChangeProduct`: the product before and after, as seen by `reseller` when that is set.

    `changed` names the changed properties of the product, `options` lists changed options. Both are empty when the
    command changed nothing.
    """

    before: Product
    after: Product
    changed: tuple[str, ...]
    options: tuple[OptionChange, ...] = ()
    reseller: str | None = None

    def __bool__(self) -> bool:
        """Return whether the command changed anything."""
        return bool(self.changed or self.options)


class TreeChange(msgspec.Struct, frozen=True):
    """The effect of a `ChangeTree`: the category or group after it, and the names of its changed properties."""

    after: Category | Group
    changed: tuple[str, ...]
