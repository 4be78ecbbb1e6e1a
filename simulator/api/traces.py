"""Lets what a request with a `traceparent` causes belong to its trace: payments that got a status, and deliveries."""

from collections.abc import Callable
from typing import Any

from simulator.api.call import Call, Reply
from simulator.domain.model.domain_events import DomainEvent, StatusChanged
from simulator.wire.trace_context import trace_of


def handle_traced(call: Call, tell: Callable[[DomainEvent], Any]) -> Reply:
    """The endpoint's reply; `tell` hears of what happens meanwhile, as the watcher of the sandbox."""
    trace = trace_of(call.exchange.headers)
    if trace is None or call.is_lost:
        return call.endpoint.handle(call)
    core, traces = call.sandbox.core, call.sandbox.courier.traces
    serial, _ = core.state.deliveries.last

    def watch(happening: DomainEvent) -> None:
        if isinstance(happening, StatusChanged):
            traces.note(happening.number, trace)
        tell(happening)

    core.watch(watch)
    try:
        return call.endpoint.handle(call)
    finally:
        core.watch(tell)
        for delivery in core.state.deliveries.after(serial):
            traces.note(delivery.id, trace)
