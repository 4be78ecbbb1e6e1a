"""`/_sim/sandboxes/{id}/network/{product}`: interrupt a product's network, or heal it."""

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import body_of, reply, sandbox_of
from simulator.domain.commands import SetNetwork
from simulator.domain.network import NetworkStatus


async def put(request: Request) -> Response:
    """Set the status from now on, in place of what the scenario planned."""
    live = sandbox_of(request)
    wanted = await body_of(request, "network-request")
    product, status = request.path_params["product"], NetworkStatus(wanted["status"])
    live.core.apply(SetNetwork(product, status), live.clock.now())
    return reply({"product": product, "status": status.value})
