"""The contracts and the register of assumptions as documents, and `/_sim/docs`: the contracts as an interactive page.

The optional package Swagger UI renders the page.
"""

from dataclasses import asdict
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from simulator.contract.openapi import CONTROL, OPENAPI, PROXY, bundled
from simulator.contract.register import assumptions
from simulator.control.http import error
from simulator.runtime.background import in_background
from simulator.wire.money import encode

_OURS = Path(__file__).resolve().parent.parent / "console" / "api_docs"
_TYPES = {"page.css": "text/css", "page.js": "text/javascript", "sign.js": "text/javascript"}
_TYPES_OF_SWAGGER_UI = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}

# Swagger UI sets styles of single elements, and has its icons in the style sheet.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {"content-security-policy": _POLICY, "x-content-type-options": "nosniff", "cache-control": "no-cache"}


async def page(request: Request) -> Response:
    """Return the page."""
    return FileResponse(_OURS / "index.html", media_type="text/html; charset=utf-8", headers=_HEADERS)


async def asset(request: Request) -> Response:
    """Return a script or style sheet of the page from a fixed list."""
    name = request.path_params["name"]
    if name in _TYPES:
        return FileResponse(_OURS / name, media_type=_TYPES[name], headers=_HEADERS)
    folder = await in_background(swagger_ui)
    if name in _TYPES_OF_SWAGGER_UI and folder is not None:
        return FileResponse(folder / name, media_type=_TYPES_OF_SWAGGER_UI[name], headers=_HEADERS)
    return error(404, "unknown_path", "the page has no such file; Swagger UI comes with the extra reseller-sim[docs]")


@cache
def swagger_ui() -> Path | None:
    """Return the folder with the files of Swagger UI; None when it is not installed (the extra `docs`)."""
    found = find_spec("swagger_ui")
    folder = Path(found.origin).parent / "static" if found is not None and found.origin else None
    return folder if folder is not None and folder.is_dir() else None


async def register(request: Request) -> Response:
    """Return the register of assumptions: questions that SPEC leaves open, and our choices."""
    return Response(_register(), media_type="application/json")


@cache
def _register() -> bytes:
    return encode({"assumptions": [asdict(one) for one in assumptions()]})


async def _document(name: str, request: Request) -> Response:
    return Response(await in_background(_encoded, name), media_type="application/json")


reseller_document = partial(_document, OPENAPI)
"""The contract of the reseller API as one OpenAPI document."""

control_document = partial(_document, CONTROL)
"""The contract of the control API as an OpenAPI document."""

proxy_document = partial(_document, PROXY)
"""The contract of the proxy as an OpenAPI document."""


@cache
def _encoded(name: str) -> bytes:
    return encode(bundled(name))
