"""The catalog endpoints: the catalog, the options of a select field, the billers of the interbank scheme, and the
legacy lists (SPEC 4.4 to 4.8). Encoded catalogs are cached until their contents change."""

from collections.abc import Hashable, Mapping
from typing import Any, Final

from simulator.api.call import ApiCall, Problems, Reply
from simulator.api.notes import no_product, note, page_size
from simulator.api.refusals import refuse_input, refuse_parameters
from simulator.auth import headers as names
from simulator.contract.query import flag, parameters, sent_times, whole
from simulator.contract.surplus import hint
from simulator.domain import queries
from simulator.domain.model import pricing
from simulator.domain.model.catalog import OptionList, Product, tree_of
from simulator.domain.state import State
from simulator.wire import catalog_answers as catalog_lists
from simulator.wire import error_bodies, legacy, option_lists
from simulator.wire.diagnoses import shown
from simulator.wire.formats import api_version, encode
from simulator.wire.option_lists import Page

LIMIT_MAX = 25_000
CATALOG_BYTES_MAX = 32 * 1024 * 1024  # of all cached catalogs; when the next would exceed it, all are dropped
_catalog_bodies: Final[dict[Hashable, tuple[object, bytes]]] = {}
"""Encoded catalogs, each with the objects whose ids are in its key, so that these ids cannot be reused."""


def options(call: ApiCall) -> Reply:
    """Return 200 with a page; 400 for missing parameters; 404 when the product has no such select field."""
    fields, state = call.fields, call.sandbox.core.state
    code, field_id = fields["product_code"], fields["field_id"]
    product = call.owner.sees(state.catalog, code)
    if product is None or field_id not in product.options or not _is_included(product, fields):
        note(call, _why_unknown(call, product))
        text = f"There are no options for the field {field_id!r} of a product {code!r}."
        return Reply(404, error_bodies.parameters(text, {}))
    if wrong := _dependency_problems(state, product, field_id, fields):
        return refuse_input(call, wrong)
    _note_ignored(call, product)
    sent = "per_page" if "per_page" in fields and "limit" not in fields else "limit"
    limit, problems = page_size(call, sent, LIMIT_MAX, "options-page-size")
    if problems:
        return refuse_input(call, problems)
    found = _filtered(call, product)
    page = Page.of(len(found), whole(fields, "page", 1), limit)
    _note_page_behind(call, page, "options")
    by_denomination = wants_denominations(call)
    return Reply(200, option_lists.options(product, field_id, found, page, by_denomination=by_denomination))


def _note_page_behind(call: ApiCall, page: Page, what: str) -> None:
    """Note that a page is empty because it comes after the last page."""
    if page.current > page.last:
        behind = f"page {page.current} begins after the end"
        note(call, f"{behind}: there are {page.total} {what}, page {page.last} is the last")


def _is_included(product: Product, fields: dict[str, str]) -> bool:
    """Return whether the product may be found: inactive and hidden products only when the request includes them."""
    is_shown = product.is_active or bool(flag(fields, "include_inactive"))
    return is_shown and (not product.is_hidden or bool(flag(fields, "include_hidden")))


def _why_unknown(call: ApiCall, product: Product | None) -> str:
    """Explain why the field has no options, and which field has some."""
    code, field_id = call.fields["product_code"], call.fields["field_id"]
    if product is not None and field_id not in product.options:
        some = ", ".join(product.options)
        has = f"its select fields are {some}{hint(field_id, product.options)}" if some else "it has no such field"
        return f"{code} has no select field {shown(field_id)}; {has}"
    return _not_listed(call, code, product)


def _note_ignored(call: ApiCall, product: Product) -> None:
    """Note parameters without meaning for this field."""
    fields, field_id = call.fields, call.fields["field_id"]
    if "per_page" in fields and "limit" in fields:
        note(call, "per_page was ignored: it is another name of limit, which was sent too")
    if "is_active" in fields and pricing.account_source(product, field_id):
        note(call, f"is_active was ignored: {field_id} is dynamic and offers active options only")
    if "account_number" in fields and not pricing.account_source(product, field_id):
        note(call, f"account_number was ignored: {field_id} offers the same to every account")
    if "biller_code" in fields and field_id != pricing.biller_field(product):
        note(call, f"biller_code was ignored: {field_id} lists no billers")


def _dependency_problems(state: State, product: Product, field_id: str, fields: Mapping[str, Any]) -> Problems:
    """Return the errors of the parameters that determine a dynamic field's options: missing, sent several times, or an
    account number that its form field rejects, where the scenario validates them."""
    problems = {}
    accepts = {field.id: field.accepts for field in product.fields if field.accepts is not None}
    validated = ("account_number",) if state.assumes("options-account-number", "validated") else ()
    for name, source in pricing.dependencies(product, field_id).items():
        sent = fields.get(name)
        if not sent:
            problems[name] = [f"is required: the options of {field_id!r} depend on the value of {source!r}"]
        elif isinstance(sent, list):
            problems[name] = [sent_times(sent)]
        elif name in validated and source in accepts and not accepts[source](sent):
            problems[name] = [f"is not a value that the field {source!r} accepts"]
    return problems


def _filtered(call: ApiCall, product: Product) -> OptionList:
    """Return the options filtered by active status (static options only) and biller."""
    state, fields, field_id = call.sandbox.core.state, call.fields, call.fields["field_id"]
    every = found = pricing.offered(state.seed, product, field_id, fields.get("account_number", ""))
    active = flag(fields, "is_active")
    is_dynamic = pricing.account_source(product, field_id) is not None
    if is_dynamic or active or (active is None and not state.assumes("options-active", "all")):
        found = found.active
    elif active is False:
        found = found.inactive
    biller = fields.get("biller_code")
    if biller and field_id == pricing.biller_field(product):
        listed, found = found, OptionList(option for option in (found.by_code.get(biller),) if option)
        if not found:
            note(call, _no_biller(biller, every, listed))
    return found


BILLER_FILTERS = ("biller_code", "suggested_category")


def billers(call: ApiCall) -> Reply:
    """Return 200 with the active billers; 400 for a page without a limit."""
    fields, state = call.fields, call.sandbox.core.state
    if "page" in fields and "limit" not in fields:
        return refuse_input(call, {"page": ["must be used with limit"]})
    if "product_code" in fields and state.assumes("billers-product-code", "reject"):
        return refuse_input(call, {"product_code": ["must not be sent"]})
    product, found = _billers(call)
    if product is None:
        note(call, "no product that is paid to billers is on sale")
    filters = {name: fields[name] for name in BILLER_FILTERS if name in fields}
    listed = _filtered_billers(found, filters, any_case=state.assumes("suggested-category", "any_case"))
    page = Page.of(len(listed), whole(fields, "page", 1), whole(fields, "limit", len(listed)))
    _note_page_behind(call, page, "billers")
    if product is not None and not listed:
        _note_no_biller(call, product, found)
    prefix = "" if state.assumes("biller-links", "unprefixed") else call.exchange.prefix
    return Reply(200, option_lists.billers(product, listed, page, prefix, filters, is_paged="limit" in fields))


def _billers(call: ApiCall) -> tuple[Product | None, OptionList]:
    """Return the product that is paid to billers and its active billers, if this reseller sells it."""
    state = call.sandbox.core.state
    product = pricing.biller_product(state.catalog)
    seen = product and call.owner.sees(state.catalog, product.code)
    if product is None or seen is None or not seen.is_active:
        return None, OptionList()
    field_id = pricing.biller_field(product)
    assert field_id is not None
    return product, pricing.offered(state.seed, product, field_id).active


def _note_no_biller(call: ApiCall, product: Product, found: OptionList) -> None:
    """Note why no biller passes the filters."""
    code, category = call.fields.get("biller_code"), call.fields.get("suggested_category")
    if code and code not in found.by_code:
        every = pricing.offered(call.sandbox.core.state.seed, product, pricing.biller_field(product) or "")
        note(call, _no_biller(code, every, found))
    known = tuple(dict.fromkeys(option.suggested_category for option in found if option.suggested_category))
    if category and category not in known:
        others = f"; known: {shown(known)}" if known else ""
        note(call, f"unknown category {shown(category)}{hint(category, known) or others}")
    elif category and code and code in found.by_code:
        note(call, f"biller {code} has the category {shown(found.by_code[code].suggested_category) or '(none)'}")


def _filtered_billers(found: OptionList, filters: dict[str, str], *, any_case: bool) -> OptionList:
    code, category = filters.get("biller_code"), filters.get("suggested_category")
    if code:
        found = OptionList(option for option in (found.by_code.get(code),) if option)
    if not category:
        return found
    spelling = str.casefold if any_case else str
    wanted = spelling(category)
    return OptionList(option for option in found if spelling(option.suggested_category or "") == wanted)


def wants_denominations(call: ApiCall) -> bool:
    """Return whether a call's response has the shapes of 2026-09-16: by its header, by default after the switch, or
    always if the scenario says so."""
    state, version = call.sandbox.core.state, api_version(call.headers.get(names.API_VERSION))
    is_asked = version is not None and version >= queries.NEW_VERSION
    return is_asked or queries.has_newest_shape(state) or call.now >= queries.version_switch(state)


def catalog(call: ApiCall) -> Reply:
    """Return 200 with the products that match the filters, and their tree."""
    state, owner = call.sandbox.core.state, call.owner
    newer = wants_denominations(call)
    updated = queries.last_updated(state, call.now, owner)
    code, active = call.fields.get("product_code", ""), _active(call)
    whole_tree = state.assumes("tree-products", "whole")
    if code:
        product = owner.sees(state.catalog, code)
        if product is None or product.is_hidden or active not in (None, product.is_active):
            note(call, _not_listed(call, code, product))
    key = ("catalog", id(state.catalog), id(owner.overlay), updated, newer, code, active, whole_tree)
    if found := _catalog_bodies.get(key):
        return Reply(200, found[1])
    listed = _listed(call, active)
    products = [listed[code]] if code in listed else [] if code else list(listed.values())
    # A `product_code` that matches nothing preserves the tree (SPEC 4.4).
    shown_codes = {product.code for product in products} or listed
    tree = state.catalog.groups if whole_tree else tree_of(state.catalog.groups, shown_codes)
    shown = products if newer else [queries.older(state, product) for product in products]
    body = encode(catalog_lists.catalog(tree, shown, updated, by_denomination=newer))
    if not code:  # few requests name the same product
        if sum(len(other) for _, other in tuple(_catalog_bodies.values())) + len(body) > CATALOG_BYTES_MAX:
            _catalog_bodies.clear()
        _catalog_bodies[key] = ((state.catalog, owner.overlay), body)
    return Reply(200, body)


def _active(call: ApiCall) -> bool | None:
    """Return the filter on `is_active`: True by default, None for both; `include_inactive` overrides `is_active`."""
    if flag(call.fields, "include_inactive"):
        if "is_active" in call.fields:
            note(call, "is_active was ignored, since include_inactive=true shows both")
        return None
    return flag(call.fields, "is_active") is not False


def _listed(call: ApiCall, active: bool | None) -> dict[str, Product]:
    """Return every product that matches, as the reseller sees it; never hidden products."""
    catalog = call.sandbox.core.state.catalog
    products = (call.owner.sees(catalog, code) for code in catalog.products)
    shown = (product for product in products if product and not product.is_hidden)
    return {product.code: product for product in shown if active in (None, product.is_active)}


def product_list(call: ApiCall) -> Reply:
    """Return 200 with every product of the catalog as this reseller sees it, including inactive products."""
    state, products = call.sandbox.core.state, list(_listed(call, None).values())
    return Reply(200, legacy.product_list(state.catalog, products, by_id=state.assumes("legacy-categories", "ids")))


def subproducts(call: ApiCall) -> Reply:
    """Return 200 with the active sub-products, empty for a product without sub-products; 400 for an invalid look-up."""
    fields, state = call.fields, call.sandbox.core.state
    product = call.owner.sees(state.catalog, fields["product_code"])
    if product is None or product.is_hidden or not product.is_active:
        note(call, _not_listed(call, fields["product_code"], product))
        return refuse_parameters({"product_code": ["is not a product on sale"]})
    field_id = pricing.subproduct_field(product)
    if field_id is None:
        if "account_number" in fields:
            note(call, f"account_number was ignored: {product.code} has no sub-products")
        return Reply(200, legacy.subproducts(product, ()))
    if wrong := _dependency_problems(state, product, field_id, fields).get("account_number"):
        return refuse_input(call, {"account_number": wrong})
    if "account_number" in fields and pricing.account_source(product, field_id) is None:
        note(call, f"account_number was ignored: {product.code} offers the same to every account")
    found = pricing.offered(state.seed, product, field_id, fields.get("account_number", "")).active
    limit = int(fields["limit"]) if "limit" in fields else None
    priced = state.assumes("subproduct-denomination", "price")
    return Reply(200, legacy.subproducts(product, found[:limit], priced=priced))


def _not_listed(call: ApiCall, code: str, product: Product | None) -> str:
    """Return why an endpoint does not show a product, and which of the endpoint's parameters would show it."""
    if product is None:
        return no_product(call, code)
    known, asked = parameters(call.endpoint.schema), call.fields
    if not product.is_hidden or ("include_hidden" in known and flag(asked, "include_hidden")):
        state = "active" if product.is_active else "inactive"
        return f"{code} is {state}" + ("; include_inactive=true shows it" if "include_inactive" in known else "")
    if "include_hidden" not in known:
        return f"{code} is hidden"
    if product.is_active or flag(asked, "include_inactive"):
        return f"{code} is hidden; include_hidden=true shows it"
    return f"{code} is hidden and inactive; include_hidden=true and include_inactive=true show it"


def _no_biller(code: str, every: OptionList, listed: OptionList) -> str:
    """Return why no listed biller has this code; `every` includes billers that are not listed."""
    biller = every.by_code.get(code)
    if biller is None:
        return f"no biller {shown(code)}{hint(code, listed.by_code)}"
    return f"biller {code} is {'active, and is_active=false was asked for' if biller.is_active else 'inactive'}"
