"""The journal in formats of other tools: HAR 1.2, which browsers and proxies open, and one request as a command."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, unquote

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from simulator import __version__
from simulator.control.curl import call_command, exact_curl_command
from simulator.control.filters import page_of
from simulator.control.http import base_url, sandbox_of
from simulator.control.requests import exchange_of, filters_of, masks, matching, unknown_request, whole
from simulator.redaction import MASKED, Mask
from simulator.runtime.journal import Exchange
from simulator.runtime.sandboxes import DEFAULT
from simulator.shortened import one_line
from simulator.wire.money import encode


async def as_har(request: Request) -> Response:
    """Return the latest matching requests as HAR 1.2."""
    live = sandbox_of(request)
    query = filters_of(request, live, "requests-har-query")
    asked, mask_of = page_of(query), masks(request, live)
    url, found = base_url(request), matching(live, query, asked.cursor)
    parts = har_parts(found, asked.limit, lambda one: exported(url, live.id, one, mask_of(one.owner)))
    return Response(b"".join([part async for part in parts]), media_type="application/json")


async def as_curl(request: Request) -> Response:
    """Return a request as a command for a POSIX shell, with comments on how to send it with a new signature."""
    live = sandbox_of(request)
    exchange = exchange_of(request, live)
    if exchange is None:
        return unknown_request()
    mask = masks(request, live)(exchange.owner)
    sent = SentRequest(
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


class SentRequest(msgspec.Struct, kw_only=True, gc=False):
    """A request as a client sent it. `target` is its target without secrets, which may begin with `prefix`; `unread`
    describes the missing part of its body."""

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


def pasted(base: str, sent: SentRequest, mask: Mask) -> str:
    """Return a request to the server at `base` as a command, after comments."""
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in sent.headers)
    headers = [(name.encode("latin-1"), mask.header(name, value).encode("latin-1")) for name, value in pairs]
    body = _body(sent, mask)
    target = without_origin(sent.target)
    prefix = sent.prefix if target.startswith(sent.prefix) else b""
    lines = [
        f"# Request {sent.n} as it was sent: {_called(sent)}.",
        "# A nonce counts once and a timestamp for five minutes; this signs it again, with --key and --secret unless",
        "# they belong to the default scenario:",
        f"#   {call_command(sent.method, base.encode() + prefix, target.removeprefix(prefix), body)}",
    ]
    if sent.unread:
        lines.append(one_line(f"# {sent.unread} Both commands are without it."))
    other_form = sent.target if sent.target != target or b"#" in sent.target else b""  # curl drops what follows a #
    command = exact_curl_command(sent.method, base.encode() + target, headers, body, other_form)
    if MASKED in unquote(command):
        lines.append(f"# Fill in the secrets, which are shown as {MASKED}.")
    return "\n".join([*lines, command]) + "\n"


def _called(exchange: SentRequest) -> str:
    answer = f"answered {exchange.status}" if exchange.status else "not answered"
    return one_line(f"{exchange.error}, {answer}" if exchange.error else answer)


def _body(exchange: SentRequest, mask: Mask) -> bytes:
    """Return the body as received, unless something in it is masked."""
    shown = mask.body(exchange.path, exchange.body)
    return exchange.body if shown == exchange.body.decode("utf-8", "replace") else shown.encode()


HAR_VERSION = "1.2"
SAFE_IN_PATH = "/:@!$&'()*+,;=~%"
SAFE_IN_URL = SAFE_IN_PATH + "?"
HAR_BYTES_MAX = 8 * 1024 * 1024

Record = TypeVar("Record")


async def har_parts(
    found: Iterable[Record], count_max: int, rendered: Callable[[Record], dict[str, Any]]
) -> AsyncIterator[bytes]:
    """Yield the parts of a document of the latest records, oldest first: as many as fit, and a comment about
    omitted ones. `found` has the newest first; each turn of the event loop renders a single record in the form of
    `exported`."""
    shown: list[dict[str, Any]] = []
    size, is_whole = 0, True
    for one in list(found):
        if len(shown) >= count_max or size >= HAR_BYTES_MAX:
            is_whole = False
            break
        row = rendered(one)
        size += sum(len(row[side]["body"]) + len(str(row[side]["headers"])) for side in ("request", "response"))
        shown.append(row)
        await asyncio.sleep(0)
    comment = "" if is_whole else f"Earlier requests are left out; the next page is that with cursor={shown[-1]['n']}."
    for part in har(reversed(shown), comment):
        yield part
        await asyncio.sleep(0)


def exported(url: str, sandbox_id: str, exchange: Exchange, mask: Mask) -> dict[str, Any]:
    """Return an exchange as the control API shows it, with the full URL of the request; `url` is the server's."""
    target = without_origin(sent_target(sandbox_id, exchange, mask)).decode("latin-1")
    path, question, query = target.partition("?")
    url += "".join(quote(part, safe=SAFE_IN_URL, encoding="latin-1") for part in (path, question, query))
    return whole(sandbox_id, exchange, mask) | {"url": url, "unread": exchange.unread}


def sent_target(sandbox_id: str, exchange: Exchange, mask: Mask) -> bytes:
    """Return the request target as sent, without secrets."""
    path = mask.path(exchange.path)
    sent, question, query = exchange.target.partition(b"?")
    if not sent or path != exchange.path:
        prefix = "" if sandbox_id == DEFAULT else f"/s/{sandbox_id}"
        path = path if path.isascii() and path.isprintable() else quote(path, safe=SAFE_IN_PATH)
        sent, query = (prefix + path).encode(), exchange.query
        question = b"?" if query else b""
    return mask.path(sent.decode("latin-1")).encode("latin-1") + question + masked_query(exchange, query, mask)


def masked_query(exchange: Exchange, query: bytes, mask: Mask) -> bytes:
    """Return a query of this exchange without secrets."""
    return mask.query(exchange.path, query).encode("latin-1")


def without_origin(target: bytes) -> bytes:
    """Return a request target in origin form."""
    return target if target.startswith(b"/") else b"/" + target.partition(b"//")[2].partition(b"/")[2]


def har(exchanges: Iterable[Mapping[str, Any]], comment: str = "") -> Iterator[bytes]:
    """Yield the parts of the HAR document, a part for each exchange in the form of `exported`. Times are the
    sandbox's."""
    head = {"version": HAR_VERSION, "creator": {"name": "reseller-sim", "version": __version__}, "pages": []}
    yield b'{"log":%b,"entries":[' % encode(head | ({"comment": comment} if comment else {}))[:-1]
    for number, one in enumerate(exchanges):
        yield (b",\n" if number else b"\n") + encode(_entry(one))
    yield b"\n]}}\n"


def _entry(one: Mapping[str, Any]) -> dict[str, Any]:
    took_ms = one["duration_us"] / 1000
    own = {f"_{name}": one[name] for name in ("n", "rule", "fault", "error", "diagnosis", "trxid") if one[name]}
    return {
        "startedDateTime": one["at"],
        "time": took_ms,
        "request": _request(one),
        "response": _response(one),
        "cache": {},
        "timings": {"send": 0, "wait": took_ms, "receive": 0},
        **own,
    }


def _request(one: Mapping[str, Any]) -> dict[str, Any]:
    message, query = one["request"], one["query"]
    pairs = parse_qsl(query, keep_blank_values=True)
    found = {
        "method": one["method"],
        "url": one["url"],
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(message["headers"]),
        "queryString": _pairs(pairs),
        "headersSize": -1,
        "bodySize": -1 if one["unread"] else message["body_bytes"],
    }
    if one["unread"]:
        found["comment"] = one["unread"]
    if message["body"]:
        found["postData"] = {"mimeType": _type(message["headers"]), "params": [], "text": message["body"]}
    return found


def _response(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response; status 0 is a connection that was closed without an answer."""
    message, status = one["response"], one["status"]
    content = {"size": message["body_bytes"], "mimeType": _type(message["headers"]), "text": message["body"]}
    return {
        "status": status,
        "statusText": HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(message["headers"]),
        "content": content,
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": message["body_bytes"],
    }


def _pairs(pairs: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _type(headers: Any) -> str:
    return next((str(value) for name, value in headers if name.lower() == "content-type"), "")
