"""The journal in formats of other tools: `requests.har`, and one request as a command to paste."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from simulator.control.har import exported, har, sent_target, without_origin
from simulator.control.http import sandbox_of
from simulator.control.masking import Mask
from simulator.control.parameters import page_of
from simulator.control.requests import exchange_of, filters_of, masks, matching, unknown_request
from simulator.control.sandboxes import base_url
from simulator.runtime.journal import Exchange
from simulator.runtime.sandboxes import DEFAULT
from simulator.shortened import one_line
from simulator.wire.curl import call_command, exact_curl_command

HAR_BYTES_MAX = 8 * 1024 * 1024


async def as_har(request: Request) -> Response:
    """The latest requests that match as HAR 1.2, oldest first; as many as fit, and a comment about those that do not.

    One is rendered in each turn of the event loop.
    """
    live = sandbox_of(request)
    query = filters_of(request, live, "requests-har-query")
    asked, mask_of = page_of(query), masks(request, live)
    url, found = base_url(request), matching(live, query, asked.cursor)
    shown: list[dict[str, Any]] = []
    size, last, is_whole = 0, 0, True
    for one in list(found):
        if len(shown) >= asked.limit or size >= HAR_BYTES_MAX:
            is_whole = False
            break
        rendered = exported(url, live.id, one, mask_of(one.owner))
        size += sum(
            len(rendered[side]["body"]) + len(str(rendered[side]["headers"])) for side in ("request", "response")
        )
        shown.append(rendered)
        last = one.n
        await asyncio.sleep(0)
    comment = "" if is_whole else f"Earlier requests are left out; the next page is that with cursor={last}."
    parts = []
    for part in har(reversed(shown), comment):
        parts.append(part)
        await asyncio.sleep(0)
    return Response(b"".join(parts), media_type="application/json")


async def as_curl(request: Request) -> Response:
    """One request as a command for a POSIX shell, and how to send it with a new signature."""
    live = sandbox_of(request)
    exchange = exchange_of(request, live)
    if exchange is None:
        return unknown_request()
    return PlainTextResponse(_pasted(base_url(request), live.id, exchange, masks(request, live)(exchange.owner)))


def _pasted(base: str, sandbox_id: str, exchange: Exchange, mask: Mask) -> str:
    hidden: list[str] = []
    _shown(exchange.path.encode(), mask.text(exchange.path).encode(), "its path", hidden)
    _shown(exchange.query, mask.query(exchange.path, exchange.query).encode("latin-1"), "its query", hidden)
    headers = [(name, _header(name, value, mask, hidden)) for name, value in exchange.headers]
    body = _body(exchange, mask, hidden)
    sent = sent_target(sandbox_id, exchange, mask)
    target = without_origin(sent)
    prefix = b"" if sandbox_id == DEFAULT else f"/s/{sandbox_id}".encode()
    prefix = prefix if target.startswith(prefix) else b""
    called = _called(exchange)
    lines = [
        f"# Request {exchange.n} as it was sent: {called}.",
        "# A nonce counts once and a timestamp for five minutes; this signs it anew, with --key and --secret where",
        "# they are not those of the default scenario:",
        f"#   {call_command(exchange.method, base.encode() + prefix, target.removeprefix(prefix), body)}",
    ]
    if hidden:
        lines.append(f"# Not shown, so that you must fill it in: {', '.join(dict.fromkeys(hidden))}.")
    if exchange.unread:
        lines.append(one_line(f"# {exchange.unread} Both commands are without it."))
    other_form = sent if sent != target or b"#" in sent else b""  # curl drops what follows a #
    command = exact_curl_command(exchange.method, base.encode() + target, headers, body, other_form)
    return "\n".join([*lines, command]) + "\n"


def _called(exchange: Exchange) -> str:
    answer = f"answered {exchange.status}" if exchange.status else "not answered"
    return one_line(f"{exchange.error}, {answer}" if exchange.error else answer)


def _header(name: bytes, value: bytes, mask: Mask, hidden: list[str]) -> bytes:
    shown = mask.header(name.decode("latin-1"), value.decode("latin-1")).encode("latin-1")
    return _shown(value, shown, f"the header {name.decode('latin-1')}", hidden)


def _body(exchange: Exchange, mask: Mask, hidden: list[str]) -> bytes:
    """The bytes as they came, unless something in them is masked."""
    shown = mask.body(exchange.path, exchange.body)
    if shown == exchange.body.decode("utf-8", "replace"):
        return exchange.body
    return _shown(exchange.body, shown.encode(), "a part of the body", hidden)


def _shown(value: bytes, shown: bytes, what: str, hidden: list[str]) -> bytes:
    if shown != value:
        hidden.append(what)
    return shown
