"""What the client was shown of products, options and limits, in the order in which it was shown."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from simulator.audit.reading import money, number, text
from simulator.wire.traffic import Call

ANSWERS_BYTES_MAX: Final = 16 * 1024 * 1024
"""Of catalogs and options that differ so many bytes are read; what comes after them is as if nobody had seen it."""

OK = 200
Value = TypeVar("Value")


class OptionItem(msgspec.Struct, gc=False):
    """What is read of an option (SPEC 2.2) and of a biller (SPEC 2.14)."""

    code: Any = None
    denomination: Any = None
    price: Any = None
    min_amount: Any = None
    max_amount: Any = None
    biller_code: Any = None
    min: Any = None
    max: Any = None


class PageMeta(msgspec.Struct, gc=False):
    """Where a page of options stands."""

    current_page: Any = None
    last_page: Any = None


class OptionsAnswer(msgspec.Struct, gc=False):
    """A page of options, or of billers under `data`."""

    product_code: str = ""
    items: list[OptionItem] = []
    data: list[OptionItem] = []
    meta: PageMeta | None = None


class ShownProduct(msgspec.Struct, gc=False):
    """What is read of a product (SPEC 2.1)."""

    fields: list[dict[str, Any]] = []
    min_amount: Any = None
    max_amount: Any = None


class CatalogAnswer(msgspec.Struct, gc=False):
    """A catalog."""

    last_updated: Any = None
    products: dict[str, ShownProduct] = {}


class Offer(NamedTuple):
    """An option of a pricing field; `denomination` is None in the shape before 2026-09-16."""

    denomination: Decimal | None
    price: Decimal | None


class Range(NamedTuple):
    """The amounts that may be paid, as far as they were shown."""

    low: Decimal | None
    high: Decimal | None

    def holds(self, amount: Decimal) -> bool:
        """True when the amount is within it."""
        return (self.low is None or amount >= self.low) and (self.high is None or amount <= self.high)

    def over(self, other: "Range") -> "Range":
        """This range, completed by the other."""
        return Range(other.low if self.low is None else self.low, other.high if self.high is None else self.high)

    def __str__(self) -> str:
        return f"{'' if self.low is None else self.low} to {'' if self.high is None else self.high}"


NO_RANGE = Range(None, None)


class Shown(Generic[Value]):
    """The values that were shown under keys; one that is shown again unchanged is kept once."""

    def __init__(self) -> None:
        self._values: dict[Any, list[tuple[int, Value]]] = {}

    def add(self, n: int, key: Any, value: Value) -> None:
        """Request `n` was answered with this value."""
        values = self._values.setdefault(key, [])
        if not values or values[-1][1] != value:
            values.append((n, value))

    def before(self, n: int, key: Any) -> Value | None:
        """The last value that was shown before request `n`."""
        values = self._values.get(key, [])
        place = bisect_left(values, n, key=lambda shown: shown[0])
        return values[place - 1][1] if place else None


class Decoder:
    """Decodes catalogs and options, equal answers once, up to a bound of bytes."""

    def __init__(self) -> None:
        self._bytes = 0
        self._decoded: dict[tuple[type, bytes], Any] = {}

    def read(self, answer: bytes, kind: type[Value]) -> Value | None:
        """The answer; None for one that is something else, or is beyond the bound."""
        key = (kind, answer)
        if key not in self._decoded:
            self._bytes += len(answer)
            self._decoded[key] = None if self._bytes > ANSWERS_BYTES_MAX else _decoded(answer, kind)
        found: Value | None = self._decoded[key]
        return found


def _decoded(answer: bytes, kind: type[Value]) -> Value | None:
    try:
        return msgspec.json.Decoder(kind, float_hook=Decimal).decode(answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ArithmeticError):
        return None


class Shelf:
    """What was shown until any request."""

    def __init__(self) -> None:
        self.offers: Shown[Offer] = Shown()
        self.codes: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._of_product: dict[str, set[str]] = defaultdict(set)
        self._billers: Shown[Range] = Shown()
        self._products: Shown[Range] = Shown()

    def add_options(self, call: Call, product: str, items: list[OptionItem]) -> None:
        """A page of options of a product; those with a price are of its pricing field."""
        for item in items:
            code = _text(item.code)
            if not code:
                continue
            self.codes[product, code.casefold()].add(code)
            price = money(item.price)
            if price is not None:
                self.offers.add(call.n, (product, code), Offer(number(item.denomination), price))
                self._of_product[product].add(code)
            self._billers.add(call.n, code, Range(money(item.min_amount), money(item.max_amount)))

    def add_billers(self, call: Call, items: list[OptionItem]) -> None:
        """A page of billers, whose limits are texts."""
        for item in items:
            if code := _text(item.biller_code):
                self._billers.add(call.n, code, Range(number(item.min), number(item.max)))

    def add_catalog(self, call: Call, products: Mapping[str, ShownProduct]) -> None:
        """A catalog, whole or of one product."""
        for code, product in products.items():
            pricing = next((one for one in product.fields if one.get("role") == "pricing"), {})
            validation = pricing.get("validation")
            bounds = validation if isinstance(validation, dict) else {}
            static = Range(number(bounds.get("min")), number(bounds.get("max")))
            own = Range(_in(pricing, product.min_amount), _in(pricing, product.max_amount))
            self._products.add(call.n, code, own.over(static))

    def range_before(self, n: int, product: str, biller: str) -> Range:
        """What may be paid, as it was shown before request `n`: a biller's limits go before the product's."""
        of_product = self._products.before(n, product) or NO_RANGE
        of_biller = (self._billers.before(n, biller) if biller else None) or NO_RANGE
        return of_biller.over(of_product)

    def offers_before(self, n: int, product: str) -> Iterator[Offer]:
        """The options of a product's pricing field, as they were shown before request `n`."""
        for code in self._of_product.get(product, ()):
            if (offer := self.offers.before(n, (product, code))) is not None:
                yield offer


def _in(field: Mapping[str, Any], value: object) -> Decimal | None:
    """A limit in the currency of the field; the default is that of SPEC 2.1."""
    if not isinstance(value, dict):
        return number(value)
    currency = text(field, "currency") or "MYR"
    return money(value) if text(value, "currency") in ("", currency) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
