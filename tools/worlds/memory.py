"""The record of each life of a sandbox: acknowledged payments, and the progress of the checks. A life begins with
the sandbox and with each reset."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.webhooks import Delivery
from simulator.domain.sandbox import Sandbox
from simulator.runtime.journal import Journal
from simulator.runtime.live_sandbox import LiveSandbox


@dataclass
class Payment:
    """A payment that was answered: its first answer, and the final status that the client knows, if any."""

    refid: str
    product: str
    account: str
    amount: Decimal
    cost: Decimal
    rank: int = 0
    final: int = 0


@dataclass
class Account:
    """The checked part of a reseller's ledger: the balance of its entries, debited and refunded payments, deposits
    that are not in the wallet yet, and the total of the acknowledged ones."""

    opening: Decimal
    balance: Decimal
    entries: int = 0
    debits: dict[str, Decimal] = field(default_factory=dict)
    refunds: set[str] = field(default_factory=set)
    deposits: Counter[Decimal] = field(default_factory=Counter)
    deposited: Decimal = Decimal(0)
    acknowledged: dict[str, Payment] = field(default_factory=dict)


@dataclass
class Life:
    """One life of a sandbox.

    `nonces` maps accepted nonces to their time and timestamp. `ended_at` has the ends of a job's attempts. `revoked`
    keys stay revoked unless a loaded scenario changes them. `shut` resellers allow no address. Faults apply
    `fault_times` times. `tokens` are the latest of each reseller. `gone` requests were open at a kill. A life that
    `is_rebuilt` is checked as a whole.
    """

    live: LiveSandbox
    core: Sandbox
    journal: Journal
    accounts: dict[str, Account] = field(default_factory=dict)
    nonces: dict[tuple[str, str], tuple[datetime, int]] = field(default_factory=dict)
    now: datetime | None = None
    answers: int = 0
    events_read: int = 0
    is_rebuilt: bool = False
    gone: int = 0
    ended_at: dict[str, list[datetime]] = field(default_factory=dict)
    statuses: dict[str, list[str]] = field(default_factory=dict)
    replays: Counter[str] = field(default_factory=Counter)
    products: dict[str, bool] = field(default_factory=dict)
    revoked: dict[str, bool] = field(default_factory=dict)
    shut: dict[str, bool] = field(default_factory=dict)
    fault_times: dict[str, int] = field(default_factory=dict)
    faults_met: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, str] = field(default_factory=dict)

    def account(self, reseller: Reseller) -> Account:
        """Return the account of a reseller, which begins with its opening balance."""
        known = self.accounts.get(reseller.code)
        if known is None:
            opening = reseller.wallet.opening
            known = self.accounts[reseller.code] = Account(opening, opening)
        return known

    def gone_on(self, live: LiveSandbox) -> "Life":
        """Return the life of a rebuilt sandbox: acknowledged payments stay, counters start at zero. Past records
        count as checked, but for the ledger, whose last entries may be new."""
        state = live.core.state
        found = replace(self, live=live, core=live.core, journal=live.journal, answers=live.journal.last_n, now=None)
        found.events_read, found.is_rebuilt = live.events.count, True
        found.gone += len(list(self.live.tape.waiting_requests()))
        found.products = {code: one.is_active for code, one in state.catalog.products.items()}
        found.statuses = {
            one.trxid: [result.status.value for result in one.results] for one in state.transactions.values()
        }
        waiting = [item for _, _, item in state.agenda.waiting() if isinstance(item, Callback | Delivery)]
        in_air: list[Any] = [send.job for send in state.in_flight.values()]
        for job in (*state.callbacks, *state.deliveries, *waiting, *in_air):
            ended = [attempt.at for attempt in job.attempts if attempt.result is not None]
            known = self.ended_at.get(job.id, [])[: len(ended)]
            found.ended_at[job.id] = [*known, *ended[len(known) :]]
        return found


@dataclass
class Awaited:
    """A request that waits until the journal reaches a number, with a timeout."""

    task: "asyncio.Task[Any]"
    journal: Journal
    n: int

    def is_over(self) -> bool:
        """Return True when the wait must have ended."""
        return self.task.done() or self.journal.last_n >= self.n

    def problem(self) -> list[str]:
        """Return a problem when the request it waited for arrived without waking it."""
        return [] if self.task.done() else [f"request {self.n} of the journal was awaited, came, and woke nobody"]
