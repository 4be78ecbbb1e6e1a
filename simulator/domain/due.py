"""The items of a sandbox's agenda, one type for each kind of scheduled work, and the record of what happened."""

from datetime import datetime

import msgspec

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.effects import Send
from simulator.domain.model.schedule import Scheduled
from simulator.domain.model.transactions import Step, Transaction
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery


class StepDue(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Agenda: the next status of the transaction with this number; `place` is the index of the step in its timeline."""

    number: int
    place: int


class CallbackDue(msgspec.Struct, frozen=True, gc=False):
    """Agenda: the next attempt of a callback."""

    callback: Callback


class DeliveryDue(msgspec.Struct, frozen=True):
    """Agenda: the next attempt of a webhook delivery."""

    delivery: Delivery


class ScheduleDue(msgspec.Struct, frozen=True):
    """Agenda: a change scheduled by the scenario."""

    planned: Scheduled


class CaseDue(msgspec.Struct, frozen=True):
    """Agenda: the biller's final answer to a void, a refund or a refusal."""

    case: Case
    is_refund: bool


AgendaItem = StepDue | CallbackDue | DeliveryDue | CaseDue | ScheduleDue


class StepTaken(msgspec.Struct, frozen=True, gc=False):
    """A step that happened to a transaction."""

    transaction: Transaction
    step: Step


Happened = StepTaken | CallbackDue | DeliveryDue | CaseDue | ScheduleDue


class Fired(msgspec.Struct, frozen=True):
    """What happened of the agenda `at` this time. `send` is the attempt it requires, `entry` the ledger entry it
    wrote; `skipped` says why it could not be carried out."""

    at: datetime
    item: Happened
    send: Send | None = None
    entry: Entry | None = None
    skipped: str = ""
