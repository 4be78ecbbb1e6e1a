"""The web pages and documents: the console at `/_sim/`, the contracts, also as the interactive page `/_sim/docs`, and
the register of assumptions.

Files are read once. All addresses of the console return the same page. The optional package Swagger UI renders the
contracts.
"""

import gzip
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from simulator.contract.openapi import bundled
from simulator.contract.register import assumptions
from simulator.control.http import error, of_service, reply
from simulator.runtime.background import in_background
from simulator.wire.formats import encode

FILES_PATH = "/_sim/console"
PAGE_PREFIXES = ("/_sim/s/", "/_sim/ui/")
"""The addresses of the console besides `/_sim/`: the views of a sandbox, and of the whole server."""

_PAGES = Path(__file__).resolve().parent.parent / "console"
_WEB, _DOCS = _PAGES / "web", _PAGES / "api_docs"
_SWAGGER_UI_FILES = ("swagger-ui.css", "swagger-ui-bundle.js")
_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
# Swagger UI sets styles of single elements, and has its icons in the style sheet.
_DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
_DOCS_HEADERS = _HEADERS | {"content-security-policy": _DOCS_POLICY}
_ROOT = b"{{root}}"
_DEPTH_MAX = 20


class _File(NamedTuple):
    body: bytes
    packed: bytes
    media_type: str
    etag: str


async def page(request: Request) -> Response:
    """Return the console. It names its files relative to its address, so that `/_sim` may have any prefix."""
    files = await in_background(_files, _WEB)
    sent = request.scope.get("raw_path") or request.url.path.encode()
    depth = min(sent.removeprefix(b"/_sim/").count(b"/"), _DEPTH_MAX)
    body = files["index.html"].body.replace(_ROOT, b"../" * depth)
    return Response(body, media_type=_TYPES[".html"], headers=_HEADERS)


async def of_the_service(request: Request) -> Response:
    """Return the page to a browser, and to other clients that they sent a path of the reseller API to the console."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return await page(request)
    return error(404, "unknown_path", of_service(request.url.path), request.url.path)


async def asset(request: Request) -> Response:
    """Return a file of the console."""
    found = (await in_background(_files, _WEB)).get(request.path_params["name"])
    return _sent(request, found, _HEADERS) if found else error(404, "unknown_path", "the console has no such file")


async def docs_asset(request: Request) -> Response:
    """Return the page of the contracts, or a file of it."""
    files = await in_background(_files, _DOCS)
    if (folder := await in_background(swagger_ui)) is not None:
        files = files | await in_background(_files, folder, *_SWAGGER_UI_FILES)
    found = files.get(request.path_params.get("name", "index.html"))
    if found is None:
        text = "the page has no such file; Swagger UI comes with the extra reseller-sim[docs]"
        return error(404, "unknown_path", text)
    return _sent(request, found, _DOCS_HEADERS)


def _sent(request: Request, file: _File, headers: Mapping[str, str]) -> Response:
    """Return a file, or 304 for a browser that has it."""
    headers = {**headers, "etag": file.etag, "vary": "accept-encoding"}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, media_type=file.media_type, headers=headers | {"content-encoding": "gzip"})
    return Response(file.body, media_type=file.media_type, headers=headers)


@cache
def _files(folder: Path, *names: str) -> dict[str, _File]:
    """Return the named files of a folder, or all files of a page."""
    paths = [folder / name for name in names] or sorted(folder.rglob("*.*"))
    return {
        path.relative_to(folder).as_posix(): _File(
            body, gzip.compress(body, mtime=0), _TYPES[path.suffix], f'"{sha256(body).hexdigest()[:20]}"'
        )
        for path in paths
        if path.suffix in _TYPES
        for body in (path.read_bytes(),)
    }


@cache
def swagger_ui() -> Path | None:
    """Return the folder with the files of Swagger UI; None when it is not installed (the extra `docs`)."""
    found = find_spec("swagger_ui")
    folder = Path(found.origin).parent / "static" if found is not None and found.origin else None
    return folder if folder is not None and folder.is_dir() else None


async def register(request: Request) -> Response:
    """Return the register of assumptions: questions that SPEC leaves open, and our choices."""
    return reply({"assumptions": [asdict(assumption) for assumption in assumptions()]})


async def document(name: str, request: Request) -> Response:
    """Return a contract as one OpenAPI document."""
    return Response(await in_background(_encoded, name), media_type="application/json")


@cache
def _encoded(name: str) -> bytes:
    return encode(bundled(name))
