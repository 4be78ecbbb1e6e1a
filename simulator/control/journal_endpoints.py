"""`/_sim/sandboxes/{id}/requests`: the journal, newest first, single exchanges, and resending a request.

The journal is also in formats of other tools: HAR 1.2, which browsers and proxies open, and one request as a command.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from operator import attrgetter
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, unquote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from simulator import __version__
from simulator.auth import headers as names
from simulator.auth.canonical import body_hash
from simulator.control.access import may_touch
from simulator.control.autopsies import autopsy_of
from simulator.control.curl import call_command, exact_curl_command
from simulator.control.explanation_endpoints import fresh_signature
from simulator.control.filters import (
    bytes_of,
    list_query,
    matcher,
    numbered_record,
    query_of,
    refuse_other_parameters,
    waited,
)
from simulator.control.http import base_url, cursor_of, page, refuse_lost_sandbox, reply, sandboxes_of
from simulator.control.render import members
from simulator.domain.errors import Conflict
from simulator.redaction import MASKED, Mask
from simulator.runtime.background import in_background, place
from simulator.runtime.journal import Exchange, Tally, reply_headers
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import url_prefix
from simulator.short_text import one_line
from simulator.wire.formats import encode
from simulator.wire.traffic import as_sent

_FILTERS: Mapping[str, Callable[[Exchange], Any]] = {
    name: attrgetter(name)
    for name in ("method", "path", "status", "reseller", "trxid", "refid", "rule", "fault", "error", "trace_id")
}


def request_row(exchange: Exchange, mask: Mask) -> dict[str, Any]:
    """Return a row of the journal, without secrets."""
    row: dict[str, Any] = {
        **members(exchange, "n", "at", "method"),
        "path": mask.path(exchange.path),
        "query": mask.query(exchange.path, exchange.query),
        **members(exchange, "status", "reseller", "client", "rule", "fault", "error"),
        "diagnosis": mask.text(exchange.diagnosis),
        **members(exchange, "trxid", "refid", "duration_us"),
    }
    if exchange.replay_of:
        row["replay_of"] = exchange.replay_of
    if trace_id := exchange.trace_id:
        row["trace_id"] = trace_id
    return row


def mask_of(request: Request, live: LiveSandbox, exchange: Exchange) -> Mask:
    """Return the mask of an exchange in the journal of `live`, which hides the secrets of its owner, too."""
    return sandboxes_of(request).mask_of(live, exchange.owner)


async def list_all(request: Request, live: LiveSandbox) -> Response:
    """List the filtered journal; with `wait_for`, wait until that many match or the timeout passes."""
    query = list_query(request, live, "requests-query")
    journal = live.journal
    complete = await waited(
        request, live, query, lambda: Tally(journal, matcher(_FILTERS, query)).count, journal.notifier
    )
    earlier, left_out = matching(live, query), live.journal.left_out
    answer = await page(
        "requests", query, earlier, lambda one: request_row(one, mask_of(request, live, one)), lambda one: one.n
    )
    return reply(answer | {"left_out": left_out, "complete": complete})


def matching(live: LiveSandbox, query: Mapping[str, Any]) -> Iterable[Exchange]:
    """Return the exchanges that match a query, newest first, before the exchange whose number is its cursor."""
    cursor = cursor_of(query)
    found = filter(matcher(_FILTERS, query), reversed(live.journal))
    return (exchange for exchange in found if not cursor or exchange.n < cursor)


async def show(request: Request, live: LiveSandbox) -> Response:
    """Return a complete exchange: request, answer, rule, diagnosis; and how a given string differs from the right
    string."""
    query_of(request, "request-query")
    given = bytes_of(request, "string")
    exchange = numbered_record(request, live.journal)
    mask = mask_of(request, live, exchange)
    owner = sandboxes_of(request).find(exchange.owner) or live
    found = await autopsy_of(live, owner, exchange, mask, given)
    return reply(full_request(live.id, exchange, mask) | {"autopsy": found})


def full_request(sandbox_id: str, exchange: Exchange, mask: Mask) -> dict[str, Any]:
    """Return an exchange with its request, and its response as HTTP sends it, without secrets."""
    headers, body = as_sent(exchange.status, reply_headers(sandbox_id, exchange), exchange.content)
    body = b"" if exchange.method == "HEAD" else body
    return request_row(exchange, mask) | {
        "sandbox": sandbox_id,
        "request": _message(mask, exchange.path, exchange.headers, exchange.body),
        "response": _message(mask, exchange.path, headers, body),
    }


def _message(mask: Mask, path: str, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> dict[str, Any]:
    """Return a request or response without secrets, its body truncated; `body_bytes` is the body's full length."""
    named = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
    shown = [[mask.text(name), mask.header(name, value)] for name, value in named]
    return {"headers": shown, "body": mask.body(path, body), "body_bytes": len(body)}


Headers = list[tuple[bytes, bytes]]
Resend = Callable[[LiveSandbox, LiveSandbox, Exchange, Headers], Awaitable[tuple[int, bytes]]]
"""Sends an exchange of the second sandbox's journal to the first, with these headers. Returns the status, 0 for a
closed connection, and the header lines."""


async def replay(request: Request, live: LiveSandbox) -> Response:
    """Send a request again and return its new number in the journal."""
    refuse_other_parameters(request)
    exchange = numbered_record(request, live.journal)
    if exchange.unread:
        text = f"{exchange.unread} So it cannot be sent again; send the request yourself"
        raise Conflict("body_not_read", text, "n")
    owner = sandboxes_of(request).find(exchange.owner) or live
    may_touch(request, owner.id)
    headers = await _sign_again(owner, exchange)
    refuse_lost_sandbox(request)
    resend: Resend = request.app.state.resend
    status, lines = await resend(owner, live, exchange, headers)
    refuse_lost_sandbox(request)
    number = int(lines.partition(b"x-sim-request-id: ")[2].partition(b"\r")[0])
    return reply({"n": number, "status": status, "request_id": str(number), "replay_of": exchange.n}, 201)


async def _sign_again(owner: LiveSandbox, exchange: Exchange) -> Headers:
    """Return the headers of a request, with a fresh signature if it has an API key. Raises `Conflict` for a key that
    cannot sign."""
    key = next((value for name, value in reversed(exchange.headers) if name.lower() == names.API_KEY), b"")
    if not key:
        return exchange.headers
    _, known = owner.core.state.keys.get(key.decode("latin-1"), (None, None))
    if known is None or not known.secret_bytes:
        text = "its X-Api-Key has no secret in this sandbox, so it cannot be signed again; send the request yourself"
        raise Conflict("cannot_sign", text, "n")
    with place(len(exchange.body)):
        hashed = await in_background(body_hash, exchange.body)
    values = fresh_signature(owner, known.secret_bytes, exchange.method, exchange.query, hashed)
    new = dict(zip(names.SIGNATURE_HEADERS, values, strict=True))
    kept = [(name, value) for name, value in exchange.headers if name.lower() not in new]
    return [*kept, *new.items()]


async def as_har(request: Request, live: LiveSandbox) -> Response:
    """Return the latest matching requests as HAR 1.2."""
    query = list_query(request, live, "requests-har-query")
    url, found = base_url(request), matching(live, query)
    parts = await har_parts(found, query["limit"], lambda one: exported(url, live.id, one, mask_of(request, live, one)))
    return Response(b"".join(parts), media_type="application/json")


async def as_curl(request: Request, live: LiveSandbox) -> Response:
    """Return a request as a command for a POSIX shell, with comments on how to send it with a new signature."""
    url = base_url(request)
    exchange = numbered_record(request, live.journal)
    mask = mask_of(request, live, exchange)
    row, target = exported(url, live.id, exchange, mask), sent_target(live.id, exchange, mask)
    return PlainTextResponse(as_script(url, row, exchange.body, target, url_prefix(live.id).encode()))


def as_script(base: str, row: Mapping[str, Any], body: bytes, sent: bytes, prefix: bytes = b"") -> str:
    """Return a request to the server at `base` as a command, after comments. `row` has the form of `exported`, `body`
    is its body as received, and `sent` its target without secrets, which may begin with `prefix`."""
    shown, method = row["request"]["body"], row["method"]
    if shown != body.decode("utf-8", "replace"):
        body = shown.encode()  # something in it is masked
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in row["request"]["headers"]]
    target = without_origin(sent)
    prefix = prefix if target.startswith(prefix) else b""
    answer = f"answered {row['status']}" if row["status"] else "not answered"
    lines = [
        one_line(f"# Request {row['n']} as it was sent: {', '.join(filter(None, (row['error'], answer)))}."),
        "# A nonce is valid once, a timestamp for five minutes. This signs the request again; without the keys of the",
        "# default scenario, add --key and --secret:",
        f"#   {call_command(method, base.encode() + prefix, target.removeprefix(prefix), body)}",
    ]
    if row["unread"]:
        lines.append(one_line(f"# {row['unread']} Both commands are without it."))
    other_form = sent if sent != target or b"#" in sent else b""  # curl drops what follows a #
    command = exact_curl_command(method, base.encode() + target, headers, body, other_form)
    if MASKED in unquote(command):
        lines.append(f"# Fill in the secrets, which are shown as {MASKED}.")
    return "\n".join([*lines, command]) + "\n"


SAFE_IN_PATH = "/:@!$&'()*+,;=~%"
SAFE_IN_URL = SAFE_IN_PATH + "?"
HAR_BYTES_MAX = 8 * 1024 * 1024

Record = TypeVar("Record")


async def har_parts(
    found: Iterable[Record], count_max: int, rendered: Callable[[Record], dict[str, Any]]
) -> list[bytes]:
    """Return the parts of a document of the latest records, oldest first: as many as fit, and a comment about
    omitted ones. `found` has the newest first; each turn of the event loop renders a single record in the form of
    `exported`."""
    shown: list[dict[str, Any]] = []
    size, comment = 0, ""
    for exchange in list(found):
        if len(shown) >= count_max or size >= HAR_BYTES_MAX:
            comment = f"Earlier requests are left out; the next page has cursor={shown[-1]['n']}."
            break
        row = rendered(exchange)
        size += sum(len(row[side]["body"]) + len(str(row[side]["headers"])) for side in ("request", "response"))
        shown.append(row)
        await asyncio.sleep(0)
    return list(har(reversed(shown), comment))


def exported(url: str, sandbox_id: str, exchange: Exchange, mask: Mask) -> dict[str, Any]:
    """Return an exchange as the control API shows it, with the full URL of the request; `url` is the server's."""
    target = without_origin(sent_target(sandbox_id, exchange, mask)).decode("latin-1")
    path, question, query = target.partition("?")
    url += "".join(quote(part, safe=SAFE_IN_URL, encoding="latin-1") for part in (path, question, query))
    return full_request(sandbox_id, exchange, mask) | {"url": url, "unread": exchange.unread}


def sent_target(sandbox_id: str, exchange: Exchange, mask: Mask) -> bytes:
    """Return the request target as sent, without secrets."""
    path = mask.path(exchange.path)
    sent, mark, query = exchange.target.partition(b"?")
    question = mark.decode()
    if not sent or path != exchange.path:
        path = path if path.isascii() and path.isprintable() else quote(path, safe=SAFE_IN_PATH)
        sent, query = (url_prefix(sandbox_id) + path).encode(), exchange.query
        question = "?" if query else ""
    return (mask.path(sent.decode("latin-1")) + question + mask.query(exchange.path, query)).encode("latin-1")


def without_origin(target: bytes) -> bytes:
    """Return a request target in origin form."""
    return target if target.startswith(b"/") else b"/" + target.partition(b"//")[2].partition(b"/")[2]


def har(exchanges: Iterable[Mapping[str, Any]], comment: str = "") -> Iterator[bytes]:
    """Yield the parts of the HAR document, a part for each exchange in the form of `exported`. Times are the
    sandbox's."""
    head = {"version": "1.2", "creator": {"name": "reseller-sim", "version": __version__}, "pages": []}
    yield b'{"log":%b,"entries":[' % encode(head | ({"comment": comment} if comment else {}))[:-1]
    for number, exchange in enumerate(exchanges):
        yield (b",\n" if number else b"\n") + encode(_har_entry(exchange))
    yield b"\n]}}\n"


def _har_entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an exchange; its status 0 is a connection that was closed without an answer."""
    took_ms, status, asked, answered = row["duration_us"] / 1000, row["status"], row["request"], row["response"]
    own = {f"_{name}": row[name] for name in ("n", "rule", "fault", "error", "diagnosis", "trxid") if row[name]}
    request = {"method": row["method"], "url": row["url"]} | _har_message(asked)
    request["queryString"] = _har_pairs(parse_qsl(row["query"], keep_blank_values=True))
    if row["unread"]:
        request |= {"bodySize": -1, "comment": row["unread"]}
    if asked["body"]:
        request["postData"] = {"mimeType": _content_type(asked), "params": [], "text": asked["body"]}
    text = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
    content = {"size": answered["body_bytes"], "mimeType": _content_type(answered), "text": answered["body"]}
    response = {"status": status, "statusText": text} | _har_message(answered)
    response |= {"content": content, "redirectURL": ""}
    return {
        "startedDateTime": row["at"],
        "time": took_ms,
        "request": request,
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": took_ms, "receive": 0},
        **own,
    }


def _har_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that a request and a response share."""
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _har_pairs(message["headers"]),
        "headersSize": -1,
        "bodySize": message["body_bytes"],
    }


def _har_pairs(pairs: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _content_type(message: Mapping[str, Any]) -> str:
    return next((str(value) for name, value in message["headers"] if name.lower() == "content-type"), "")
