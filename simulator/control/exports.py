"""The journal in formats of other tools: `requests.har`, and one request as a command to paste."""

from collections.abc import Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from simulator.control.har import exported, har_parts, sent_target, without_origin
from simulator.control.http import base_url, sandbox_of
from simulator.control.masking import Mask
from simulator.control.parameters import page_of
from simulator.control.requests import exchange_of, filters_of, masks, matching, unknown_request
from simulator.runtime.sandboxes import DEFAULT
from simulator.shortened import one_line
from simulator.wire.curl import call_command, exact_curl_command


async def as_har(request: Request) -> Response:
    """The latest requests that match as HAR 1.2."""
    live = sandbox_of(request)
    query = filters_of(request, live, "requests-har-query")
    asked, mask_of = page_of(query), masks(request, live)
    url, found = base_url(request), matching(live, query, asked.cursor)
    parts = har_parts(found, asked.limit, lambda one: exported(url, live.id, one, mask_of(one.owner)))
    return Response(b"".join([part async for part in parts]), media_type="application/json")


async def as_curl(request: Request) -> Response:
    """One request as a command for a POSIX shell, and how to send it with a new signature."""
    live = sandbox_of(request)
    exchange = exchange_of(request, live)
    if exchange is None:
        return unknown_request()
    mask = masks(request, live)(exchange.owner)
    sent = Sent(
        n=exchange.n,
        method=exchange.method,
        path=exchange.path,
        query=exchange.query,
        headers=exchange.headers,
        body=exchange.body,
        status=exchange.status,
        error=exchange.error,
        unread=exchange.unread,
        target=sent_target(live.id, exchange, mask),
        prefix=b"" if live.id == DEFAULT else f"/s/{live.id}".encode(),
    )
    return PlainTextResponse(pasted(base_url(request), sent, mask))


class Sent(msgspec.Struct, kw_only=True, gc=False):
    """A request as a client sent it. `target` is its target without secrets, which may begin with `prefix`; `unread`
    says what is missing of its body."""

    n: int
    method: str
    path: str
    query: bytes
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    status: int
    error: str
    unread: str
    target: bytes
    prefix: bytes = b""


def pasted(base: str, sent: Sent, mask: Mask) -> str:
    """A request to the server at `base` as a command, below comments."""
    hidden: list[str] = []
    _shown(sent.path.encode(), mask.path(sent.path).encode(), "its path", hidden)
    _shown(sent.query, mask.query(sent.path, sent.query).encode("latin-1"), "its query", hidden)
    headers = [(name, _header(name, value, mask, hidden)) for name, value in sent.headers]
    body = _body(sent, mask, hidden)
    target = without_origin(sent.target)
    prefix = sent.prefix if target.startswith(sent.prefix) else b""
    lines = [
        f"# Request {sent.n} as it was sent: {_called(sent)}.",
        "# A nonce counts once and a timestamp for five minutes; this signs it anew, with --key and --secret where",
        "# they are not those of the default scenario:",
        f"#   {call_command(sent.method, base.encode() + prefix, target.removeprefix(prefix), body)}",
    ]
    if hidden:
        lines.append(f"# Not shown, so that you must fill it in: {', '.join(dict.fromkeys(hidden))}.")
    if sent.unread:
        lines.append(one_line(f"# {sent.unread} Both commands are without it."))
    other_form = sent.target if sent.target != target or b"#" in sent.target else b""  # curl drops what follows a #
    command = exact_curl_command(sent.method, base.encode() + target, headers, body, other_form)
    return "\n".join([*lines, command]) + "\n"


def _called(exchange: Sent) -> str:
    answer = f"answered {exchange.status}" if exchange.status else "not answered"
    return one_line(f"{exchange.error}, {answer}" if exchange.error else answer)


def _header(name: bytes, value: bytes, mask: Mask, hidden: list[str]) -> bytes:
    shown = mask.header(name.decode("latin-1"), value.decode("latin-1")).encode("latin-1")
    return _shown(value, shown, f"the header {name.decode('latin-1')}", hidden)


def _body(exchange: Sent, mask: Mask, hidden: list[str]) -> bytes:
    """The bytes as they came, unless something in them is masked."""
    shown = mask.body(exchange.path, exchange.body)
    if shown == exchange.body.decode("utf-8", "replace"):
        return exchange.body
    return _shown(exchange.body, shown.encode(), "a part of the body", hidden)


def _shown(value: bytes, shown: bytes, what: str, hidden: list[str]) -> bytes:
    if shown != value:
        hidden.append(what)
    return shown
