"""The classes whose values a snapshot writes by their members: a closed list, so that nothing else is ever made."""

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final

from simulator.domain.commands import AddRule
from simulator.domain.due import CallbackDue, CaseDue, DeliveryDue, ScheduleDue
from simulator.domain.model import (
    bills,
    callbacks,
    cases,
    catalog,
    happenings,
    inboxes,
    job_counts,
    network,
    notifications,
    outcomes,
    resellers,
    rule_counts,
    schedule,
    transactions,
    tree,
    wallet,
    webhooks,
    windows,
)
from simulator.runtime import event_items
from simulator.traffic import seen

KINDS: Final[dict[str, type]] = {
    one.__name__: one
    for one in (
        AddRule, CaseDue, CallbackDue, DeliveryDue, ScheduleDue, bills.BillProfile, callbacks.CallbackConfig,
        cases.Case, catalog.Money, catalog.DataSource, catalog.FormField, catalog.Source, catalog.Fulfillment,
        catalog.Discount, catalog.Adjustment, catalog.Option, catalog.Receipt, catalog.Product, catalog.Overlay,
        happenings.Attempted, inboxes.InboxReply,
        inboxes.TimedReply, inboxes.InboxProgram, job_counts.JobCounts, notifications.Notification,
        resellers.DelayedSwitch, resellers.ApiKey, resellers.User, resellers.Settings, rule_counts.RuleCount,
        schedule.ScheduledDeposit, schedule.ScheduledChange, schedule.ScheduledTreeChange, schedule.ScheduledKey,
        schedule.ScheduledSettings, schedule.ScheduledNetwork, schedule.ScheduledRule, schedule.ScheduledRemoval,
        schedule.ScheduledWebhook, transactions.Step, transactions.Distortion, transactions.Result, tree.Category,
        tree.Group, webhooks.Webhook, webhooks.BalanceAdded, webhooks.CatalogEntry, webhooks.Event, windows.TimeOfDay,
        windows.Window, event_items.Action,
    )
} | {"SeenNotification": seen.Notification}  # fmt: skip

ENUMS: Final[dict[str, type[Enum]]] = {
    one.__name__: one
    for one in (
        bills.BillField, callbacks.CallbackState, cases.CaseKind, cases.CaseState,
        network.NetworkStatus, notifications.NotificationKind, outcomes.Noted, resellers.KeyState, transactions.Status,
        transactions.Reason, tree.TreeKind, wallet.EntryType, webhooks.DeliveryState,
    )
}  # fmt: skip

NAMES: Final[dict[type, str]] = {kind: name for name, kind in (KINDS | ENUMS).items()}


@cache
def members(kind: Any) -> tuple[str, ...]:
    """The names of what a value of this class is made from."""
    if is_dataclass(kind):
        return tuple(one.name for one in fields(kind) if one.init)
    found: tuple[str, ...] = kind.__struct_fields__  # the others are structs
    return found


@cache
def is_frozen(kind: Any) -> bool:
    """True for a class whose values never change, so that equal ones may be one."""
    config: Any = getattr(kind, "__dataclass_params__", None) or getattr(kind, "__struct_config__", None)
    return bool(config is not None and config.frozen)
