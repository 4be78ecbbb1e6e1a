"""What the control API does to a sandbox, as those see it who watch its events."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from simulator.domain.commands import (
    AddApiKey,
    AddReseller,
    AddRule,
    ChangeProduct,
    ChangeSettings,
    ChangeTree,
    Command,
    Credit,
    LoadScenario,
    RemoveRule,
    ReplayDelivery,
    RevokeApiKey,
    SendCallback,
    SetNetwork,
)
from simulator.domain.model.webhooks import ReplayRefused
from simulator.runtime.event_items import Action
from simulator.runtime.events import EventLog

ACTIONS: dict[type, tuple[str, Callable[[Any, Any], str]]] = {
    AddRule: ("rule_added", lambda command, rule: rule.id),
    RemoveRule: ("rule_removed", lambda command, _: command.rule),
    LoadScenario: ("scenario_loaded", lambda command, _: command.name),
    SetNetwork: ("network_set", lambda command, _: f"{command.product} {command.status.value}"),
    ChangeProduct: ("product_changed", lambda command, _: command.code),
    ChangeTree: ("catalog_changed", lambda command, _: f"{command.kind.value} {command.id}"),
    AddReseller: ("reseller_added", lambda command, _: command.start.code),
    ChangeSettings: ("settings_changed", lambda command, _: command.reseller),
    AddApiKey: ("api_key_added", lambda command, _: command.reseller),
    RevokeApiKey: ("api_key_revoked", lambda command, _: command.reseller),
    ReplayDelivery: ("delivery_replayed", lambda command, _: command.job),
    SendCallback: ("callback_sent", lambda command, _: command.trxid),
    Credit: ("deposited", lambda command, _: command.reseller),
}


def note_command(log: EventLog, command: Command, answer: Any, at: datetime) -> None:
    """Add the action of a command that the control API submitted, unless it was refused."""
    if not isinstance(answer, ReplayRefused):
        name, about = ACTIONS[type(command)]
        log.note(Action(name, at, about(command, answer)))
