"""`GET /v2/catalog` (SPEC 4.4). An encoded catalog is kept for as long as nothing that it shows changes."""

from collections.abc import Iterable

from simulator.api.body_cache import BodyCache
from simulator.api.call import Call, Reply
from simulator.api.versions import wants_denominations
from simulator.contract.query import flag
from simulator.domain.model.catalog import Product
from simulator.wire import catalog as wire
from simulator.wire.json import encode


class CatalogEndpoint:
    """Answers from encoded bodies, kept by catalog, reseller overlay, API version and filters."""

    def __init__(self) -> None:
        self._kept = BodyCache()

    def __call__(self, call: Call) -> Reply:
        """200 with the tree and the products that the filters leave."""
        state, owner = call.sandbox.core.state, call.owner
        newer = wants_denominations(call)
        updated = owner.catalog_updated(state.catalog_updated)
        filters = _Filters(call.fields)
        key = (id(state.catalog), id(owner.overlay), updated, newer, filters.key)
        body = self._kept.get(key)
        if body is None:
            seen = (owner.sees(state.catalog, code) for code in filters.codes(state.catalog.products))
            products = [product for product in seen if product is not None and filters.lets_through(product)]
            body = encode(wire.catalog(state.catalog, products, updated, by_denomination=newer))
            self._kept.put(key, (state.catalog, owner.overlay), body)
        return Reply(200, body)


class _Filters:
    """The query of SPEC 4.4; `include_inactive` wins over `is_active`."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.code = fields.get("product_code", "")
        self.active: bool | None = flag(fields, "is_active") is not False
        if flag(fields, "include_inactive"):
            self.active = None
        self.key = (self.code, self.active)

    def codes(self, known: Iterable[str]) -> Iterable[str]:
        """The products to look at."""
        return (self.code,) if self.code else known

    def lets_through(self, product: Product) -> bool:
        """True for what is to be shown; hidden products never are."""
        return not product.is_hidden and (self.active is None or product.is_active == self.active)
