"""`/_sim/`: the console, a web page whose files are read once. All of its addresses return the same page."""

import gzip
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from simulator.control.http import error, of_service
from simulator.runtime.background import in_background

FILES_PATH = "/_sim/console"
PAGE_PREFIXES = ("/_sim/s/", "/_sim/ui/")
"""The addresses of the page besides `/_sim/`: the views of a sandbox, and of the whole server."""

_WEB = Path(__file__).resolve().parent.parent / "console" / "web"
_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
_ROOT = b"{{root}}"
_DEPTH_MAX = 20


_DOC_COMMENT = re.compile(rb"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*$", re.MULTILINE | re.DOTALL)
"""Comments on their own lines: types and explanations for developers of the page, a seventh of its packed size."""


class _File(NamedTuple):
    body: bytes
    packed: bytes
    media_type: str
    etag: str


async def at_the_door(request: Request) -> Response:
    """Redirect `/_sim` to its slash, with a relative URL, since a proxy may add a prefix."""
    return RedirectResponse("_sim/", 307)


async def at_the_root(request: Request) -> Response:
    """Redirect a browser to the page; other clients get the service's 404."""
    return RedirectResponse("_sim/", 303, {"vary": "accept"})


async def page(request: Request) -> Response:
    """Return the page. It names its files relative to its address, so that `/_sim` may have any prefix."""
    files = await in_background(_files)
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
    """Return a file of the page, or 304 for a browser that has it."""
    found = (await in_background(_files)).get(request.path_params["name"])
    if found is None:
        return error(404, "unknown_path", "the console has no such file")
    headers = _HEADERS | {"etag": found.etag, "vary": "accept-encoding"}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, media_type=found.media_type, headers=headers | {"content-encoding": "gzip"})
    return Response(found.body, media_type=found.media_type, headers=headers)


@cache
def _files() -> dict[str, _File]:
    return {
        path.relative_to(_WEB).as_posix(): _File(
            body, gzip.compress(body, mtime=0), _TYPES[path.suffix], f'"{sha256(body).hexdigest()[:20]}"'
        )
        for path in sorted(_WEB.rglob("*.*"))
        if path.suffix in _TYPES
        for body in (_as_sent(path),)
    }


def _as_sent(path: Path) -> bytes:
    """Return a file without its doc comments, whose lines stay as empty lines: line numbers in the browser match the
    file."""
    body = path.read_bytes()
    return _DOC_COMMENT.sub(lambda one: b"\n" * one[0].count(b"\n"), body) if path.suffix == ".js" else body
