"""What stands on a sandbox's agenda: one value for each kind of thing that happens later."""

from typing import NamedTuple

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.scenario import Scheduled, ScheduledChange, ScheduledDeposit, ScheduledTreeChange
from simulator.domain.model.transactions import Step, Transaction
from simulator.domain.model.webhooks import Delivery


class StepDue(NamedTuple):
    """Agenda: a transaction's next status; `place` is that of the step in its timeline."""

    transaction: Transaction
    step: Step
    place: int


class AttemptDue(NamedTuple):
    """Agenda: the next attempt of a callback."""

    callback: Callback


class DeliveryDue(NamedTuple):
    """Agenda: the next attempt of a webhook delivery."""

    delivery: Delivery


class DepositDue(NamedTuple):
    """Agenda: a credit of the scenario's schedule."""

    deposit: ScheduledDeposit


class CaseDue(NamedTuple):
    """Agenda: the biller's last word on a void, a refund or a refusal."""

    case: Case
    is_refund: bool


class ProductDue(NamedTuple):
    """Agenda: a change of a product of the scenario's schedule."""

    change: ScheduledChange


class TreeDue(NamedTuple):
    """Agenda: a change of a category or group of the scenario's schedule."""

    change: ScheduledTreeChange


Item = StepDue | AttemptDue | DeliveryDue | DepositDue | CaseDue | ProductDue | TreeDue
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
