"""Suspended requests: waiting for a fault's delay, or for the rest of their body, read within bounds.

Anything may change meanwhile: a sandbox is deleted, an allowlist is changed, a key is revoked. So a request is checked
again when it resumes, and the tape records its suspension and resumption.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta

from simulator.api import refusals
from simulator.api.authentication import identify, refuse_address
from simulator.api.call import ApiCall, BodyTooLarge, ChosenFault, Reply, read_body
from simulator.api.notes import note
from simulator.auth.signature import BODY_BYTES_MAX, Denied
from simulator.contract.body import FORM_TOO_LONG, OUTLINE_BYTES_MAX
from simulator.domain.model import draw
from simulator.domain.model.draw import Spread
from simulator.domain.model.fault_kinds import FaultThen
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.rules import Rule
from simulator.persistence.tape.entries import Resumption
from simulator.runtime.holds import HoldEntry, Kind, reason
from simulator.wire import error_bodies

TIMED_OUT = 504


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
    waits = then is not None and not then.after_commit and not then.hold  # a hold waits in `execute`
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
        return refusals.deny(call, Denied("body_too_large", refusals.BODY_BOUND))
    return _identify_again(call, "the body is here")


def _identify_again(call: ApiCall, event: str) -> Reply | None:
    """Check the sandbox, the address and the headers again, when `event` ended the wait."""
    if call.is_lost:
        return refusals.lost_sandbox(call)
    refusal = refuse_address(call) or identify(call)
    if refusal is not None:
        call.exchange.diagnosis += f" now that {event}"
        if call.exchange.told:
            call.exchange.told += f" now that {event}"
    return refusal


async def await_fault(call: ApiCall) -> Reply | None:
    """Wait for the delay of the call's fault, then in its hold, once; both end when the sandbox is deleted or reset."""
    met = call.fault
    if met is None or met.has_waited or not met.rule.then.waits:
        return None
    met.has_waited = True
    then, reply, unanswered = met.rule.then, None, call.sandbox.unanswered
    if then.after_commit:
        unanswered.append(call.exchange)
    try:
        if then.delay is not None:
            reply = await _delayed(call, met, then.delay)
        if reply is None and then.hold and not call.is_lost:
            await _held(call, met)
    finally:
        if then.after_commit:
            unanswered.remove(call.exchange)
    if not call.is_lost:
        return reply
    call.exchange.trxid = ""  # of a lost transaction; the new journal may reuse the id
    ending = "deleted" if call.sandbox.is_deleted else call.sandbox.last_ending
    note(call, f"the sandbox was {ending} during the {'hold' if then.hold else 'delay'} of a fault")
    return reply if then.after_commit else refusals.lost_sandbox(call)


async def _delayed(call: ApiCall, met: ChosenFault, delay: tuple[timedelta, timedelta] | Spread) -> Reply | None:
    """Wait for a drawn delay; return 504 when the integration timeout comes first (SPEC 8).

    The wait takes wall time, divided by the rate of a faster clock, unless it is virtual.
    """
    sandbox, limit = call.sandbox, call.sandbox.scenario.limits.integration_timeout
    span = _drawn(call, met.rule, delay)
    met.timed_out = limit is not None and span > limit
    waited = limit if limit is not None and met.timed_out else span
    wait_s = 0 if met.rule.then.is_delay_virtual else sandbox.clock.wall_seconds(waited)
    await call.suspended(sandbox.sleep(wait_s))
    if limit is None or not met.timed_out or (call.is_lost and not met.rule.then.after_commit):
        return None
    text = f"a fault's delay of {span.total_seconds():g} s is longer than limits.integration_timeout"
    call.exchange.error, call.exchange.diagnosis = "integration_timeout", text
    return Reply(TIMED_OUT, error_bodies.timed_out(limit))


async def _held(call: ApiCall, met: ChosenFault) -> None:
    """Wait in a hold. A client that leaves meanwhile frees its place."""
    exchange = call.exchange
    refid, what = call.fields.get("refid", ""), f"{exchange.method} {exchange.path}"
    name = met.rule.then.hold
    kind: Kind = "answer" if met.rule.then.after_commit else "request"
    held = HoldEntry(name, kind, what, call.now, call.wall, refid if isinstance(refid, str) else "")
    how = await call.suspended(_hold(call, held))
    left = f"the client closed its connection during the hold {name!r}, so it got no answer"
    text = left if how is Resumption.GONE else reason(how, name)
    if how is Resumption.READY and not call.is_lost:
        text = f"held as {name!r} until {call.now.astimezone(SERVICE_ZONE):%H:%M:%S}"
    if text:
        note(call, text)


async def _hold(call: ApiCall, held: HoldEntry) -> Resumption:
    source = call.request.source
    if source is not None:
        source.on_left = held.leave
        if source.has_left:
            return Resumption.GONE
    return await call.sandbox.holds.hold(held)


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


def _drawn(call: ApiCall, rule: Rule[FaultThen], delay: tuple[timedelta, timedelta] | Spread) -> timedelta:
    sandbox = call.sandbox
    chosen = sandbox.core.state.faults.times_chosen(rule)
    fraction = draw.fraction(sandbox.seed, rule.label, "delay", chosen)
    if isinstance(delay, Spread):
        return delay.at(fraction)
    low, high = delay
    return low + (high - low) * fraction
