"""`/_sim/sandboxes/{id}/catalog`: changes of products while it runs."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import body_of, refuse_other_parameters, reply, sandbox_of
from simulator.domain.accounts import reseller_of
from simulator.domain.commands import ChangeProduct
from simulator.domain.errors import Unknown
from simulator.domain.products import ProductChange
from simulator.scenario.changes import build_changes
from simulator.wire.catalog import product_as_shown
from simulator.wire.timestamps import iso_utc_exact


async def change_product(request: Request) -> Response:
    """Change a product for everybody, or with `?reseller=` for one reseller."""
    live = sandbox_of(request)
    refuse_other_parameters(request, "reseller")
    state, code = live.core.state, request.path_params["code"]
    product = state.catalog.products.get(code)
    if product is None:
        raise Unknown("unknown_product", f"this sandbox has no product {code!r}")
    wanted = request.query_params.get("reseller")
    reseller = None if wanted is None else reseller_of(state, wanted)
    body = await body_of(request, "product-request")
    changes = build_changes(body, product, is_overlay=reseller is not None)
    command = ChangeProduct(code, changes.properties, changes.options, reseller.code if reseller else None)
    done: ProductChange = live.core.apply(command, live.clock.now())
    live.driver.rearm()
    updated = reseller.catalog_updated(state.catalog_updated) if reseller else state.catalog_updated
    return reply(
        {
            "changed": list(done.changed),
            "options": [change.after.code for change in done.options],
            "last_updated": iso_utc_exact(updated),
            "product": product_as_shown(done.after),
        }
    )
