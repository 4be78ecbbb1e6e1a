"""`/_sim/sandboxes/{id}/network/{product}`: sets a product's network status."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import body_of, reply, sandbox_of
from simulator.domain.commands import SetNetwork
from simulator.domain.model.network import NetworkStatus
from simulator.domain.queries import product_of


async def put(request: Request) -> Response:
    """Set the status from now on, overriding the scenario's timeline."""
    live, product = sandbox_of(request), request.path_params["product"]
    product_of(live.core.state, product)
    wanted = await body_of(request, "network-request")
    status = NetworkStatus(wanted["status"])
    await live.submit(SetNetwork(product, status))
    return reply({"product": product, "status": status.value})
