"""`GET /v2/networkstatus`: the network status of a product (SPEC 4.9)."""

from simulator.api.call import Call, Reply
from simulator.api.diagnoses import no_product
from simulator.api.notes import note
from simulator.api.refusals import UNKNOWN_PRODUCT, refuse_parameters
from simulator.wire.network import network_status


def show(call: Call) -> Reply:
    """200 with the product's status at this moment; 400 for an unknown product."""
    state, code = call.sandbox.core.state, call.fields["product"]
    product = state.catalog.products.get(code)
    if product is None:
        note(call, no_product(call, code))
        return refuse_parameters({"product": [UNKNOWN_PRODUCT]})
    return Reply(200, network_status(product, state.network.status(code, call.now), call.now))
