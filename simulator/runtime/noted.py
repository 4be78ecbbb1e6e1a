"""Applies commands that come from anywhere but a request of the reseller API, and notes them on the tape."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from simulator.domain.commands import Command, EndAttempt, PassTime
from simulator.domain.due import Fired
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_log import DeliveryLog
from simulator.runtime.courier import Courier
from simulator.runtime.traces import Trace, Traces
from simulator.tape.entries import CommandApplied, Due
from simulator.tape.tape import ENTRY_BYTES, Tape
from simulator.wire.trace_context import TraceContext, passed_on

DUE_BYTES = 150
"""The approximate memory of an attempt that an entry made due."""


def apply_noted(
    apply: Callable[[Command, datetime], Any],
    command: Command,
    now: datetime,
    tape: Tape,
    courier: Courier,
    deliveries: DeliveryLog,
    trace: Trace,
) -> Any:
    """The answer to a command, which is noted before it is applied, since it may be refused. That time passes is noted
    behind it, in the same turn, with the attempts that are due by that: a replay that makes others due repeats nothing.
    The callback or the deliveries that it begins belong to its trace.
    """
    if type(command) is PassTime:
        fired: list[Fired] = apply(command, now)
        due = due_of(fired)
        tape.add(CommandApplied(now, command, due), ENTRY_BYTES + DUE_BYTES * len(due))
        return fired
    if trace is not None:
        headers = passed_on(trace, trace.parent_id)
        tape.add(CommandApplied(now, command, trace=headers), ENTRY_BYTES + sum(map(len, headers[-1])))
        return _traced(apply, command, now, courier.traces, deliveries, trace)
    tape.add(CommandApplied(now, command))
    answer = apply(command, now)
    if type(command) is EndAttempt:
        courier.sent.end(command.job)
    return answer


def _traced(
    apply: Callable[[Command, datetime], Any],
    command: Command,
    now: datetime,
    traces: Traces,
    deliveries: DeliveryLog,
    trace: TraceContext,
) -> Any:
    serial, _ = deliveries.last
    answer = apply(command, now)
    if isinstance(answer, Callback):
        traces.note(answer.id, trace)
    for delivery in deliveries.after(serial):
        traces.note(delivery.id, trace)
    return answer


def due_of(fired: Iterable[Fired]) -> Due:
    """The attempts that became due by what happened."""
    sends = (one.send for one in fired if one.send is not None)
    return tuple((send.job.id, send.attempt.number) for send in sends)
