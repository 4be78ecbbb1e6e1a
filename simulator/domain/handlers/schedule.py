"""Carries out what the scenario schedules, by the handlers of the commands that do the same."""

from datetime import datetime

from simulator.domain.commands import (
    AddRule,
    ChangeProduct,
    ChangeSettings,
    ChangeTree,
    Credit,
    EnableWebhook,
    RemoveRule,
    SetCallback,
    SetNetwork,
    SetThreshold,
    SetWebhook,
)
from simulator.domain.due import Fired, ScheduleDue
from simulator.domain.errors import DomainError, Unknown
from simulator.domain.handlers import alerts, catalog, resellers, rules, webhooks
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
from simulator.domain.queries import reseller_of
from simulator.domain.state import State


def carry_out(state: State, due: ScheduleDue, now: datetime) -> Fired:
    """Do what is due. What the sandbox refuses by then is skipped, with the reason, and nothing has changed.

    A rule's document compiles, since the scenario did: products and resellers that it names do not go away.
    """
    try:
        return Fired(now, due, entry=_carry_out(state, due.planned, now))
    except DomainError as refusal:
        return Fired(now, due, skipped=str(refusal))


def _carry_out(state: State, planned: Scheduled, now: datetime) -> Entry | None:
    match planned:
        case ScheduledDeposit():
            command = Credit(planned.reseller, planned.amount, planned.description, planned.type)
            return resellers.credit(state, command, now)
        case ScheduledChange():
            wanted = ChangeProduct(planned.code, planned.changes, planned.options, planned.reseller)
            catalog.change_product(state, wanted, now)
        case ScheduledTreeChange():
            catalog.change_tree(state, ChangeTree(planned.kind, planned.id, planned.changes), now)
        case ScheduledKey():
            reseller = reseller_of(state, planned.reseller)
            resellers.put_key(state, reseller, planned.key, planned.secret, planned.state)
        case ScheduledSettings():
            _change_settings(state, planned, now)
        case ScheduledNetwork():
            catalog.set_network(state, SetNetwork(planned.product, planned.status), now)
        case ScheduledRule():
            rules.add_rule(state, AddRule(planned.section, planned.document), now)
        case ScheduledRemoval():
            rules.remove_rule(state, RemoveRule(_rule_id(state, planned.rule)), now)
        case ScheduledWebhook():
            _change_webhook(state, planned, now)
    return None


def _change_settings(state: State, planned: ScheduledSettings, now: datetime) -> None:
    code = planned.reseller
    resellers.change_settings(state, ChangeSettings(code, planned.changes), now)
    if planned.callback is not None:
        resellers.set_callback(state, SetCallback(code, planned.callback.url, planned.callback.method), now)
    if planned.low_balance_threshold is not None:
        alerts.set_threshold(state, SetThreshold(code, planned.low_balance_threshold), now)


def _rule_id(state: State, label: str) -> str:
    """The id of the rule with this name or id. Raises `Unknown`."""
    listed = (rule for book in state.books.values() for rule, _ in book.listed())
    found = next((rule.id for rule in listed if label in (rule.name, rule.id)), None)
    if found is None:
        raise Unknown("unknown_rule", f"there is no rule {label!r}")
    return found


def _change_webhook(state: State, planned: ScheduledWebhook, now: datetime) -> None:
    webhook = reseller_of(state, planned.reseller).webhook
    if not (planned.url or webhook.url):
        raise Unknown("no_webhook", f"reseller {planned.reseller!r} has no balance webhook")
    if planned.url:
        webhooks.set_webhook(state, SetWebhook(planned.reseller, planned.url), now)
    if planned.secret:
        webhooks.put_secret(state, webhook, planned.secret, now)
    if planned.enabled is not None:
        webhooks.enable_webhook(state, EnableWebhook(planned.reseller, planned.enabled), now)
