"""All that a sandbox knows, in one place. Only the modules of the domain change it, through `Sandbox`."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from simulator.domain.due import Item
from simulator.domain.model.agenda import Agenda
from simulator.domain.model.bills import BillKey, BillThen
from simulator.domain.model.callbacks import CallbackLog
from simulator.domain.model.cases import Case, CaseThen
from simulator.domain.model.catalog import Catalog
from simulator.domain.model.delivery_log import DeliveryLog
from simulator.domain.model.faults import FaultThen
from simulator.domain.model.limits import Nonces, RequestRates
from simulator.domain.model.network import Network
from simulator.domain.model.notifications import NotificationLog
from simulator.domain.model.outcomes import Noted
from simulator.domain.model.resellers import ApiKey, Reseller, User
from simulator.domain.model.rules import Rule, RuleBook
from simulator.domain.model.scenario import (
    Limits,
    Scenario,
)
from simulator.domain.model.transactions import STATUS_CODES, PaymentThen, Transaction
from simulator.domain.model.webhooks import Webhook


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
        self.payments: RuleBook[PaymentThen]
        self.voids: RuleBook[CaseThen]
        self.disputes: RuleBook[CaseThen]
        self.bills: RuleBook[BillThen]
        # A fault is tried once a request: before the body is read, or after it when its `when` needs the body.
        self.early_faults: RuleBook[FaultThen]
        self.body_faults: RuleBook[FaultThen]
        rule_books(self, scenario)
        self.network = Network(scenario.network, started)
        self.cases: dict[str, list[Case]] = {}
        self.cases_made = 0
        self.bill_payments: dict[BillKey, list[Transaction]] = {}
        self.agenda: Agenda[Item] = Agenda()
        self.callbacks = CallbackLog(scenario.limits.callbacks)
        self.callbacks_made = 0
        self.deliveries = DeliveryLog(scenario.limits.deliveries, scenario.limits.deliveries_bytes)
        self.catalog_webhook = Webhook()
        self.catalog_changes = 0
        self.notifications = NotificationLog(scenario.limits.notifications)
        self.keys_made = 0
        self.noted: Counter[Noted] = Counter()  # what coverage counts and nothing else remembers
        limits = scenario.limits
        self.nonces_by_reseller = self.assumes("nonce-scope", "reseller")
        self.nonces = Nonces(limits.nonce_window, limits.timestamp_tolerance_s, limits.nonces)
        self.rates = request_rates(limits)
        self.codes = status_codes(scenario)

    def books(self) -> tuple[RuleBook[Any], ...]:
        """The rules of every section; those of `faults` are in two books."""
        return self.payments, self.voids, self.disputes, self.bills, self.early_faults, self.body_faults

    def sections(self) -> tuple[tuple[str, RuleBook[Any]], ...]:
        """The books with the names of their sections, in the order of a scenario."""
        names = ("payments", "voids", "disputes", "bills", "faults", "faults")
        return tuple(zip(names, self.books(), strict=True))

    def book_for(self, section: str, rule: Rule[Any]) -> RuleBook[Any]:
        """Where a rule of this section belongs."""
        if section == "faults":
            return self.body_faults if rule.then.needs_body else self.early_faults
        sections: Mapping[str, RuleBook[Any]] = {
            "payments": self.payments,
            "voids": self.voids,
            "disputes": self.disputes,
            "bills": self.bills,
        }
        return sections[section]

    def is_magic(self, account: str) -> bool:
        """True when the account's last digits choose what happens to its payments."""
        return self.payments.is_magic(account) or self.body_faults.is_magic(account)

    def assumes(self, assumption: str, choice: object) -> bool:
        """True when the scenario chose `choice` for this assumption of the register."""
        return self.scenario.assume.get(assumption) == choice


def rule_books(state: State, scenario: Scenario) -> None:
    """Give a sandbox the rules of a scenario, with nothing counted yet."""
    seed, magic = state.seed, scenario.magic
    state.payments = RuleBook(seed, scenario.payments, magic.of("payments"))
    state.voids = RuleBook(seed, scenario.voids, magic.of("voids"))
    state.disputes = RuleBook(seed, scenario.disputes, magic.of("disputes"))
    state.bills = RuleBook(seed, scenario.bills, magic.of("bills"))
    state.early_faults = RuleBook(seed, _faults(scenario, needs_body=False))
    state.body_faults = RuleBook(seed, _faults(scenario, needs_body=True), magic.of("faults"))


def request_rates(limits: Limits) -> RequestRates | None:
    """What counts the requests of addresses; None for no limit."""
    if limits.requests_per_interval is None:
        return None
    return RequestRates(limits.requests_per_interval, limits.rate_limit_interval, limits.rate_limit_block)


def status_codes(scenario: Scenario) -> Mapping[str, int]:
    """The status code of each status and refusal (SPEC 7.3)."""
    own = scenario.assume.get("payment-status-codes")
    return {**STATUS_CODES, **own} if isinstance(own, Mapping) else STATUS_CODES


def _faults(scenario: Scenario, *, needs_body: bool) -> tuple[Rule[FaultThen], ...]:
    return tuple(rule for rule in scenario.faults if rule.then.needs_body is needs_body)
