"""The products, options and limits that a client has read, by the number of the request."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from simulator.audit.readers import money, text
from simulator.domain.model.money import parse_number
from simulator.wire.traffic import Call

ANSWERS_BYTES_MAX: Final = 16 * 1024 * 1024
"""The maximum number of bytes of differing catalogs and options that are decoded. Later answers are ignored."""

Value = TypeVar("Value")


class OptionItem(msgspec.Struct, gc=False):
    """The fields of an option (SPEC 2.2) or a biller (SPEC 2.14) that the audit reads."""

    code: Any = None
    denomination: Any = None
    price: Any = None
    min_amount: Any = None
    max_amount: Any = None
    biller_code: Any = None
    min: Any = None
    max: Any = None


class PageMeta(msgspec.Struct, gc=False):
    """The position of a page of options."""

    current_page: Any = None
    last_page: Any = None


class OptionsAnswer(msgspec.Struct, gc=False):
    """A page of options, or of billers under `data`."""

    product_code: str = ""
    items: list[OptionItem] = []
    data: list[OptionItem] = []
    meta: PageMeta | None = None


class CatalogProduct(msgspec.Struct, gc=False):
    """The fields of a product (SPEC 2.1) that the audit reads."""

    fields: list[dict[str, Any]] = []
    min_amount: Any = None
    max_amount: Any = None


class CatalogAnswer(msgspec.Struct, gc=False):
    """A catalog."""

    last_updated: Any = None
    products: dict[str, CatalogProduct] = {}


class OptionOffer(NamedTuple):
    """An option of a pricing field; `denomination` is None in the shape before 2026-09-16."""

    denomination: Decimal | None
    price: Decimal | None


class Range(NamedTuple):
    """The amounts that may be paid, as far as the client has read them."""

    low: Decimal | None
    high: Decimal | None

    def holds(self, amount: Decimal) -> bool:
        """Return whether the amount is within the range."""
        return (self.low is None or amount >= self.low) and (self.high is None or amount <= self.high)

    def over(self, other: "Range") -> "Range":
        """Return this range; missing limits come from the other range."""
        return Range(other.low if self.low is None else self.low, other.high if self.high is None else self.high)

    def __str__(self) -> str:
        return f"{'' if self.low is None else self.low} to {'' if self.high is None else self.high}"


NO_RANGE = Range(None, None)


class ReadValues(Generic[Value]):
    """The values that the client has read, by key. A value that is read again unchanged is kept once."""

    def __init__(self) -> None:
        self._values: dict[Any, list[tuple[int, Value]]] = {}

    def add(self, n: int, key: Any, value: Value) -> None:
        """Add the value in the answer to request `n`."""
        values = self._values.setdefault(key, [])
        if not values or values[-1][1] != value:
            values.append((n, value))

    def before(self, n: int, key: Any) -> Value | None:
        """Return the last value before request `n`."""
        values = self._values.get(key, [])
        place = bisect_left(values, n, key=lambda value: value[0])
        return values[place - 1][1] if place else None


class Decoder:
    """Decodes catalogs and options. Equal answers are decoded once. The total number of bytes is limited."""

    def __init__(self) -> None:
        self._bytes = 0
        self._decoded: dict[tuple[type, bytes], Any] = {}

    def read(self, answer: bytes, kind: type[Value]) -> Value | None:
        """Return the decoded answer; None for any other content, or when the limit of bytes is reached."""
        key = (kind, answer)
        if key not in self._decoded:
            self._bytes += len(answer)
            self._decoded[key] = None if self._bytes > ANSWERS_BYTES_MAX else decoded(answer, kind)
        found: Value | None = self._decoded[key]
        return found


def decoded(answer: bytes, kind: type[Value]) -> Value | None:
    """Return the decoded answer; None for any other content."""
    try:
        return msgspec.json.Decoder(kind, float_hook=Decimal).decode(answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ArithmeticError):
        return None


class SeenCatalog:
    """Everything that the client has read before any request."""

    def __init__(self) -> None:
        self.offers: ReadValues[OptionOffer] = ReadValues()
        self.codes: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._of_product: dict[str, set[str]] = defaultdict(set)
        self._billers: ReadValues[Range] = ReadValues()
        self._products: ReadValues[Range] = ReadValues()

    def add_options(self, call: Call, product: str, items: list[OptionItem]) -> None:
        """Add a page of options of a product. Options with a price belong to its pricing field."""
        for item in items:
            code = _text(item.code)
            if not code:
                continue
            self.codes[product, code.casefold()].add(code)
            price = money(item.price)
            if price is not None:
                self.offers.add(call.n, (product, code), OptionOffer(parse_number(item.denomination), price))
                self._of_product[product].add(code)
            self._billers.add(call.n, code, Range(money(item.min_amount), money(item.max_amount)))

    def add_billers(self, call: Call, items: list[OptionItem]) -> None:
        """Add a page of billers, whose limits are texts."""
        for item in items:
            if code := _text(item.biller_code):
                self._billers.add(call.n, code, Range(parse_number(item.min), parse_number(item.max)))

    def add_catalog(self, call: Call, products: Mapping[str, CatalogProduct]) -> None:
        """Add a catalog of all products or of a single product."""
        for code, product in products.items():
            pricing = next((field for field in product.fields if field.get("role") == "pricing"), {})
            validation = pricing.get("validation")
            bounds = validation if isinstance(validation, dict) else {}
            static = Range(parse_number(bounds.get("min")), parse_number(bounds.get("max")))
            own = Range(_in(pricing, product.min_amount), _in(pricing, product.max_amount))
            self._products.add(call.n, code, own.over(static))

    def range_before(self, n: int, product: str, biller: str) -> Range:
        """Return the payable range that the client knew before request `n`. A biller's limits override the
        product's."""
        of_product = self._products.before(n, product) or NO_RANGE
        of_biller = (self._billers.before(n, biller) if biller else None) or NO_RANGE
        return of_biller.over(of_product)

    def offers_before(self, n: int, product: str) -> Iterator[OptionOffer]:
        """Return the options of a product's pricing field that the client knew before request `n`."""
        for code in self._of_product.get(product, ()):
            if (offer := self.offers.before(n, (product, code))) is not None:
                yield offer


def _in(field: Mapping[str, Any], value: object) -> Decimal | None:
    """Return a limit in the currency of the field; the default currency is in SPEC 2.1."""
    if not isinstance(value, dict):
        return parse_number(value)
    currency = text(field, "currency") or "MYR"
    return money(value) if text(value, "currency") in ("", currency) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
