"""`GET /v2/product-list` and `/v2/subproducts` (SPEC 4.7, 4.8): the catalog as old integrations read it, deprecated."""

from simulator.api.call import Call, Reply
from simulator.api.diagnoses import not_listed
from simulator.api.notes import note
from simulator.api.options import account_problem
from simulator.api.refusals import invalid_parameters, refuse_parameters
from simulator.domain.model.options import account_source, offered, subproduct_field
from simulator.wire import legacy as wire


def product_list(call: Call) -> Reply:
    """200 with every product of the catalog as this reseller sees it, inactive ones included."""
    state = call.sandbox.core.state
    seen = (call.owner.sees(state.catalog, code) for code in state.catalog.products)
    products = [product for product in seen if product is not None and not product.is_hidden]
    return Reply(200, wire.product_list(state.catalog, products, by_id=state.assumes("legacy-categories", "ids")))


def subproducts(call: Call) -> Reply:
    """200 with the active sub-products, none when the product has no such thing; 400 for what cannot be looked up."""
    fields, state = call.fields, call.sandbox.core.state
    product = call.owner.sees(state.catalog, fields["product_code"])
    if product is None or product.is_hidden or not product.is_active:
        note(call, not_listed(call, fields["product_code"], product))
        return refuse_parameters({"product_code": ["is not a product on sale"]})
    field_id = subproduct_field(product)
    if field_id is None:
        if "account_number" in fields:
            note(call, f"account_number was ignored: {product.code} has no sub-products")
        return Reply(200, wire.subproducts(product, ()))
    if problem := account_problem(state, product, field_id, fields):
        return invalid_parameters(call, {"account_number": [problem]})
    if "account_number" in fields and account_source(product, field_id) is None:
        note(call, f"account_number was ignored: {product.code} offers the same to every account")
    found = offered(state.seed, product, field_id, fields.get("account_number", "")).active
    limit = int(fields["limit"]) if "limit" in fields else None
    priced = state.assumes("subproduct-denomination", "price")
    return Reply(200, wire.subproducts(product, found[:limit], priced=priced))
