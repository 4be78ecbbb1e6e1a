"""Executes a request: validates its input, calls its endpoint, and collects what that causes."""

from simulator.api import refusals
from simulator.api.call import Call, Endpoint, Problems, Reply
from simulator.api.notes import note_lost_plus, note_unknown_parameters, note_unread
from simulator.api.suspended import wait
from simulator.auth import headers as names
from simulator.contract.body import read_members
from simulator.contract.query import read_query
from simulator.domain.model.domain_events import StatusChanged
from simulator.runtime.event_items import Item
from simulator.runtime.trace_context import trace_of


def check_fields(call: Call, endpoint: Endpoint) -> Reply | None:
    """Decode and validate the endpoint's input; the endpoint's own refusal when it violates the contract."""
    exchange, source = call.exchange, endpoint.source
    unread = (
        exchange.query if source == "body" else exchange.body if source == "query" else exchange.query or exchange.body
    )
    if unread or names.API_VERSION in call.headers:
        note_unread(call, endpoint)
    if not endpoint.schema:
        return None
    problems = _validate(call, endpoint)
    return refusals.invalid_input(call, endpoint, problems) if problems else None


def _validate(call: Call, endpoint: Endpoint) -> Problems:
    """Decode the endpoint's input and validate it against its schema; stores the fields in the call."""
    if endpoint.source == "query":
        query = call.exchange.query
        call.fields, problems = read_query(query, endpoint.schema)
        if query:
            note_unknown_parameters(call, endpoint)
            note_lost_plus(call)
        return problems
    assume, headers = call.sandbox.scenario.assume, call.headers
    may_be_form = endpoint.source == "form"
    reject_duplicates = assume.get("duplicate-json-keys") == "reject"
    any_type = assume.get("content-type") == "ignored"
    # By position, which is cheaper: every payment comes this way.
    call.fields, problems, call.is_exact = read_members(
        endpoint.schema, headers.get(b"content-type", b""), call.exchange.body, may_be_form, reject_duplicates, any_type
    )
    if "body" in problems and headers.get(b"content-encoding", b"identity") != b"identity":
        return {"body": [refusals.ENCODED]}
    return problems


def execute(call: Call) -> Reply:
    """Execute a call at once. What it causes is published behind the request, which has no number yet."""
    if call.exchange.method == "GET":  # it commands nothing
        return call.endpoint.handle(call)
    events = call.sandbox.events
    serial, _ = call.sandbox.core.state.deliveries.last if b"traceparent" in call.headers else (0, 0)
    events.hold()
    try:
        return call.endpoint.handle(call)
    finally:
        call.caused = events.release()
        if b"traceparent" in call.headers:
            _trace(call, call.caused, serial)


async def execute_late(call: Call) -> Reply:
    """Execute a call that met a fault, after the fault's delay. What it causes is published at once."""
    assert call.fault is not None, "without a fault the call is executed at once"
    if not call.fault.rule.then.after_commit and (refusal := await wait(call)):
        return refusal
    if call.is_lost:
        return refusals.lost_sandbox(call)
    reply = execute(call)
    caused, call.caused = call.caused, []
    for happening in caused:
        call.sandbox.events.note(happening)
    return reply


def _trace(call: Call, caused: list[Item], serial: int) -> None:
    """Let the payments that got a status, and the deliveries after `serial`, belong to the trace of the request."""
    trace = trace_of(call.exchange.headers)
    if trace is None:
        return
    core, traces = call.sandbox.core, call.sandbox.courier.traces
    for happening in caused:
        if isinstance(happening, StatusChanged):
            traces.note(happening.number, trace)
    for delivery in core.state.deliveries.after(serial):
        traces.note(delivery.id, trace)
