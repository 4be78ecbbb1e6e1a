"""Applies commands that are not requests of the reseller API, and records them on the tape."""

from collections.abc import Callable, Iterable
from datetime import datetime
from enum import Enum
from hashlib import blake2b
from typing import Any

import msgspec

from simulator.domain.agenda import AgendaResult
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
from simulator.domain.errors import DomainError
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.catalog import ProductChange, TreeChange
from simulator.domain.model.resellers import ApiKey, Reseller, Settings
from simulator.domain.model.rules import Rule
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery, DeliveryLog, ReplayRefused
from simulator.persistence.tape.entries import CommandApplied, Due
from simulator.persistence.tape.tape import ENTRY_BYTES, Tape
from simulator.runtime.courier import Courier
from simulator.runtime.events import Action, EventLog
from simulator.runtime.traces import Trace, TraceContext, passed_on
from simulator.scenario.reading.nodes import ScenarioError
from simulator.wire.catalog_answers import product_body, tree_part
from simulator.wire.formats import encode

DONE = "done"
SCENARIO = "scenario"  # the code of a scenario that is not accepted


def answer_text(answer: object) -> str:
    """Return the answer of a command as text; it contains texts of clients and secrets as digests."""
    match answer:
        case Entry():
            return f"entry {answer.id}: {answer.type.value} {answer.amount}, balance {answer.balance}"
        case Callback():
            return f"callback {answer.id}"
        case Delivery():
            return f"delivery {answer.id}"
        case ApiKey():
            return f"api key {digest([answer.key, answer.secret, answer.state.value])}"
        case Reseller():
            return f"reseller {digest([answer.code, str(answer.wallet.balance), [key.key for key in answer.keys]])}"
        case Settings():
            return f"settings {digest(msgspec.to_builtins(answer))}"
        case ProductChange():
            options = [(option.field_id, option.after.code, option.after.is_active) for option in answer.options]
            return f"product {digest([answer.changed, options, encode(product_body(answer.after))])}"
        case TreeChange():
            return f"tree {digest([answer.changed, encode(tree_part(answer.after))])}"
        case Rule():
            return f"rule {digest(answer.label)}"
        case Enum():
            return str(answer.value)
    return DONE


def refusal_text(code: str) -> str:
    """Return the recorded text for a refused command."""
    return f"refused: {code}"


def digest(content: object) -> str:
    """Return a short digest of plain content, the same in every process."""
    return blake2b(msgspec.json.encode(content, order="sorted"), digest_size=8).hexdigest()


DUE_BYTES = 150
"""The approximate memory of an attempt that an entry made due."""


def apply_logged(
    apply: Callable[[Command, datetime], Any],
    command: Command,
    now: datetime,
    tape: Tape,
    courier: Courier,
    deliveries: DeliveryLog,
    trace: Trace,
) -> Any:
    """Return the answer to a command and record both in the same turn, even if refused. The callback or the deliveries
    that a command begins belong to its trace."""
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


def due_of(fired: Iterable[AgendaResult]) -> Due:
    """Return the attempts that became due by these events."""
    return tuple([(item.send.job.id, item.send.attempt.number) for item in fired if item.send is not None])


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


def publish_command(log: EventLog, command: Command, answer: Any, at: datetime) -> None:
    """Publish the action of a command that the control API submitted, unless it was refused."""
    if not isinstance(answer, ReplayRefused):
        name, about = ACTIONS[type(command)]
        log.note(Action(name, at, about(command, answer)))
