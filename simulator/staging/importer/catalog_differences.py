"""Compares the bodies of the account and of the simulator, and describes their differences.

So the import reports everything that a scenario cannot express. Differences of the same kind, in all items of a list,
share a line.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from simulator.domain.model.catalog import Catalog, OptionList, Product
from simulator.short_text import one_line
from simulator.staging.bodies import as_dict, as_text
from simulator.staging.importer.account_answers import Offer, ProductAnswers, biller_field
from simulator.wire import catalog_answers, legacy, option_lists
from simulator.wire.formats import encode
from simulator.wire.option_lists import Page

VALUE_CHARS_MAX = 80
_ABSENT: Any = object()
_decode = msgspec.json.Decoder(float_hook=Decimal).decode

# A place such as `fields[1].label`, the value there, and ours.
Difference = tuple[str, Any, Any]


def product_differences(answers: ProductAnswers, product: Product) -> list[str]:
    """Return a line for each kind of difference in all answers about a product, except the legacy product list."""
    found: list[str] = []
    found += _lines("catalog", _differences(answers.body, _ours(catalog_answers.product_body(product))))
    for field_id, offers in answers.offers.items():
        for offer in offers:
            found += _of_offer(answers, product, field_id, offer)
    return found


def list_differences(answers: ProductAnswers, product: Product, catalog: Catalog) -> list[str]:
    """Return a line for each difference in the legacy product list, which names group and category."""
    if not answers.listed:
        return []
    ours = _ours(legacy.product_list(catalog, [product]))["data"][0]
    return _lines("product-list", _differences(answers.listed, ours))


def tree_differences(groups: list[Any], catalog: Catalog) -> list[str]:
    """Return a line for each kind of difference in the tree."""
    ours = [_ours(catalog_answers.tree_part(group)) for group in catalog.groups]
    return _lines("tree", _differences({"groups": groups}, {"groups": ours}))


def _of_offer(answers: ProductAnswers, product: Product, field_id: str, offer: Offer) -> Iterator[str]:
    listed = product.options_for.get((field_id, offer.account)) if offer.account else product.options.get(field_id)
    ours = listed if listed is not None else OptionList()
    place = f"options of {field_id}" + (f" for {offer.account}" if offer.account else "")

    def rows_of(options: OptionList) -> list[Any]:
        page = Page.of(len(options), 1, max(1, len(options)))
        items: list[Any] = _ours(option_lists.options(product, field_id, options, page, by_denomination=True))["items"]
        return items

    yield from _lines(place, _item_differences(offer.active, rows_of(ours.active), "code"))
    yield from _lines(f"{place}, inactive", _item_differences(offer.inactive, rows_of(ours.inactive), "code"))
    if field_id == biller_field(answers.body) and answers.billers:
        page = Page.of(len(ours.active), 1, max(1, len(ours.active)))
        body = option_lists.billers(product, ours.active, page, "", {}, is_paged=False)
        yield from _lines("billers", _item_differences(answers.billers, _ours(body)["data"], "biller_code"))
    elif offer.account in answers.subproducts:
        body = legacy.subproducts(product, ours.active)
        theirs = answers.subproducts[offer.account]
        yield from _lines("subproducts", _item_differences(theirs, _ours(body)["data"], "subproduct_code"))


def _ours(body: Any) -> Any:
    """Return a body as a client decodes it."""
    return _decode(encode(body))


def _item_differences(theirs: Sequence[Any], ours: Sequence[Any], key: str) -> Iterator[Difference]:
    """Yield the differences of two lists of items with a code each, then of their order and number."""
    left, right = ({as_text(as_dict(item).get(key)): item for item in items} for items in (theirs, ours))
    for code, item in left.items():
        yield from ((f"[{code}]{place}", a, b) for place, a, b in _differences(item, right.get(code, _ABSENT), "."))
    both = [code for code in left if code in right]
    if both != [code for code in right if code in left]:
        yield "", "another order of items", "this one"
    if len(theirs) != len(left):
        yield "", f"{len(theirs)} items", f"one for each of {len(left)} codes"


def _differences(theirs: Any, ours: Any, place: str = "") -> Iterator[Difference]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in [*theirs, *(key for key in ours if key not in theirs)]:
            below = f"{place}{key}" if place in ("", ".") else f"{place}.{key}"
            yield from _differences(theirs.get(key, _ABSENT), ours.get(key, _ABSENT), below)
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for at, (left, right) in enumerate(zip(theirs, ours, strict=True)):
            yield from _differences(left, right, f"{place}[{at}]")
    elif isinstance(theirs, bool) is not isinstance(ours, bool) or theirs != ours:
        yield place, theirs, ours


def _lines(what: str, found: Iterable[Difference]) -> list[str]:
    kinds: dict[str, tuple[int, Difference]] = {}
    for difference in found:
        kind = _kind(difference[0])
        count, first = kinds.get(kind, (0, difference))
        kinds[kind] = (count + 1, first)
    return [_line(what, count, first) for count, first in kinds.values()]


def _kind(place: str) -> str:
    """Return the place without indexes and codes."""
    parts = place.split("[")
    return "[".join([parts[0], *(part.partition("]")[2] for part in parts[1:])])


def _line(what: str, count: int, first: Difference) -> str:
    place, theirs, ours = first
    more = f" (and {count - 1} more like it)" if count > 1 else ""
    where = f"{what} {place}".rstrip(" .")
    return one_line(f"{where}: the account has {_value(theirs)}, this file {_value(ours)}{more}")


def _value(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = encode(value).decode()
    return text if len(text) <= VALUE_CHARS_MAX else text[: VALUE_CHARS_MAX - 1] + "…"
