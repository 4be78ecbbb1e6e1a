"""What stands on a sandbox's agenda, one value for each kind of thing that happens later, and what happened."""

from dataclasses import dataclass
from datetime import datetime

import msgspec

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.effects import Send
from simulator.domain.model.scenario import Scheduled, ScheduledChange, ScheduledDeposit, ScheduledTreeChange
from simulator.domain.model.transactions import Step, Transaction
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery


class StepDue(msgspec.Struct, frozen=True):
    """Agenda: a transaction's next status; `place` is that of the step in its timeline."""

    transaction: Transaction
    step: Step
    place: int


class AttemptDue(msgspec.Struct, frozen=True):
    """Agenda: the next attempt of a callback."""

    callback: Callback


class DeliveryDue(msgspec.Struct, frozen=True):
    """Agenda: the next attempt of a webhook delivery."""

    delivery: Delivery


class DepositDue(msgspec.Struct, frozen=True):
    """Agenda: a credit of the scenario's schedule."""

    planned: ScheduledDeposit


class CaseDue(msgspec.Struct, frozen=True):
    """Agenda: the biller's last word on a void, a refund or a refusal."""

    case: Case
    is_refund: bool


class ProductDue(msgspec.Struct, frozen=True):
    """Agenda: a change of a product of the scenario's schedule."""

    planned: ScheduledChange


class TreeDue(msgspec.Struct, frozen=True):
    """Agenda: a change of a category or group of the scenario's schedule."""

    planned: ScheduledTreeChange


Item = StepDue | AttemptDue | DeliveryDue | DepositDue | CaseDue | ProductDue | TreeDue


@dataclass(frozen=True, slots=True)
class Fired:
    """Something of the agenda that happened, `at` which time. `send` is what has to be delivered for it, `entry` what
    it did to a wallet by itself."""

    at: datetime
    item: Item
    send: Send | None = None
    entry: Entry | None = None


ScheduleDue = DepositDue | ProductDue | TreeDue


def due_of(one: Scheduled) -> ScheduleDue:
    """What stands on the agenda for something of the scenario's schedule."""
    match one:
        case ScheduledDeposit():
            return DepositDue(one)
        case ScheduledChange():
            return ProductDue(one)
        case ScheduledTreeChange():
            return TreeDue(one)
