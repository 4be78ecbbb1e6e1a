"""`GET /v2/catalog` (SPEC 4.4). An encoded catalog is kept for as long as nothing that it shows changes."""

from collections import OrderedDict
from collections.abc import Hashable

from simulator.api.exchange import Call, Reply
from simulator.api.versions import api_version, by_denomination
from simulator.wire import catalog as wire
from simulator.wire.json import encode

CACHED_MAX = 256


class CatalogEndpoint:
    """Answers from encoded bodies, kept by catalog, reseller overlay, API version and filters."""

    def __init__(self) -> None:
        self._cache: OrderedDict[Hashable, tuple[object, bytes]] = OrderedDict()

    def __call__(self, call: Call) -> Reply:
        """200 with the tree and the products that the filters leave."""
        state, overlay = call.sandbox.core.state, call.owner.overlay
        header = call.headers.get(b"x-api-version")
        if header is not None and api_version(header) is None:
            call.exchange.diagnosis = "X-API-Version is no date of the form yyyy-MM-dd and was ignored"
        newer = by_denomination(header, call.now)
        filters = _Filters(call.fields)
        key = (id(state.catalog), id(overlay), state.catalog_updated, newer, filters.key)
        kept = self._cache.get(key)
        if kept is not None:
            self._cache.move_to_end(key)
            return Reply(200, kept[1])
        products = [
            seen
            for code in state.catalog.products
            if (seen := call.owner.sees(state.catalog, code)) is not None
            and not seen.is_hidden
            and filters.lets_through(code, seen.is_active)
        ]
        body = encode(wire.catalog(state.catalog, products, state.catalog_updated, by_denomination=newer))
        # The objects are kept beside the body, so that an id cannot come to mean another object.
        self._cache[key] = ((state.catalog, overlay), body)
        if len(self._cache) > CACHED_MAX:
            self._cache.popitem(last=False)
        return Reply(200, body)


class _Filters:
    """The query of SPEC 4.4; `include_inactive` wins over `is_active`."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.code = fields.get("product_code", "")
        self.active: bool | None = fields.get("is_active", "true").lower() == "true"
        if fields.get("include_inactive", "false").lower() == "true":
            self.active = None
        self.key = (self.code, self.active)

    def lets_through(self, code: str, is_active: bool) -> bool:
        return (not self.code or code == self.code) and (self.active is None or is_active == self.active)
