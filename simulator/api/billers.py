"""`GET /v1/interbank/billers` (SPEC 4.6): the billers of the interbank scheme."""

from simulator.api.body_cache import BodyCache
from simulator.api.call import Call, Reply
from simulator.api.notes import hint, no_biller, note
from simulator.api.paging import note_page_behind
from simulator.api.refusals import invalid_parameters
from simulator.contract.query import whole
from simulator.domain.model.catalog import OptionList, Product
from simulator.domain.model.pricing import biller_field, biller_product, offered
from simulator.wire import options as wire
from simulator.wire.diagnoses import shown
from simulator.wire.money import encode
from simulator.wire.options import Page

FILTERS = ("biller_code", "suggested_category")
NONE = OptionList()


class BillersEndpoint:
    """The endpoint of the list, whole or in pages; encoded pages are cached, since the list may be long."""

    def __init__(self) -> None:
        self._cache = BodyCache()

    def __call__(self, call: Call) -> Reply:
        """Return 200 with the active billers; 400 for a page without a limit."""
        fields, state = call.fields, call.sandbox.core.state
        if "page" in fields and "limit" not in fields:
            return invalid_parameters(call, {"page": ["must be used with limit"]})
        if "product_code" in fields and state.assumes("billers-product-code", "reject"):
            return invalid_parameters(call, {"product_code": ["must not be sent"]})
        prefix = "" if state.assumes("biller-links", "unprefixed") else call.prefix
        any_case = state.assumes("suggested-category", "any_case")
        filters = {name: fields[name] for name in FILTERS if name in fields}
        product, found = _billers(call)
        if product is None:
            note(call, "no product that is paid to billers is on sale")
        key = (id(product), id(found), fields.get("page"), fields.get("limit"), prefix)
        body = None if filters else self._cache.get(key)
        listed = _filtered(found, filters, any_case=any_case) if filters else found
        page = Page.of(len(listed), whole(fields, "page", 1), whole(fields, "limit", len(listed)))
        note_page_behind(call, page.current, page.last, page.total, "billers")
        if body is None:
            if product is not None and filters and not listed:
                _note_no_match(call, product, found)
            body = encode(wire.billers(product, listed, page, prefix, filters, is_paged="limit" in fields))
            if not filters:
                self._cache.put(key, (product, found), body)
        return Reply(200, body)


def _billers(call: Call) -> tuple[Product | None, OptionList]:
    """Return the product that is paid to billers and its active billers, if this reseller sells it."""
    state = call.sandbox.core.state
    product = biller_product(state.catalog)
    seen = product and call.owner.sees(state.catalog, product.code)
    if product is None or seen is None or not seen.is_active:
        return None, NONE
    field_id = biller_field(product)
    assert field_id is not None
    return product, offered(state.seed, product, field_id).active


def _note_no_match(call: Call, product: Product, found: OptionList) -> None:
    """Note why no biller passes the filters."""
    code, category = call.fields.get("biller_code"), call.fields.get("suggested_category")
    if code and code not in found.by_code:
        every = offered(call.sandbox.core.state.seed, product, biller_field(product) or "")
        note(call, no_biller(code, every, found))
    known = tuple(dict.fromkeys(option.suggested_category for option in found if option.suggested_category))
    if category and category not in known:
        others = f"; known: {shown(known)}" if known else ""
        note(call, f"unknown category {shown(category)}{hint(category, known) or others}")
    elif category and code and code in found.by_code:
        note(call, f"biller {code} has the category {shown(found.by_code[code].suggested_category) or '(none)'}")


def _filtered(found: OptionList, filters: dict[str, str], *, any_case: bool) -> OptionList:
    code, category = filters.get("biller_code"), filters.get("suggested_category")
    if code:
        found = OptionList(option for option in (found.by_code.get(code),) if option)
    if not category:
        return found
    if any_case:
        folded = category.casefold()
        return OptionList(option for option in found if (option.suggested_category or "").casefold() == folded)
    return OptionList(option for option in found if option.suggested_category == category)
