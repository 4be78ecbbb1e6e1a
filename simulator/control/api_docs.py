"""`/_sim/docs`: the contracts as an interactive page. Swagger UI, an optional package, draws it; the rest is ours."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from simulator.control.http import error
from simulator.control.swagger_ui import swagger_ui
from simulator.runtime.background import in_background

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
    """The page itself."""
    return FileResponse(_OURS / "index.html", media_type="text/html; charset=utf-8", headers=_HEADERS)


async def asset(request: Request) -> Response:
    """A script or style sheet of the page, one of a fixed few."""
    name = request.path_params["name"]
    if name in _TYPES:
        return FileResponse(_OURS / name, media_type=_TYPES[name], headers=_HEADERS)
    folder = await in_background(swagger_ui)
    if name in _TYPES_OF_SWAGGER_UI and folder is not None:
        return FileResponse(folder / name, media_type=_TYPES_OF_SWAGGER_UI[name], headers=_HEADERS)
    return error(404, "unknown_path", "the page has no such file; Swagger UI comes with the extra reseller-sim[docs]")
