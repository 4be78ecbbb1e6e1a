"""The state machine of a sandbox, which is an isolated copy of the service. Only `LiveSandbox` commands it.

Every change is a command (`commands`), including counted requests, the passing of time and the results of network work.
`apply` finds the command's handler in `_HANDLERS`, at the end of this module, and the handler changes the `State`. The
time of commands never decreases. Calls never await, so each is atomic. Start and commands alone determine the state.
"""

from collections.abc import Callable
from datetime import datetime
from itertools import chain
from typing import Any

from simulator.domain import commands
from simulator.domain.commands import Command, CountFault, CountRequest, PassTime, ReturnNonce, SpendNonce
from simulator.domain.handlers import (
    bill_lookup,
    callback_jobs,
    case_requests,
    due_items,
    payment_creation,
    reseller_changes,
    scenario_reload,
    webhook_jobs,
)
from simulator.domain.model.domain_events import DomainEvent
from simulator.domain.model.scenario import Compiler, Scenario
from simulator.domain.model.schedule import due_at
from simulator.domain.reports import invariants
from simulator.domain.state import State


class Sandbox:
    """The state machine of a sandbox. Callers may read `state`, never write it."""

    def __init__(
        self, scenario: Scenario, seed: int, started: datetime, key_scope: str = "", compiler: Compiler | None = None
    ) -> None:
        self.state = State(scenario, seed, started, key_scope, compiler)
        self.state.catalog_webhook = webhook_jobs.initial_webhook(self.state, scenario.webhooks.catalog)
        for reseller in scenario.resellers:
            reseller_changes.create_reseller(self.state, reseller)
        for item in scenario.schedule:
            self.state.agenda.add(due_at(item.at, started), item)

    @classmethod
    def empty(
        cls, scenario: Scenario, seed: int, started: datetime, key_scope: str = "", compiler: Compiler | None = None
    ) -> "Sandbox":
        """Return a sandbox without resellers and with an empty agenda, to restore a snapshot into."""
        sandbox = cls.__new__(cls)
        sandbox.state = State(scenario, seed, started, key_scope, compiler)
        return sandbox

    def watch(self, listener: Callable[[DomainEvent], None]) -> None:
        """Publish all events to this listener alone from now on. A listener must not change the sandbox."""
        self.state.publish = listener

    def apply(self, command: Command, now: datetime) -> Any:
        """Execute a command, and return its answer, whose type the command's type determines.

        Raise `DomainError`, or `ScenarioError` for a document that a command carries. The sandbox is then unchanged,
        but for its time.
        """
        kind, state = type(command), self.state
        if kind is not PassTime:  # its handler advances the time itself, from item to item
            if now > state.now:
                state.now = now
            else:
                now = state.now
        return _HANDLERS[kind](state, command, now)

    def violations(self) -> list[str]:
        """Return the violated invariants of the ledger and the transactions, checking all records."""
        return list(chain.from_iterable(invariants.violations(self.state)))


# Handlers of commands that only pass their values to the model. The other handlers are in `handlers`.


def _count_request(state: State, command: CountRequest, now: datetime) -> bool:
    """Count a request of an address (SPEC 8); return whether the rate limit blocks it."""
    return state.rates is not None and not state.rates.allow(command.address, now)


def _spend_nonce(state: State, command: SpendNonce, now: datetime) -> bool:
    """Check and spend a nonce (SPEC 3.6); return False when it was spent recently."""
    scope = command.reseller if state.nonces_by_reseller else command.api_key
    return state.nonces.spend(scope, command.nonce, command.timestamp_s, now, command.signing_s)


def _count_fault(state: State, command: CountFault, now: datetime) -> None:
    state.faults.count(command.matched, command.chosen, command.values, is_selected=command.is_selected)


def _return_nonce(state: State, command: ReturnNonce, now: datetime) -> None:
    state.nonces.take_back(command.reseller if state.nonces_by_reseller else command.api_key, command.nonce)


_HANDLERS: dict[type, Callable[[State, Any, datetime], Any]] = {
    **due_items.SCHEDULABLE,
    commands.CreatePayment: payment_creation.pay,
    commands.AddReseller: reseller_changes.add_reseller,
    commands.AddApiKey: reseller_changes.add_api_key,
    commands.RevokeApiKey: reseller_changes.revoke_api_key,
    commands.SetWebhook: webhook_jobs.set_webhook,
    commands.EnableWebhook: webhook_jobs.enable_webhook,
    commands.RotateWebhookSecret: webhook_jobs.rotate_secret,
    commands.RemoveWebhook: webhook_jobs.remove_webhook,
    commands.ReplayDelivery: webhook_jobs.replay_delivery,
    commands.SendCallback: callback_jobs.send_now,
    commands.OpenCase: case_requests.open_case,
    commands.LookUpBill: bill_lookup.look_up,
    commands.LoadScenario: scenario_reload.load,
    CountRequest: _count_request,
    SpendNonce: _spend_nonce,
    ReturnNonce: _return_nonce,
    CountFault: _count_fault,
    commands.EndAttempt: due_items.end_attempt,
    PassTime: due_items.pass_time,
    commands.RecordTime: lambda *_: None,  # `apply` has recorded it
}
