"""A sandbox: one isolated copy of the service. The only way into the domain.

`apply` carries out a command, `fire_due` lets happen what has come due, `delivered` takes back the outcome of
network work. Time comes in with each of them and never goes backwards. Nothing here awaits, so that each call is one
step; the calls in their order are all that a sandbox depends on.
"""

from collections.abc import Callable
from dataclasses import dataclass
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
    CreatePayment,
    Credit,
    EnableWebhook,
    LoadScenario,
    LookUpBill,
    OpenCase,
    RemoveRule,
    RemoveWebhook,
    ReplayDelivery,
    RevokeApiKey,
    RotateWebhookSecret,
    SetCallback,
    SetNetwork,
    SetThreshold,
    SetWebhook,
)
from simulator.domain.due import (
    AttemptDue,
    CaseDue,
    DeliveryDue,
    DepositDue,
    Item,
    ProductDue,
    StepDue,
    TreeDue,
    due_of,
)
from simulator.domain.errors import Conflict, Unknown
from simulator.domain.handlers import (
    alerts,
    bills,
    callbacks,
    cases,
    catalog,
    deliveries,
    payments,
    reload,
    resellers,
    timeline,
    webhooks,
)
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.effects import Outcome, Send
from simulator.domain.model.faults import FaultThen
from simulator.domain.model.rules import Fields, Rule
from simulator.domain.model.scenario import Scenario
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Delivery
from simulator.domain.reports import invariants
from simulator.domain.state import State


@dataclass(frozen=True, slots=True)
class Fired:
    """Something of the agenda that happened, `at` which time. `send` is what has to be delivered for it, `entry` what
    it did to a wallet by itself."""

    at: datetime
    item: Item
    send: Send | None = None
    entry: Entry | None = None


class Sandbox:
    """The state machine of one sandbox. `state` may be read from outside, never written."""

    def __init__(self, scenario: Scenario, seed: int, started: datetime, key_scope: str = "") -> None:
        self.state = State(scenario, seed, started, key_scope)
        self.state.catalog_webhook = webhooks.opened(self.state, scenario.webhooks.catalog)
        for reseller in scenario.resellers:
            resellers.open_account(self.state, reseller)
        for one in scenario.schedule:
            self.state.agenda.add(started + one.at, due_of(one))

    @property
    def next_due(self) -> datetime | None:
        """When something happens next, if nothing else comes in."""
        return self.state.agenda.next_due

    def apply(self, command: Command, now: datetime) -> Any:
        """Carry out a command; the answer's type belongs to the command's. Raises `DomainError`."""
        self._see(now)
        return _HANDLERS[type(command)](self.state, command, self.state.now)

    def fire_next(self, now: datetime) -> Fired | None:
        """Let the first thing that is due by `now` happen, at the time it was due, and say what it was.

        What was passed over (a step that cannot follow) is not told. None when nothing more is due.
        """
        while (due := self.state.agenda.pop_due(now)) is not None:
            self._see(max(due.at, self.state.now))
            fired = self._fire(due.item, self.state.now)
            if fired is not None:
                return fired
        return None

    def fire_due(self, now: datetime) -> list[Fired]:
        """Let everything happen that is due by `now`, in order of time, then of insertion."""
        fired = []
        while (one := self.fire_next(now)) is not None:
            fired.append(one)
        self._see(now)
        return fired

    def delivered(self, send: Send, outcome: Outcome, now: datetime) -> None:
        """Take back what became of a delivery."""
        self._see(now)
        match send.job:
            case Callback() as callback:
                callbacks.delivered(self.state, callback, send.attempt, outcome, self.state.now)
            case Delivery() as delivery:
                deliveries.delivered(self.state, delivery, send.attempt, outcome, self.state.now)

    def spend_nonce(
        self, reseller: str, api_key: str, nonce: bytes, timestamp_s: int, now: datetime, signing_s: float
    ) -> bool:
        """Check and spend a nonce in one step; False when it was spent lately (SPEC 3.6). `signing_s` is the Unix time
        that the request's timestamp was compared with."""
        self._see(now)
        state = self.state
        scope = reseller if state.nonces_by_reseller else api_key
        return state.nonces.spend(scope, nonce, timestamp_s, state.now, signing_s)

    def blocks(self, address: str, now: datetime) -> bool:
        """Count one request of an address; True when the request rate has it blocked (SPEC 8)."""
        rates = self.state.rates
        return rates is not None and not rates.admit(address, now)

    def fault(self, facts: Fields, wanted: str, *, needs_body: bool) -> Rule[FaultThen] | None:
        """The fault that a request meets before its body was read, or after it, if any."""
        book = self.state.body_faults if needs_body else self.state.early_faults
        return book.choose(facts, wanted)

    def has_rule(self, name: str) -> bool:
        """True when a request may ask for the rule `name`."""
        return bool(name) and any(book.named(name) for book in self.state.books())

    def violations(self) -> list[str]:
        """What the ledger and the transactions hold against themselves; empty when all is well."""
        return invariants.violations(self.state)

    def _see(self, now: datetime) -> None:
        if now > self.state.now:
            self.state.now = now

    def _fire(self, item: Item, now: datetime) -> Fired | None:
        match item:
            case StepDue():
                return Fired(now, item) if timeline.step_due(self.state, item, now) else None
            case AttemptDue(callback):
                return Fired(now, item, callbacks.attempt_due(callback, now))
            case DeliveryDue(delivery):
                return Fired(now, item, deliveries.attempt_due(self.state, delivery, now))
            case CaseDue():
                cases.case_due(self.state, item, now)
                return Fired(now, item)
            case DepositDue(deposit):
                command = Credit(deposit.reseller, deposit.amount, deposit.description, deposit.type)
                return Fired(now, item, entry=resellers.credit(self.state, command, now))
            case ProductDue(change):
                wanted = ChangeProduct(change.code, change.changes, change.options, change.reseller)
                catalog.change_product(self.state, wanted, now)
                return Fired(now, item)
            case TreeDue(change):
                catalog.change_tree(self.state, ChangeTree(change.kind, change.id, change.changes), now)
                return Fired(now, item)


def _add_rule(state: State, command: AddRule, now: datetime) -> None:
    _refuse_second(state, command.rule)
    state.book_for(command.section, command.rule).put_first(command.rule)


def _refuse_second(state: State, rule: Rule[Any]) -> None:
    for label in filter(None, (rule.id, rule.name)):
        if any(book.named(label) for book in state.books()):
            raise Conflict("rule_exists", f"there is a rule {label!r} already", "name")


def _remove_rule(state: State, command: RemoveRule, now: datetime) -> None:
    if not any(book.remove(command.rule) for book in state.books()):
        raise Unknown("unknown_rule", f"there is no rule with the id {command.rule!r}")


def _set_network(state: State, command: SetNetwork, now: datetime) -> None:
    if command.product not in state.catalog.products:
        raise Unknown("unknown_product", f"there is no product {command.product!r} in the catalog")
    state.network.set(command.product, command.status)


_HANDLERS: dict[type, Callable[[State, Any, datetime], Any]] = {
    CreatePayment: payments.pay,
    SetCallback: resellers.set_callback,
    Credit: resellers.credit,
    SetThreshold: alerts.set_threshold,
    AddReseller: resellers.add_reseller,
    AddApiKey: resellers.add_api_key,
    RevokeApiKey: resellers.revoke_api_key,
    ChangeSettings: resellers.change_settings,
    SetWebhook: webhooks.set_webhook,
    EnableWebhook: webhooks.enable_webhook,
    RotateWebhookSecret: webhooks.rotate_secret,
    RemoveWebhook: webhooks.remove_webhook,
    ReplayDelivery: deliveries.replay,
    OpenCase: cases.open_case,
    LookUpBill: bills.look_up,
    SetNetwork: _set_network,
    ChangeProduct: catalog.change_product,
    ChangeTree: catalog.change_tree,
    AddRule: _add_rule,
    RemoveRule: _remove_rule,
    LoadScenario: reload.load,
}
