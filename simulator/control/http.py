"""Shared helpers of the control resources: request bodies, JSON answers, mapping of errors to answers."""

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from simulator.contract.body import BadJson, decode_object
from simulator.contract.validator import validator
from simulator.control.render import members
from simulator.domain.errors import Busy, Conflict, DomainError, Unacceptable, Unknown
from simulator.domain.model.instants import Times, times_of
from simulator.domain.model.likeness import nearest
from simulator.domain.sandbox import Sandbox
from simulator.runtime.background import in_background, place
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.scenario.library import BODY
from simulator.scenario.reading.nodes import ScenarioError
from simulator.short_text import SENTENCE_CHARS_MAX, shortened
from simulator.wire.formats import encode

BODY_BYTES_MAX = 2 * 1024 * 1024
OUTLINE_BYTES_MAX = 512 * 1024  # a scenario has more structure than any request of the reseller API
AT_ONCE_BYTES_MAX = 64 * 1024  # decoding and validating more takes longer than others should wait
DIGITS_MAX = 19
PAGE_BYTES_MAX = 1024 * 1024
SLICE_BYTES = 8 * 1024  # of a page: rendered in a turn of the event loop, a few milliseconds for the costliest rows
SLICE_ROWS = 16
UNKNOWN_PATH = "the control API has no such path; /_sim/docs lists them, as `reseller-sim openapi --control` does"

Row = TypeVar("Row")


class InvalidInput(Unacceptable):
    """Invalid input of a control request."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__("bad_request", message, path)


class Forbidden(DomainError):
    """The request or its token may not do this."""


class Unauthorized(Forbidden):
    """The request has no token, or an unknown token."""


STATUS_OF: Mapping[type[DomainError], int] = {
    Unknown: 404,
    Conflict: 409,
    Unacceptable: 400,
    Busy: 429,
    Unauthorized: 401,
    Forbidden: 403,
}


def reply(body: Any, status: int = 200) -> Response:
    """Return a JSON answer."""
    return Response(encode(body), status, media_type="application/json")


async def in_slices(slices: Iterable[list[Row]]) -> list[Row]:
    """Return all rows of a long report, without blocking the event loop: other tasks run between two slices."""
    rows: list[Row] = []
    for part in slices:
        rows += part
        await asyncio.sleep(0)
    return rows


def error(status: int, code: str, message: str, path: str = "", **more: Any) -> Response:
    """Return an error: code for machines, message for people, path for the position. Texts from the client are
    truncated."""
    message, path = (shortened(text, SENTENCE_CHARS_MAX, "…") for text in (message, path))
    return reply({"error": code, "message": message, "path": path, **more}, status)


def refusal(exc: DomainError) -> Response:
    """Return the answer for a typed refusal."""
    status = next(status for kind, status in STATUS_OF.items() if isinstance(exc, kind))
    answer = error(status, exc.code, exc.message, exc.path)
    if isinstance(exc, Busy):
        answer.headers["retry-after"] = "1"
    elif isinstance(exc, Unauthorized):
        answer.headers["www-authenticate"] = "Bearer"
    return answer


async def on_domain_error(request: Request, exc: Exception) -> Response:
    """Return the answer for a typed refusal that an endpoint raises."""
    assert isinstance(exc, DomainError)
    return refusal(exc)


async def on_scenario_error(request: Request, exc: Exception) -> Response:
    """Return all problems of a scenario, with the first as the message."""
    assert isinstance(exc, ScenarioError)
    problems = [
        {"file": problem.source if problem.line and problem.source != BODY else None}
        | members(problem, "line", "column", "path", "code", "message")
        for problem in exc.problems
    ]
    first = exc.problems[0]
    return error(400, "bad_scenario", first.message, first.path, problems=problems)


async def on_http_error(request: Request, exc: Exception, unknown: str = UNKNOWN_PATH) -> Response:
    """Return the router's 404 or 405 in our form; `unknown` is the answer for an unknown path."""
    assert isinstance(exc, HTTPException)
    path = request.url.path
    if exc.status_code == 404:
        return error(404, "unknown_path", _advice(request, path, unknown), path)
    methods = ", ".join(_methods_of(request))
    answer = error(405, "wrong_method", f"this path does not take this method; it takes {methods}")
    answer.headers["allow"] = methods
    return answer


def _advice(request: Request, path: str, unknown: str) -> str:
    if path.startswith(("/_sim/v1/", "/_sim/v2/")):
        return of_service(path)
    if path.startswith("/_sim/_sim"):
        return "/_sim is in this path twice: RESELLER_SIM_URL ends in /_sim already"
    likely = _likely_path(request) if len(path) <= SENTENCE_CHARS_MAX else ""
    return f"{unknown.partition(';')[0]}; did you mean {likely}?" if likely else unknown


_SYNONYMS = {"payments": "transactions", "journal": "requests", "faults": "rules", "balance": "resellers"}


def of_service(path: str) -> str:
    """Return the advice for a path of the reseller API below `/_sim`."""
    return f"{path.removeprefix('/_sim')} is a path of the service: send it without /_sim, to RESELLER_BASE_URL"


async def on_unexpected(request: Request, exc: Exception) -> Response:
    return error(500, "unexpected", "an internal error occurred; the server's log has the stack")


def _likely_path(request: Request) -> str:
    """Return the path of this API that is most similar to the requested path; empty if none is similar. It contains the
    names from the request, and `default` for a path without a sandbox."""
    sent = [_SYNONYMS.get(part, part) for part in request.url.path.split("/")]
    templates = [route.path.split("/") for route in request.app.routes if isinstance(route, Route)]
    of_default = "/".join((*sent[:2], "sandboxes", "default", *sent[2:]))
    if of_default in {_named(template, of_default.split("/")) for template in templates}:
        return of_default
    return nearest("/".join(sent), sorted({_named(template, sent) for template in templates}))


def _named(template: list[str], sent: list[str]) -> str:
    """Return a template with the names of the request inserted."""
    given = {at: name for at, name in enumerate(sent) if name}
    return "/".join(given.get(at, "default") if part.startswith("{") else part for at, part in enumerate(template))


def _methods_of(request: Request) -> list[str]:
    """Return every method of a path; the router itself names only the first route's. A literal path takes
    precedence over a path with a parameter, and does not inherit its methods."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    matching = [route for route in routes if route.path_regex.match(request.url.path)]
    of_path = (route for route in matching if route.path == matching[0].path)
    return sorted({method for route in of_path for method in route.methods or ()})


async def body_of(request: Request, schema: str, *, may_be_empty: bool = False) -> dict[str, Any]:
    """Return the JSON object of a request, validated against a schema of the contract; a long body is decoded in a
    thread.

    Raises `InvalidInput`, and `Busy` when too many long bodies wait.
    """
    raw = await bytes_of(request)
    if len(raw) <= AT_ONCE_BYTES_MAX:
        return decoded(raw, schema, may_be_empty)
    with place(len(raw)):
        value = await in_background(decoded, raw, schema)
    refuse_lost_sandbox(request)
    return value


def decoded(raw: bytes, schema: str, may_be_empty: bool = False) -> dict[str, Any]:
    """Return the JSON object in `raw`, validated against a schema of the contract. Raises `InvalidInput`."""
    if not raw and may_be_empty:
        return {}
    try:
        value = decode_object(raw, reject_duplicates=True, outline_max=OUTLINE_BYTES_MAX)
    except BadJson as bad:
        raise InvalidInput(str(bad)) from None
    return validated(value, schema)


def validated(value: dict[str, Any], schema: str) -> dict[str, Any]:
    """Return the value if it satisfies a schema of the contract. Raises `InvalidInput`."""
    for path, texts in validator(schema).problems(value).items():
        raise InvalidInput(f"{path or 'the request'} {texts[0]}", path)
    return value


async def bytes_of(request: Request, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    """Return a request's body, at most `bytes_max` bytes. Raises `InvalidInput` as early as possible.

    The server reads and drops the rest of a body that is too large, so that its sender can read the refusal.
    """
    too_large = InvalidInput(f"the body is over {bytes_max} bytes")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > DIGITS_MAX or int(declared) > bytes_max):
        raise too_large
    chunks, total = [], 0
    try:
        async for chunk in request.stream():
            total += len(chunk)
            if total > bytes_max:
                raise too_large
            chunks.append(chunk)
    except ClientDisconnect:
        raise InvalidInput("the client disconnected") from None
    refuse_lost_sandbox(request)
    return b"".join(chunks)


def refuse_lost_sandbox(request: Request) -> None:
    """Raise `Unknown` or `Conflict` when the sandbox was deleted, reset or rewound while the body was received."""
    looked_up: tuple[LiveSandbox, Sandbox] | None = getattr(request.state, "sandbox", None)
    if looked_up is None:
        return
    live, core = looked_up
    if live.is_deleted:
        raise Unknown("unknown_sandbox", f"the sandbox {live.id!r} was deleted while the body of this request arrived")
    if live.is_closed or live.core is not core:
        text = f"the sandbox {live.id!r} was {live.last_ending} while the body of this request arrived"
        raise Conflict("sandbox_reset", text)


def base_url(request: Request) -> str:
    """Return the server's URL as this client reaches it, including the path prefix of a proxy."""
    return f"{request.url.scheme}://{request.headers['host']}{request.scope.get('reseller_sim.root', '')}"


def sandboxes_of(request: Request) -> Sandboxes:
    """Return the server's sandboxes."""
    found: Sandboxes = request.app.state.sandboxes
    return found


def sandbox_of(request: Request) -> LiveSandbox:
    """Return the sandbox in the path; raises `Unknown`. Before a read, `ControlApp` has processed the items that its
    running clock made due; before a command, `settle_and_apply` does so."""
    sandbox = sandboxes_of(request).get(request.path_params["sandbox"])
    sandbox.is_touched = True
    request.state.sandbox = sandbox, sandbox.core
    return sandbox


async def page(
    name: str,
    query: Mapping[str, Any],
    found: Iterable[Row],
    row: Callable[[Row], Any],
    place: Callable[[Row], object] | None = None,
) -> dict[str, Any]:
    """Return the page of a list called `name` that a query asks for: `limit` rows, rendered by `row`; it ends early
    when a row fills it.

    `place` gives the cursor of a row; then `found` starts after the requested cursor. Without `place` the cursor counts
    rows. The page shows the rows found now; other tasks run while it is rendered.
    """
    begun = islice(found, cursor_of(query), None) if place is None else found
    chosen = list(islice(begun, query["limit"] + 1))
    shown = await lines(chosen[: query["limit"]], row, PAGE_BYTES_MAX)
    if len(shown) == len(chosen):
        return {name: shown, "cursor": None, "has_more": False}
    last = place(chosen[len(shown) - 1]) if place else cursor_of(query) + len(shown)
    return {name: shown, "cursor": str(last), "has_more": True}


def cursor_of(query: Mapping[str, Any]) -> int:
    """Return the place in a list after which a page begins; 0 for the start."""
    return int(query.get("cursor", 0))


async def lines(found: Iterable[Row], row: Callable[[Row], Any], bytes_max: float = math.inf) -> list[msgspec.Raw]:
    """Return rows as JSON, each on its own line (see `MaskedSend`), ending with the row that fills `bytes_max`.

    A few rows are rendered per turn of the event loop.
    """
    shown: list[msgspec.Raw] = []
    size, paused_at = 0, 0
    for problem in found:
        if size >= bytes_max:
            break
        shown.append(msgspec.Raw(b"\n" + encode(row(problem))))
        size += len(shown[-1])
        if size - paused_at > SLICE_BYTES or len(shown) % SLICE_ROWS == 0:
            paused_at = size
            await asyncio.sleep(0)
    return shown


def parse_times(text: str, path: str) -> Times:
    """Parse an ISO 8601 date-time with an offset, within the range of a sandbox's clock, with all of its possible
    meanings. Raises `InvalidInput`."""
    try:
        return times_of(text)
    except ValueError as wrong:
        raise InvalidInput(f"{path} {wrong}", path) from None
