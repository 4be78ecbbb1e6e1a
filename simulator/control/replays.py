"""`/_sim/sandboxes/{id}/requests/{n}/replay`: sends a request of the journal once more, to the same sandbox.

The same bytes go the way of any request. Only what counts once is new: the timestamp, the nonce, and so the signature,
which is made with the key of the request.
"""

from collections.abc import Awaitable, Callable
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from simulator.auth import headers as names
from simulator.auth.canonical import body_hash, canonical_query, canonical_string, signature
from simulator.control.http import refuse_lost_sandbox, reply, sandbox_of, sandboxes_of
from simulator.control.parameters import refuse_other_parameters
from simulator.control.permitted import may_touch
from simulator.control.requests import exchange_of, unknown_request
from simulator.domain.errors import Conflict
from simulator.runtime.background import in_background, place
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox

HASHED_AT_ONCE_BYTES_MAX = 256 * 1024
NUMBER_LINE = b"x-sim-request-id: "

Headers = list[tuple[bytes, bytes]]
Resend = Callable[[LiveSandbox, LiveSandbox, Exchange, Headers], Awaitable[tuple[int, bytes]]]
"""Sends an exchange of the second sandbox's journal to the first one, with these headers. Answers the status, 0 for a
closed connection, and the header lines."""


async def replay(request: Request) -> Response:
    """Send it and say under which number the journal has it now."""
    live = sandbox_of(request)
    refuse_other_parameters(request)
    exchange = exchange_of(request, live)
    if exchange is None:
        return unknown_request()
    if exchange.unread:
        text = f"{exchange.unread} So there is nothing to send again; send the request yourself"
        raise Conflict("body_not_read", text, "n")
    owner = sandboxes_of(request).find(exchange.owner) or live
    may_touch(request, owner.id)
    headers = await _signed_anew(owner, exchange)
    refuse_lost_sandbox(request)
    resend: Resend = request.app.state.resend
    status, lines = await resend(owner, live, exchange, headers)
    refuse_lost_sandbox(request)
    found = {"n": _number(lines), "status": status, "request_id": str(_number(lines)), "replay_of": exchange.n}
    return reply(found, 201)


async def _signed_anew(owner: LiveSandbox, exchange: Exchange) -> Headers:
    """The headers of a request with a signature of now, where it has an API key. Raises `Conflict` for a key that
    cannot sign."""
    key = next((value for name, value in reversed(exchange.headers) if name.lower() == names.API_KEY), b"")
    if not key:
        return exchange.headers
    _, known = owner.core.state.keys.get(key.decode("latin-1"), (None, None))
    if known is None or not known.secret_bytes:
        text = "its X-Api-Key has no secret in this sandbox, so it cannot be signed anew; send the request yourself"
        raise Conflict("cannot_sign", text, "n")
    stamp = str(int(owner.signing_time().timestamp())).encode()
    nonce = f"replay-{uuid4().hex}".encode()
    hashed = await _hash(exchange.body)
    query = canonical_query(exchange.query)
    to_sign = canonical_string(stamp, nonce, exchange.method.upper().encode(), query, hashed)
    made = signature(known.secret_bytes, to_sign).encode()
    new = {names.TIMESTAMP: stamp, names.NONCE: nonce, names.SIGNATURE: made}
    kept = [(name, value) for name, value in exchange.headers if name.lower() not in new]
    return [*kept, *new.items()]


async def _hash(body: bytes) -> bytes:
    if len(body) <= HASHED_AT_ONCE_BYTES_MAX:
        return body_hash(body)
    with place(len(body)):
        return await in_background(body_hash, body)


def _number(lines: bytes) -> int:
    """The number in the header lines of an answer."""
    return int(lines.partition(NUMBER_LINE)[2].partition(b"\r")[0])
