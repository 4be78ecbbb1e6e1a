"""Applies commands that come from anywhere but a request of the reseller API, and notes them on the tape."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from simulator.domain.commands import Command, EndAttempt, PassTime
from simulator.domain.due import Fired
from simulator.domain.errors import DomainError
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.webhooks import DeliveryLog
from simulator.persistence.tape.entries import CommandApplied, Due
from simulator.persistence.tape.tape import ENTRY_BYTES, Tape
from simulator.runtime.command_answers import SCENARIO, answer_text, refusal_text
from simulator.runtime.courier import Courier
from simulator.runtime.trace_context import TraceContext, passed_on
from simulator.runtime.traces import Trace
from simulator.scenario.reading.document import ScenarioError

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
    """The answer to a command, which is noted in the same turn: the end of an attempt ahead of it, all others behind it
    with what they answered, also when they were refused. That time passes is noted with the attempts that are due by
    that: a replay that makes others due repeats nothing. The callback or the deliveries that a command begins belong to
    its trace.
    """
    if type(command) is PassTime:
        fired: list[Fired] = apply(command, now)
        due = due_of(fired)
        tape.add(CommandApplied(now, command, due), ENTRY_BYTES + DUE_BYTES * len(due))
        return fired
    if type(command) is EndAttempt:
        tape.add(CommandApplied(now, command))
        apply(command, now)
        courier.sent.end(command.job)
        return None
    headers = () if trace is None else passed_on(trace, trace.parent_id)
    text = refusal_text("error")
    try:
        answer = apply(command, now) if trace is None else _traced(apply, command, now, courier, deliveries, trace)
        text = answer_text(answer)
    except DomainError as refused:
        text = refusal_text(refused.code)
        raise
    except ScenarioError:
        text = refusal_text(SCENARIO)
        raise
    finally:
        size = ENTRY_BYTES + len(text) + sum(len(value) for _, value in headers)
        tape.add(CommandApplied(now, command, trace=headers, answer=text), size)
    return answer


def _traced(
    apply: Callable[[Command, datetime], Any],
    command: Command,
    now: datetime,
    courier: Courier,
    deliveries: DeliveryLog,
    trace: TraceContext,
) -> Any:
    serial, _ = deliveries.last
    answer = apply(command, now)
    if isinstance(answer, Callback):
        courier.traces.note(answer.id, trace)
    for delivery in deliveries.after(serial):
        courier.traces.note(delivery.id, trace)
    return answer


def due_of(fired: Iterable[Fired]) -> Due:
    """The attempts that became due by what happened."""
    sends = (one.send for one in fired if one.send is not None)
    return tuple((send.job.id, send.attempt.number) for send in sends)
