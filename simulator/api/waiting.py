"""The two steps in which a call may wait: for a fault's delay, or for the rest of its body.

Whoever waited meets what changed meanwhile: a sandbox that is gone, another allowlist, a key that was revoked.
"""

from simulator.api import refusals
from simulator.api.authentication import identify, refuse_address
from simulator.api.body import BodyTooLarge, is_announced, receive_body
from simulator.api.call import Call, Incoming, Reply
from simulator.api.faults import wait
from simulator.api.traces import handle_traced
from simulator.auth.signature import BODY_BYTES_MAX, Denied
from simulator.contract.body import FORM_BYTES_MAX, FORM_TOO_LONG


async def read(call: Call, request: Incoming) -> Reply | None:
    """Wait for a fault's delay and for the rest of the body, then check again what may have changed meanwhile."""
    if request.body is not None:  # before the wait, so that what is written down of it has the body
        call.exchange.body, call.has_body = request.body, True
    waits = call.fault is not None and not call.fault.rule.then.after_commit
    if waits and (refusal := await wait(call)):
        return refusal
    if request.body is not None or not is_announced(call.headers):
        call.has_body = True
        return _identify_again(call, "the delay has passed") if waits and call.has_waited else None
    assert request.receive is not None, "a body that is not here yet comes from somewhere"
    call.has_body = True
    is_form = call.endpoint.source == "form"
    try:
        call.exchange.body = await receive_body(call, request.receive, FORM_BYTES_MAX if is_form else BODY_BYTES_MAX)
    except BodyTooLarge:
        if is_form:
            return refusals.invalid_input(call, call.endpoint, {"body": [FORM_TOO_LONG]})
        return refusals.deny(call, call.endpoint, Denied("body_too_large", refusals.BODY_BOUND))
    await call.refresh()
    return _identify_again(call, "the body is here")


def _identify_again(call: Call, event: str) -> Reply | None:
    """Check the sandbox, the address and the headers at the time when the wait has ended by `event`."""
    if call.is_lost:
        return refusals.lost_sandbox(call)
    refusal = refuse_address(call) or identify(call)
    if refusal is not None:
        call.exchange.diagnosis += f" now that {event}"
        if call.exchange.told:
            call.exchange.told += f" now that {event}"
    return refusal


async def handle(call: Call) -> Reply:
    """Execute a call that met a fault, after the fault's delay."""
    assert call.fault is not None, "without a fault the endpoint is called at once"
    if not call.fault.rule.then.after_commit and (refusal := await wait(call)):
        return refusal
    if call.is_lost:
        return refusals.lost_sandbox(call)
    if b"traceparent" in call.headers:
        return handle_traced(call, call.sandbox.events.note)
    return call.endpoint.handle(call)
