"""All data of a sandbox. Only the domain changes it, through `Sandbox`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.domain.agenda import Agenda, AgendaItem
from simulator.domain.model.bills import BillKey, BillThen
from simulator.domain.model.callbacks import CallbackLog
from simulator.domain.model.cases import Case, CaseThen
from simulator.domain.model.catalog import Catalog
from simulator.domain.model.delivery_attempts import JobCounts, Send
from simulator.domain.model.domain_events import DomainEvent, NotificationLog
from simulator.domain.model.fault_kinds import FaultThen
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.request_limits import Nonces, RequestRates
from simulator.domain.model.resellers import ApiKey, Reseller, SecretLog, User
from simulator.domain.model.rule_book import RuleBook
from simulator.domain.model.rules import SECTIONS, AddedRule, Rule, RuleCount
from simulator.domain.model.scenario import Compiler, Limits, Scenario
from simulator.domain.model.schedule import Network
from simulator.domain.model.transactions import (
    SPELLINGS,
    STATUS_CODES,
    PaymentKind,
    PaymentThen,
    Transaction,
    Transactions,
)
from simulator.domain.model.webhooks import DeliveryLog, Webhook


class State:
    """Resellers, transactions, rules, agenda and memory of a sandbox. `now` is its latest time."""

    def __init__(
        self, scenario: Scenario, seed: int, started: datetime, key_scope: str = "", compiler: Compiler | None = None
    ) -> None:
        self.scenario = scenario
        self.compiler = compiler
        self.key_scope = key_scope  # part of the identity of unique keys
        self.seed = seed
        self.started = started
        self.now = started
        self.catalog: Catalog = scenario.catalog
        self.catalog_updated = started
        self.resellers: dict[str, Reseller] = {}
        self.keys: dict[str, tuple[Reseller, ApiKey]] = {}
        self.secrets = SecretLog()
        self.users: dict[str, tuple[Reseller, User]] = {}
        self.transactions = Transactions()
        self.payment_kinds: dict[tuple[str, str, str], PaymentKind] = {}  # the latest, by reseller, product and rule
        self.payments: RuleBook[PaymentThen]
        self.voids: RuleBook[CaseThen]
        self.disputes: RuleBook[CaseThen]
        self.bills: RuleBook[BillThen]
        self.faults: RuleBook[FaultThen]
        self._read_choices()
        self.install_rules()
        self.rules_added = 0
        self.added: dict[str, AddedRule] = {}  # run-time rules that are still in a book, by id
        self.chosen_before: Counter[str] = Counter()  # rules that left their book, by id and name
        self.network = Network(scenario.network, started)
        self.cases: dict[str, list[Case]] = {}
        self.cases_made = 0
        self.bills_paid: dict[BillKey, Decimal] = {}  # by successful payments that were not voided
        self.agenda: Agenda[AgendaItem] = Agenda()
        self.in_flight: dict[str, Send] = {}  # attempts in flight, by job
        self.callbacks = CallbackLog(scenario.limits.callbacks, scenario.limits.callbacks_bytes)
        self.callbacks_made = 0
        self.deliveries = DeliveryLog(scenario.limits.deliveries, scenario.limits.deliveries_bytes)
        self.catalog_webhook = Webhook()
        self.catalog_changes = 0
        self.callback_counts: defaultdict[str, JobCounts] = defaultdict(JobCounts)  # by reseller
        self.webhook_counts: defaultdict[str, JobCounts] = defaultdict(JobCounts)  # "" for catalog webhooks
        self.notifications = NotificationLog(scenario.limits.notifications)
        self.keys_made = 0
        self.noted: Counter[DomainOutcome] = Counter()  # outcomes that only coverage records
        self.publish: Callable[[DomainEvent], None] = lambda event: None  # the observer of the sandbox
        limits = scenario.limits
        self.nonces = Nonces(limits.nonce_window, limits.timestamp_tolerance.total_seconds(), limits.nonces)
        self.rates = _request_rates(limits)

    def _read_choices(self) -> None:
        """Read the choices that every request needs."""
        self.nonces_by_reseller = self.assumes("nonce-scope", "reseller")
        self.spelling = SPELLINGS.get(self.scenario.assume.get("refid-comparison"))  # None: compared exactly
        own = self.scenario.assume.get("payment-status-codes")
        self.codes: Mapping[str, int] = {**STATUS_CODES, **own} if isinstance(own, Mapping) else STATUS_CODES

    def follow(self, scenario: Scenario) -> None:
        """Follow the choices, the limits of requests and the network of another scenario. The logs keep their sizes."""
        before, limits = self.scenario.limits, scenario.limits
        self.scenario = scenario
        self._read_choices()
        self.nonces.bound(limits.nonce_window, limits.timestamp_tolerance.total_seconds(), limits.nonces)
        rates = ("requests_per_interval", "rate_limit_interval", "rate_limit_block")
        if any(getattr(before, name) != getattr(limits, name) for name in rates):
            self.rates = _request_rates(limits)
        self.network.follow(scenario.network)

    def install_rules(self) -> None:
        """Install the rules of the scenario with fresh counts."""
        for section, rules in self.scenario.rules.items():
            setattr(self, section, RuleBook(self.seed, rules, self.scenario.magic.of(section), self.spelling))

    @property
    def books(self) -> dict[str, RuleBook[Any]]:
        """Return the rule books of all sections by name, in the order of a scenario."""
        return {section: getattr(self, section) for section in SECTIONS}

    def has_rule(self, name: str) -> bool:
        """Return whether a request may select the rule `name`."""
        return bool(name) and any(book.by_name(name) for book in self.books.values())

    def rule_names(self) -> Iterator[str]:
        """Yield the names of all rules that a request may select."""
        return (name for book in self.books.values() for name in book.names())

    def times_chosen(self, label: str) -> int:
        """Return how often the rule with this id or name was chosen, including replaced and removed rules. A magic rule
        may be in several sections."""
        found = ((book, rule) for book in self.books.values() if (rule := book.by_name(label)) is not None)
        counts = (book.times_chosen(rule) or book.magic_chosen[rule.id] for book, rule in found)
        return self.chosen_before[label] + max(counts, default=0)

    def retire_rule(self, rule: Rule[Any], count: RuleCount) -> None:
        """Remember how often a rule was chosen before it leaves its book."""
        self.added.pop(rule.id, None)
        for label in dict.fromkeys(filter(None, (rule.id, rule.name))):
            self.chosen_before[label] += count.chosen

    def is_magic(self, account: str) -> bool:
        """Return whether the account's last digits select a magic rule."""
        return self.payments.is_magic(account) or self.faults.is_magic(account)

    def assumes(self, assumption: str, choice: object) -> bool:
        """Return whether the scenario chose `choice` for this assumption of the register."""
        return self.scenario.assume.get(assumption) == choice


def _request_rates(limits: Limits) -> RequestRates | None:
    """Return the rate limiter of addresses; None for no limit."""
    if limits.requests_per_interval is None:
        return None
    return RequestRates(limits.requests_per_interval, limits.rate_limit_interval, limits.rate_limit_block)


def payment_with(state: State, reseller: Reseller, refid: str) -> Transaction | None:
    """Return the reseller's payment with this refid, else the first whose refid the scenario compares as equal."""
    found = reseller.refids.get(refid)
    spelling = state.spelling
    if found is not None or spelling is None:
        return found
    wanted = spelling(refid)
    return next((paid for known, paid in reseller.refids.items() if spelling(known) == wanted), None)
