"""Processes the agenda in order of time, then of insertion. Each item happens when it was due or at the latest time
that the sandbox has seen, whichever is later."""

from datetime import datetime

from simulator.domain.commands import EndAttempt, PassTime, RecordTime
from simulator.domain.due import AgendaItem, CallbackDue, CaseDue, DeliveryDue, Fired, ScheduleDue, StepDue
from simulator.domain.handlers import callbacks, cases, deliveries, schedule, timeline
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.effects import Send
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State


def pass_time(state: State, command: PassTime, now: datetime) -> list[Fired]:
    """Process items that are due by `now`. A step that may not follow the current status is skipped."""
    fired: list[Fired] = []
    left = command.events_max
    while left is None or left > 0:
        due = state.agenda.pop_due(now)
        if due is None:
            state.advance_to(now)
            break
        state.advance_to(due.at)
        one = _process(state, due.item, state.now)
        if one is not None:
            fired.append(one)
        if left is not None:
            left -= 1
    return fired


def record_time(state: State, command: RecordTime, now: datetime) -> None:
    """Record the time without processing anything."""
    state.advance_to(now)


def end_attempt(state: State, command: EndAttempt, now: datetime) -> None:
    """Record the result of an attempt."""
    send = state.in_flight.pop(command.job)
    assert send.attempt.number == command.attempt, "a job has one attempt in the air"
    match send.job:
        case Callback() as callback:
            callbacks.attempt_ended(state, callback, send.attempt, command.result, now)
        case Delivery() as delivery:
            deliveries.attempt_ended(state, delivery, send.attempt, command.result, now)


def _process(state: State, item: AgendaItem, now: datetime) -> Fired | None:
    match item:
        case StepDue():
            taken = timeline.step_due(state, item, now)
            return None if taken is None else Fired(now, taken)
        case CallbackDue(callback):
            return _sent(state, now, item, callbacks.attempt_due(state, callback, now))
        case DeliveryDue(delivery):
            return _sent(state, now, item, deliveries.attempt_due(state, delivery, now))
        case CaseDue():
            cases.case_due(state, item, now)
            return Fired(now, item)
        case ScheduleDue():
            return schedule.carry_out(state, item, now)


def _sent(state: State, now: datetime, item: CallbackDue | DeliveryDue, send: Send | None) -> Fired:
    if send is not None:
        state.in_flight[send.job.id] = send
    return Fired(now, item, send)
