"""The observation of a run: everything that faults can change and that verdicts depend on."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from simulator.api.routes import PATHS
from simulator.app import App
from simulator.control.result_endpoints import judge
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.transactions import SETTLED, Status, Transaction
from simulator.redaction import redact
from simulator.runtime.expectation_verdicts import verdicts
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import LifeEnding
from simulator.runtime.traffic_log import log_of
from simulator.wire.payment_answers import STATUS_NAMES

GIVEN_BACK: Final = frozenset({Status.FAILED, Status.REFUNDED})
"""The statuses of a payment that was refunded to the wallet."""


@dataclass(frozen=True, slots=True, order=True)
class OrderKey:
    """The order of a payment. `amount` has two decimals."""

    product: str
    account: str
    amount: str

    def __str__(self) -> str:
        to = f" to {self.account}" if self.account else ""
        return f"{self.product} {self.amount}{to}"


@dataclass(frozen=True, slots=True)
class SeenStep:
    """A status of a payment, `after_s` seconds after its creation. The texts come from its answer."""

    status: str
    code: int
    after_s: float
    texts: tuple[tuple[str, str], ...] = ()
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class ObservedPayment:
    """The `nth` payment of an order, from 1. `callbacks` are the statuses that callbacks reported."""

    order: OrderKey
    nth: int
    steps: tuple[SeenStep, ...]
    callbacks: tuple[str, ...] = ()


# A scenario expects these instead of warnings of the audit, since warnings do not change the exit code.
EXPECTED_OF_WARNINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "refusal-not-repeated": {
        "name": "a refused payment is not sent again as it was",
        "calls": {"method": "POST", "path": "/v2/topup", "status": 400},
        "per": "refid",
        "count": {"max": 1},
    },
}


@dataclass(slots=True)
class Observation:
    """All sandboxes of a run together. `exchanges` has the highest number of requests in any sandbox by (method, path).
    `kept` counts the payments of each order that were not refunded. `unmet` has the unmet expectations, `breaches` the
    violated obligations that count, `webhooks` the types of the events, `triggered` the labels of the rules that
    applied. `first_s` is the time from the start to the first request, by the sandbox's clock."""

    exchanges: dict[tuple[str, str], int] = field(default_factory=dict)
    payments: list[ObservedPayment] = field(default_factory=list)
    kept: Counter[OrderKey] = field(default_factory=Counter)
    unmet: dict[str, str] = field(default_factory=dict)
    breaches: dict[str, str] = field(default_factory=dict)
    webhooks: set[str] = field(default_factory=set)
    triggered: set[str] = field(default_factory=set)
    first_s: float = 0.0


@dataclass(slots=True)
class RunOutcome:
    """The end of a run. `exit_code` is None after a timeout. `output` is the end of the command's output, `duration_s`
    is wall time. `tape` is the sandbox's tape if the job wanted it and it exists."""

    exit_code: int | None
    duration_s: float
    output: str
    seen: Observation
    tape: bytes | None = None


WAITING_MAX = 16
"""The maximum number of ended sandboxes that wait in memory for their observation."""

_TEXTS = ("sn", "pin", "note", "voucherlink")


class Watch:
    """Observes sandboxes outside the event loop, since an audit takes long."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._seen = Observation()
        self._firsts_s: list[float] = []
        self._worker = ThreadPoolExecutor(1, "watch")
        self._pending: deque[Future[None]] = deque()
        app.sandboxes.on_ended = self._ended

    def _ended(self, live: LiveSandbox, ending: LifeEnding) -> None:
        self._pending.append(self._worker.submit(self._add, live.frozen_copy()))
        if len(self._pending) > WAITING_MAX:
            self._pending.popleft().result()

    def end(self) -> Observation:
        """Return the observation of all sandboxes, which are idle by now."""
        for live in self._app.sandboxes:
            self._ended(live, "")
        while self._pending:
            self._pending.popleft().result()
        self._worker.shutdown()
        self._seen.first_s = min(self._firsts_s, default=0.0)
        return self._seen

    def _add(self, life: LiveSandbox) -> None:
        seen, state, log = self._seen, life.core.state, log_of(life)
        for kind, count in self._kinds(life).items():
            seen.exchanges[kind] = max(count, seen.exchanges.get(kind, 0))
        if (first := next(iter(life.journal), None)) is not None:
            self._firsts_s.append((first.at - life.beginning.started).total_seconds())
        transactions = list(state.transactions.values())
        self._add_payments(transactions, _callback_statuses(state.callbacks))
        seen.kept.update(
            _order(transaction) for transaction in transactions if transaction.result.status not in GIVEN_BACK
        )
        seen.webhooks.update(delivery.event.type for delivery in state.deliveries)
        seen.triggered.update(exchange.fault for exchange in log.exchanges if exchange.fault)
        seen.triggered.update(exchange.rule for exchange in log.exchanges if exchange.rule)
        for verdict in verdicts(life) if life.counters.expected else ():
            if not verdict.ok:
                name, text = (redact(text, life.secrets) for text in (verdict.expectation.name, verdict.message))
                seen.unmet.setdefault(name, text)
        if log.exchanges and life.spec.is_audited:
            self._audit(life)

    def _audit(self, life: LiveSandbox) -> None:
        for verdict in judge(life, log_of(life)):
            if verdict.is_violated and (verdict.severity == "error" or verdict.id in EXPECTED_OF_WARNINGS):
                self._seen.breaches.setdefault(verdict.id, redact(verdict.findings[0], life.secrets))

    def _kinds(self, life: LiveSandbox) -> Counter[tuple[str, str]]:
        """Count the requests to existing endpoints by method and path. A `*` replaces each parameter of the path."""
        found: Counter[tuple[str, str]] = Counter()
        for exchange in life.journal:
            method, path = PATHS.documented(exchange.method, exchange.path)
            if method != "*":
                parts = ("*" if part.startswith("{") else part for part in path.split("/"))
                found[method, "/".join(parts)] += 1
        return found

    def _add_payments(self, transactions: list[Transaction], reported: dict[str, list[str]]) -> None:
        """Add the payments that no other sandbox has seen yet."""
        counted: Counter[OrderKey] = Counter()
        known = {(payment.order, payment.nth): payment for payment in self._seen.payments}
        for transaction in transactions:
            order = _order(transaction)
            counted[order] += 1
            made = ObservedPayment(
                order, counted[order], _steps(transaction), tuple(reported.get(transaction.trxid, ()))
            )
            if (order, made.nth) not in known:
                self._seen.payments.append(made)


def _order(transaction: Transaction) -> OrderKey:
    return OrderKey(transaction.product, transaction.account, f"{transaction.amount:.2f}")


def _callback_statuses(callbacks: Iterable[Callback]) -> dict[str, list[str]]:
    """Return the statuses that callbacks reported, by transaction and without duplicates."""
    found: dict[str, list[str]] = {}
    for callback in callbacks:
        statuses = found.setdefault(callback.transaction.trxid, [])
        name = STATUS_NAMES[callback.result.status]
        if name not in statuses:
            statuses.append(name)
    return found


def _steps(transaction: Transaction) -> tuple[SeenStep, ...]:
    """Return the statuses of a payment without a void: past and scheduled."""
    made = [
        SeenStep(
            STATUS_NAMES[result.status],
            result.kind.code,
            (result.at - transaction.created).total_seconds(),
            tuple((name, text) for name in _TEXTS if (text := getattr(result.texts, name))),
            result.status in SETTLED,
        )
        for result in transaction.results
        if result.kind.cause != "void"
    ]
    coming = transaction.steps[len(transaction.results) :]
    made += [
        SeenStep(STATUS_NAMES[step.status], step.code or 0, step.after.total_seconds(), (), step.status in SETTLED)
        for step in coming
        if step.after is not None
    ]
    return tuple(made)
