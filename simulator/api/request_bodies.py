"""The bodies of requests that are not here yet, received within bounds.

Anything may change meanwhile: a sandbox is deleted, an allowlist is changed, a key is revoked. So a request is checked
again when its body is here, and the tape records its suspension and resumption.
"""

from collections.abc import Mapping
from contextlib import suppress

from simulator.api import refusals
from simulator.api.authentication import identify, refuse_address
from simulator.api.call import ApiCall, BodyTooLarge, Reply, read_body
from simulator.api.fault_effects import await_fault
from simulator.auth.signature import BODY_BYTES_MAX, Denied
from simulator.contract.body import FORM_TOO_LONG, OUTLINE_BYTES_MAX


async def receive_body(call: ApiCall, bytes_max: int = BODY_BYTES_MAX, *, keeps_time: bool = False) -> None:
    """Read and store the whole body of a call, as `read_body` does. The call is suspended meanwhile.

    Raise `BodyTooLarge` before that when the headers declare too large a body.
    """
    call.has_body = True
    if not is_announced(call.headers):
        return
    declared = call.headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > bytes_max:
        raise BodyTooLarge
    await call.suspended(_store_body(call, bytes_max), keeps_time=keeps_time)


async def _store_body(call: ApiCall, bytes_max: int) -> None:
    assert call.request.receive is not None, "a body that is not here yet comes from somewhere"
    call.exchange.body = await read_body(call.request.receive, bytes_max)


def is_announced(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a body follows the headers."""
    return b"content-length" in headers or b"transfer-encoding" in headers


async def await_body(call: ApiCall) -> Reply | None:
    """Wait for a fault's delay and for the rest of the body, then check again what may have changed meanwhile."""
    request = call.request
    if request.body is not None:  # before the wait, so that records have the body
        call.exchange.body, call.has_body = request.body, True
    then = None if call.fault is None else call.fault.rule.then
    waits = then is not None and not then.after_commit and not then.hold  # a hold waits in `execute_with_fault`
    if waits and (refusal := await await_fault(call)):
        return refusal
    if request.body is not None or not is_announced(call.headers):
        call.has_body = True
        return _identify_again(call, "the delay has passed") if call.fault and call.fault.has_waited else None
    is_form = call.endpoint.source == "form"
    try:
        await receive_body(call, OUTLINE_BYTES_MAX if is_form else BODY_BYTES_MAX)
    except BodyTooLarge:
        if is_form:
            return refusals.refuse_input(call, {"body": [FORM_TOO_LONG]})
        return refusals.deny(call, Denied("body_too_large", f"at most {BODY_BYTES_MAX} bytes are read"))
    return _identify_again(call, "the body is here")


def _identify_again(call: ApiCall, event: str) -> Reply | None:
    """Check the sandbox, the address and the headers again, when `event` ended the wait."""
    if call.is_lost:
        return refusals.lost_sandbox(call)
    refusal = refuse_address(call) or identify(call)
    if refusal is not None:
        call.exchange.diagnosis += f" now that {event}"
        if call.exchange.public_diagnosis:
            call.exchange.public_diagnosis += f" now that {event}"
    return refusal


async def store_unread_body(call: ApiCall) -> None:
    """Store the body of a request that was answered without reading it, and wait for it: an expectation depends on its
    contents, or a fault hides the result from the client, which a judge of the client needs to know. Bodies that are
    too large are not stored."""
    request = call.request
    if request.body is not None:
        call.exchange.body, call.has_body = request.body, True
    elif request.receive is not None:
        with suppress(BodyTooLarge):
            await receive_body(call, keeps_time=True)
