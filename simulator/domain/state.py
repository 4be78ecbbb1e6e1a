"""All that a sandbox knows, in one place. Only the modules of the domain change it, through `Sandbox`."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from simulator.domain.agenda import Agenda
from simulator.domain.callbacks import Callback, CallbackLog
from simulator.domain.catalog import Catalog
from simulator.domain.faults import FaultThen
from simulator.domain.limits import Nonces
from simulator.domain.resellers import ApiKey, Reseller, User
from simulator.domain.rules import PaymentThen, Rule, RuleBook, Step
from simulator.domain.scenario import Scenario, ScheduledChange, ScheduledDeposit
from simulator.domain.transactions import Transaction

STATUS_CODES: Mapping[str, int] = MappingProxyType(
    {
        "accepted": 1,
        "processing": 2,
        "successful": 20,
        "failed": 48,
        "refunded": 53,
        "Insufficient_Balance": 40,
        "Invalid_Product": 41,
        "Invalid_Account": 42,
        "Invalid_Extras": 43,
        "Invalid_Request": 45,
        "Refid_Conflict": 46,
        "Invalid_Denomination": 58,
    }
)


class StepDue(NamedTuple):
    """Agenda: a transaction's next status."""

    transaction: Transaction
    step: Step


class AttemptDue(NamedTuple):
    """Agenda: the next attempt of a callback."""

    callback: Callback


class DepositDue(NamedTuple):
    """Agenda: a credit of the scenario's schedule."""

    deposit: ScheduledDeposit


class ProductDue(NamedTuple):
    """Agenda: a change of a product of the scenario's schedule."""

    change: ScheduledChange


Item = StepDue | AttemptDue | DepositDue | ProductDue


class State:
    """Resellers, transactions, rules, agenda and memory of one sandbox. `now` is the latest time it has seen."""

    def __init__(self, scenario: Scenario, seed: int, started: datetime, key_scope: str = "") -> None:
        self.scenario = scenario
        self.key_scope = key_scope  # sandboxes with keys of their own draw them from this, too
        self.seed = seed
        self.started = started
        self.now = started
        self.catalog: Catalog = scenario.catalog
        self.catalog_updated = started
        self.resellers: dict[str, Reseller] = {}
        self.keys: dict[str, tuple[Reseller, ApiKey]] = {}
        self.users: dict[str, tuple[Reseller, User]] = {}
        self.transactions: dict[str, Transaction] = {}
        self.payments: RuleBook[PaymentThen] = RuleBook(seed, scenario.payments)
        # A fault is tried once a request: before the body is read, or after it when its `when` needs the body.
        self.early_faults: RuleBook[FaultThen] = RuleBook(seed, _faults(scenario, needs_body=False))
        self.body_faults: RuleBook[FaultThen] = RuleBook(seed, _faults(scenario, needs_body=True))
        self.agenda: Agenda[Item] = Agenda()
        self.callbacks = CallbackLog(scenario.limits.callbacks)
        self.callbacks_made = 0
        self.keys_made = 0
        self.nonces = Nonces(scenario.limits.nonce_window, scenario.limits.nonces)
        own_codes = scenario.assume.get("payment-status-codes")
        self.codes = {**STATUS_CODES, **own_codes} if isinstance(own_codes, Mapping) else STATUS_CODES

    def books(self) -> tuple[RuleBook[PaymentThen], RuleBook[FaultThen], RuleBook[FaultThen]]:
        """The rules of every section."""
        return self.payments, self.early_faults, self.body_faults

    def assumes(self, assumption: str, choice: object) -> bool:
        """True when the scenario chose `choice` for this assumption of the register."""
        return self.scenario.assume.get(assumption) == choice


def _faults(scenario: Scenario, *, needs_body: bool) -> tuple[Rule[FaultThen], ...]:
    return tuple(rule for rule in scenario.faults if rule.then.needs_body is needs_body)
