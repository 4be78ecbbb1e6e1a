"""Processing of the agenda in order of time, then of insertion. Each item happens at its due time or at the latest time
that the sandbox has seen, whichever is later."""

from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import count
from typing import Any

from simulator.domain import commands
from simulator.domain.agenda import AgendaItem, AgendaResult, CaseDue, StepDue
from simulator.domain.commands import Command, EndAttempt, PassTime
from simulator.domain.errors import DomainError
from simulator.domain.handlers import (
    callback_jobs,
    case_requests,
    catalog_changes,
    reseller_changes,
    rule_changes,
    timeline,
    webhook_jobs,
)
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import Attempt, AttemptEnd, Send, is_accepted
from simulator.domain.model.domain_events import AttemptOutcome
from simulator.domain.model.schedule import ScheduledChange
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State

SCHEDULABLE: Mapping[type[Command], Callable[[State, Any, datetime], Any]] = {
    commands.Credit: reseller_changes.credit,
    commands.ChangeProduct: catalog_changes.change_product,
    commands.ChangeTree: catalog_changes.change_tree,
    commands.PutApiKey: reseller_changes.put_api_key,
    commands.ChangeSettings: reseller_changes.change_settings,
    commands.SetCallback: reseller_changes.set_callback,
    commands.SetThreshold: webhook_jobs.set_threshold,
    commands.SetNetwork: catalog_changes.set_network,
    commands.AddRule: rule_changes.add_rule,
    commands.RemoveRule: rule_changes.remove_rule,
    commands.PutWebhook: webhook_jobs.put_webhook,
}
"""The commands that a scenario may schedule, with their functions."""


def carry_out(state: State, due: ScheduledChange, now: datetime) -> AgendaResult:
    """Carry out a scheduled change. If the sandbox refuses it, skip it with the reason.

    A rule's document compiles, because it did so with the scenario, and products and resellers are never removed.
    """
    answer = None
    try:
        for command in due.commands:
            answer = SCHEDULABLE[type(command)](state, command, now)
    except DomainError as refusal:
        return AgendaResult(now, due, skipped=str(refusal))
    return AgendaResult(now, due, entry=answer if isinstance(answer, Entry) else None)


def pass_time(state: State, command: PassTime, now: datetime) -> list[AgendaResult]:
    """Process items that are due by `now`. Skip a step that may not follow the current status."""
    fired: list[AgendaResult] = []
    for _ in count() if command.events_max is None else range(command.events_max):
        due = state.agenda.pop_due(now)
        if due is None:
            state.now = max(state.now, now)
            break
        state.now = max(state.now, due.at)
        if (result := _process(state, due.item, state.now)) is not None:
            fired.append(result)
    return fired


def end_attempt(state: State, command: EndAttempt, now: datetime) -> None:
    """Record the result of an attempt, and schedule the retry, if any: at once after an interruption."""
    send, result = state.in_flight.pop(command.job), command.result
    job, attempt = send.job, send.attempt
    assert attempt.number == command.attempt, "a job has one attempt in the air"
    assert attempt.result is None, "an attempt ends once"
    if isinstance(job, Callback):
        wait = callback_jobs.end_attempt(state, job, attempt, result)
        counts = state.callback_counts[job.reseller]
    else:
        assert isinstance(job, Delivery), "a job is a callback or a delivery"
        wait = webhook_jobs.end_attempt(state, job, attempt, result, now)
        counts = state.webhook_counts[job.reseller]
    next_due = None
    if wait is not None:
        next_due = now if result.kind is AttemptEnd.INTERRUPTED else now + wait
        state.agenda.add(next_due, job)
    attempt.state = job.state
    counts.attempts += 1
    has_arrived = is_accepted(result)
    counts.delivered += has_arrived
    counts.failed += wait is None and not has_arrived
    state.publish(AttemptOutcome(job.id, attempt.number, now, next_due))


def _process(state: State, item: AgendaItem, now: datetime) -> AgendaResult | None:
    match item:
        case StepDue():
            taken = timeline.step_due(state, item, now)
            return None if taken is None else AgendaResult(now, taken)
        case Callback() | Delivery():
            return _attempt(state, item, now)
        case CaseDue():
            case_requests.case_due(state, item, now)
            return AgendaResult(now, item)
        case ScheduledChange():
            return carry_out(state, item, now)


def _attempt(state: State, job: Callback | Delivery, now: datetime) -> AgendaResult:
    """Begin the next attempt of a job, unless the job ends without it."""
    if isinstance(job, Callback):
        may_attempt = callback_jobs.may_attempt(state, job)
    else:
        may_attempt = webhook_jobs.may_attempt(state, job, now)
    if not may_attempt:
        return AgendaResult(now, job)
    attempt = Attempt(len(job.attempts) + 1, now)
    job.attempts += (attempt,)
    send = state.in_flight[job.id] = Send(job, attempt)
    return AgendaResult(now, job, send)
