"""Agenda items that happened, as the answer to an advance lists them."""

from typing import Any

from simulator.control import render
from simulator.domain.due import CallbackDue, CaseDue, DeliveryDue, Fired, ScheduleDue, StepTaken
from simulator.domain.model.cases import Case
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
from simulator.redaction import redact_urls
from simulator.wire.json import number
from simulator.wire.payments import CALLBACK_STATUS_NAMES, STATUS_NAMES


def fired(one: Fired) -> dict[str, Any]:
    """One event, as the answer to an advance lists it."""
    fields: dict[str, Any] = {"at": render.moment(one.at)}
    match one.item:
        case StepTaken(transaction, step):
            fields |= {"kind": "status", "trxid": transaction.trxid, "refid": transaction.refid}
            result = next(result for result in transaction.results if result.status is step.status)
            fields |= {"status": STATUS_NAMES[step.status], "status_code": result.code}
        case CallbackDue(callback):
            tried = one.send.attempt if one.send is not None else None
            ended = tried.result if tried is not None else None
            fields |= {"kind": "callback", "callback": callback.id, "attempt": tried.number if tried else None}
            fields |= {"trxid": callback.transaction.trxid, "refid": callback.transaction.refid}
            fields |= {"status": CALLBACK_STATUS_NAMES[callback.result.status]}
            fields |= {"state": tried.state if tried else callback.state.value}
            fields |= {"url": redact_urls(callback.url), "ending": ended.kind.value if ended else None}
            fields |= {"answered": ended.status if ended else None}
        case DeliveryDue(delivery):
            tried = one.send.attempt if one.send is not None else None
            ended = tried.result if tried is not None else None
            fields |= {"kind": "webhook", "delivery": delivery.id, "attempt": tried.number if tried else None}
            fields |= {"event": delivery.event.id, "type": delivery.event.type, "reseller": delivery.reseller}
            fields |= {"state": tried.state if tried else delivery.state.value, "url": redact_urls(delivery.url)}
            fields |= {"ending": ended.kind.value if ended else None}
            fields |= {"answered": ended.status if ended else None}
        case CaseDue(case, is_refund):
            fields |= _case_ended(case, is_refund)
        case ScheduleDue(planned):
            fields |= scheduled(planned, one.entry)
            fields |= {"skipped": one.skipped} if one.skipped else {}
    return fields


def _case_ended(case: Case, is_refund: bool) -> dict[str, Any]:
    """A refund is a status of the transaction; a refusal changes only the case."""
    one = case.transaction
    fields: dict[str, Any] = {"kind": "status" if is_refund else "case", "trxid": one.trxid, "refid": one.refid}
    fields |= {"case": case.id, "state": case.state.value}
    if is_refund:
        fields |= {"status": STATUS_NAMES[one.result.status], "status_code": one.result.code}
    return fields


def scheduled(planned: Scheduled, entry: Entry | None) -> dict[str, Any]:
    """A change of the scenario's schedule: its kind, what it is about, and the values that a test compares."""
    match planned:
        case ScheduledDeposit():
            fields = {"kind": "deposit", "reseller": planned.reseller, "amount": number(planned.amount)}
            return fields | ({"balance": number(entry.balance)} if entry is not None else {})
        case ScheduledChange():
            fields = {"kind": "product", "product": planned.code}
            return fields | ({"reseller": planned.reseller} if planned.reseller else {})
        case ScheduledTreeChange():
            return {"kind": planned.kind.value, planned.kind.value: planned.id}
        case ScheduledKey():
            fields = {"kind": "api_key", "reseller": planned.reseller, "api_key": planned.key}
            return fields | ({"state": planned.state.value} if planned.state is not None else {})
        case ScheduledSettings():
            return {"kind": "settings", "reseller": planned.reseller, "changed": _changed(planned)}
        case ScheduledNetwork():
            return {"kind": "network", "product": planned.product, "status": planned.status.value}
        case ScheduledRule():
            return {"kind": "rule_added", "section": planned.section, "rule": planned.label or None}
        case ScheduledRemoval():
            return {"kind": "rule_removed", "rule": planned.rule}
        case ScheduledWebhook():
            fields = {"kind": "balance_webhook", "reseller": planned.reseller}
            return fields | ({"url": redact_urls(planned.url)} if planned.url else {}) | _enabled(planned)


def _changed(planned: ScheduledSettings) -> list[str]:
    others = {"callback": planned.callback, "low_balance_threshold": planned.low_balance_threshold}
    return [*planned.changes, *(name for name, value in others.items() if value is not None)]


def _enabled(planned: ScheduledWebhook) -> dict[str, Any]:
    return {} if planned.enabled is None else {"enabled": planned.enabled}
