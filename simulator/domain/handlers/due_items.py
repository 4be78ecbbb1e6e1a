"""Processing of the agenda in order of time, then of insertion. Each item happens at its due time or at the latest time
that the sandbox has seen, whichever is later."""

from datetime import datetime

from simulator.domain.agenda import AgendaItem, AgendaResult, CallbackDue, CaseDue, DeliveryDue, ScheduleDue, StepDue
from simulator.domain.commands import (
    AddRule,
    ChangeProduct,
    ChangeSettings,
    ChangeTree,
    Credit,
    EnableWebhook,
    EndAttempt,
    PassTime,
    RecordTime,
    RemoveRule,
    SetCallback,
    SetNetwork,
    SetThreshold,
    SetWebhook,
)
from simulator.domain.errors import DomainError, Unknown
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
from simulator.domain.model.delivery_attempts import Send
from simulator.domain.model.schedule import (
    Scheduled,
    ScheduledChange,
    ScheduledDeposit,
    ScheduledKey,
    ScheduledNetwork,
    ScheduledRemoval,
    ScheduledRule,
    ScheduledSettings,
    ScheduledTreeChange,
    ScheduledWebhook,
)
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery
from simulator.domain.queries import reseller_of
from simulator.domain.state import State


def carry_out(state: State, due: ScheduleDue, now: datetime) -> AgendaResult:
    """Carry out an item that is due. If the sandbox refuses it, skip it with the reason, and change nothing.

    A rule's document compiles, because it did so with the scenario, and products and resellers are never removed.
    """
    try:
        return AgendaResult(now, due, entry=_carry_out(state, due.planned, now))
    except DomainError as refusal:
        return AgendaResult(now, due, skipped=str(refusal))


def _carry_out(state: State, planned: Scheduled, now: datetime) -> Entry | None:
    match planned:
        case ScheduledDeposit():
            command = Credit(planned.reseller, planned.amount, planned.description, planned.type)
            return reseller_changes.credit(state, command, now)
        case ScheduledChange():
            wanted = ChangeProduct(planned.code, planned.changes, planned.options, planned.reseller)
            catalog_changes.change_product(state, wanted, now)
        case ScheduledTreeChange():
            catalog_changes.change_tree(state, ChangeTree(planned.kind, planned.id, planned.changes), now)
        case ScheduledKey():
            reseller = reseller_of(state, planned.reseller)
            reseller_changes.put_key(state, reseller, planned.key, planned.secret, planned.state)
        case ScheduledSettings():
            _change_settings(state, planned, now)
        case ScheduledNetwork():
            catalog_changes.set_network(state, SetNetwork(planned.product, planned.status), now)
        case ScheduledRule():
            rule_changes.add_rule(state, AddRule(planned.section, planned.document), now)
        case ScheduledRemoval():
            rule_changes.remove_rule(state, RemoveRule(_rule_id(state, planned.rule)), now)
        case ScheduledWebhook():
            _change_webhook(state, planned, now)
    return None


def _change_settings(state: State, planned: ScheduledSettings, now: datetime) -> None:
    code = planned.reseller
    reseller_changes.change_settings(state, ChangeSettings(code, planned.changes), now)
    if planned.callback is not None:
        reseller_changes.set_callback(state, SetCallback(code, planned.callback.url, planned.callback.method), now)
    if planned.low_balance_threshold is not None:
        webhook_jobs.set_threshold(state, SetThreshold(code, planned.low_balance_threshold), now)


def _rule_id(state: State, label: str) -> str:
    """Return the id of the rule with this name or id. Raise `Unknown`."""
    listed = (rule for book in state.books.values() for rule, _ in book.counted_rules())
    found = next((rule.id for rule in listed if label in (rule.name, rule.id)), None)
    if found is None:
        raise Unknown("unknown_rule", f"there is no rule {label!r}")
    return found


def _change_webhook(state: State, planned: ScheduledWebhook, now: datetime) -> None:
    webhook = reseller_of(state, planned.reseller).webhook
    if not (planned.url or webhook.url):
        raise Unknown("no_webhook", f"reseller {planned.reseller!r} has no balance webhook")
    if planned.url:
        webhook_jobs.set_webhook(state, SetWebhook(planned.reseller, planned.url), now)
    if planned.secret:
        webhook_jobs.put_secret(state, webhook, planned.secret, now)
    if planned.enabled is not None:
        webhook_jobs.enable_webhook(state, EnableWebhook(planned.reseller, planned.enabled), now)


def pass_time(state: State, command: PassTime, now: datetime) -> list[AgendaResult]:
    """Process items that are due by `now`. Skip a step that may not follow the current status."""
    fired: list[AgendaResult] = []
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
            callback_jobs.attempt_ended(state, callback, send.attempt, command.result, now)
        case Delivery() as delivery:
            webhook_jobs.attempt_ended(state, delivery, send.attempt, command.result, now)


def _process(state: State, item: AgendaItem, now: datetime) -> AgendaResult | None:
    match item:
        case StepDue():
            taken = timeline.step_due(state, item, now)
            return None if taken is None else AgendaResult(now, taken)
        case CallbackDue(callback):
            return _sent(state, now, item, callback_jobs.attempt_due(state, callback, now))
        case DeliveryDue(delivery):
            return _sent(state, now, item, webhook_jobs.attempt_due(state, delivery, now))
        case CaseDue():
            case_requests.case_due(state, item, now)
            return AgendaResult(now, item)
        case ScheduleDue():
            return carry_out(state, item, now)


def _sent(state: State, now: datetime, item: CallbackDue | DeliveryDue, send: Send | None) -> AgendaResult:
    if send is not None:
        state.in_flight[send.job.id] = send
    return AgendaResult(now, item, send)
