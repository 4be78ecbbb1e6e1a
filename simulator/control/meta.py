"""`/_sim/health` and `/_sim/assumptions`."""

from dataclasses import asdict
from functools import cache

from starlette.requests import Request
from starlette.responses import Response

from simulator import __version__
from simulator.contract.register import assumptions
from simulator.control.http import reply
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
