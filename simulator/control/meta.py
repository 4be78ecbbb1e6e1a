"""`/_sim/health`, `/_sim/assumptions`, and the contracts as documents."""

from dataclasses import asdict
from functools import cache, partial

from starlette.requests import Request
from starlette.responses import Response

from simulator import __version__
from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled
from simulator.contract.register import assumptions
from simulator.control.http import reply
from simulator.runtime.background import in_background
from simulator.wire.json import encode


async def health(request: Request) -> Response:
    """The status and the version."""
    return reply({"status": "ok", "version": __version__})


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
