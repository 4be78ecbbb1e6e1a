"""`/_sim/health`, `/_sim/ready`, `/_sim/assumptions`, and the contracts as documents."""

from dataclasses import asdict
from functools import cache, partial

from starlette.requests import Request
from starlette.responses import Response

from simulator import __version__
from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled
from simulator.contract.register import assumptions
from simulator.control.http import error, reply
from simulator.control.parameters import refuse_other_parameters
from simulator.control.proxied import wrong_place
from simulator.runtime.background import in_background
from simulator.runtime.operations import Operations
from simulator.wire.json import encode


async def health(request: Request) -> Response:
    """The status and the version."""
    return reply({"status": "ok", "version": __version__})


async def ready(request: Request) -> Response:
    """200 when requests may be sent; 503 with the reason while the server starts or stops, or is not the one of several
    that its proxy takes it for."""
    refuse_other_parameters(request)
    operations: Operations = request.app.state.operations
    why = operations.not_ready or wrong_place(request)
    return reply({"status": "ready", "version": __version__}) if why is None else error(503, why.code, why.message)


async def register(request: Request) -> Response:
    """The register of assumptions: what SPEC leaves open, and our choices."""
    return Response(_register(), media_type="application/json")


@cache
def _register() -> bytes:
    return encode({"assumptions": [asdict(one) for one in assumptions()]})


async def _document(name: str, request: Request) -> Response:
    return Response(await in_background(_encoded, name), media_type="application/json")


reseller_document = partial(_document, OPENAPI)
"""The contract of the reseller API as one OpenAPI document."""

control_document = partial(_document, CONTROL)
"""The same of the control API."""

proxy_document = partial(_document, PROXY)
"""The same of the proxy's."""


@cache
def _encoded(name: str) -> bytes:
    return encode(bundled(name))
