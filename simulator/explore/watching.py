"""Watches the sandboxes of a run: what each of them has seen, when it ends or when the run does."""

from collections import Counter, deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from simulator.api.routes import PathTable, routes
from simulator.app import App
from simulator.audit.traffic import Rate
from simulator.control.audit import judged, rate_of
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.transactions import SETTLED, Transaction
from simulator.explore.seen import GIVEN_BACK, Breach, Order, Seen, SeenPayment, SeenStep
from simulator.redaction import redact
from simulator.runtime.expectations import verdicts
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandbox_start import Ending
from simulator.runtime.seen import log_of
from simulator.wire.payments import STATUS_NAMES

PAYMENTS_MAX = 1000
"""So many payments of one sandbox are struck by faults; what becomes of the others is judged all the same."""

WAITING_MAX = 16
"""So many sandboxes that have ended may wait for being read: they are kept in memory until then."""

_TEXTS = ("sn", "pin", "note", "voucherlink")


class Watch:
    """Reads each sandbox beside the event loop, since an audit takes long."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._seen = Seen()
        self._firsts_s: list[float] = []
        self._table = PathTable(routes())
        self._worker = ThreadPoolExecutor(1, "watch")
        self._pending: deque[Future[None]] = deque()
        app.sandboxes.on_ended = self._ended

    def _ended(self, live: LiveSandbox, ending: Ending) -> None:
        self._pending.append(self._worker.submit(self._add, live.life()))
        if len(self._pending) > WAITING_MAX:
            self._pending.popleft().result()

    def end(self) -> Seen:
        """What all have seen. The sandboxes are idle by now."""
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
        if (first := next(iter(life.life_journal), None)) is not None:
            self._firsts_s.append((first.at - life.beginning.started).total_seconds())
        transactions = list(state.transactions.values())
        self._add_payments(transactions[:PAYMENTS_MAX], _told(state.callbacks))
        seen.kept.update(_order(one) for one in transactions if one.result.status not in GIVEN_BACK)
        seen.struck.update(one.fault for one in log.exchanges if one.fault)
        seen.struck.update(one.rule for one in log.exchanges if one.rule)
        for verdict in verdicts(life) if life.counters.expected else ():
            if not verdict.ok:
                name, text = (redact(one, life.secrets) for one in (verdict.expectation.name, verdict.message))
                seen.unmet.setdefault(name, text)
        if log.exchanges and life.spec.is_audited:
            self._audit(life, rate_of(life))

    def _audit(self, life: LiveSandbox, rate: Rate | None) -> None:
        for one in judged(log_of(life), rate):
            if one.is_violated:
                breach = Breach(one.id, one.severity == "error", redact(one.findings[0], life.secrets))
                self._seen.breaches.setdefault(one.id, breach)

    def _kinds(self, life: LiveSandbox) -> Counter[tuple[str, str]]:
        """The requests to endpoints that exist, by method and path; a parameter of the path is a `*`."""
        found: Counter[tuple[str, str]] = Counter()
        for one in life.life_journal:
            method, path = self._table.documented(one.method, one.path)
            if method != "*":
                parts = ("*" if part.startswith("{") else part for part in path.split("/"))
                found[method, "/".join(parts)] += 1
        return found

    def _add_payments(self, transactions: list[Transaction], told: dict[str, list[str]]) -> None:
        """What other sandboxes have seen of the same payments counts, unless it differs: then it was no weather's."""
        counted: Counter[Order] = Counter()
        known = {(one.order, one.nth): one for one in self._seen.payments}
        for transaction in transactions:
            order = _order(transaction)
            counted[order] += 1
            made = SeenPayment(order, counted[order], _steps(transaction), tuple(told.get(transaction.trxid, ())))
            if (order, made.nth) not in known:
                self._seen.payments.append(made)


def _order(transaction: Transaction) -> Order:
    return Order(transaction.product, transaction.account, f"{transaction.amount:.2f}")


def _told(callbacks: Iterable[Callback]) -> dict[str, list[str]]:
    """The statuses that callbacks told, by transaction, each once."""
    found: dict[str, list[str]] = {}
    for one in callbacks:
        statuses = found.setdefault(one.transaction.trxid, [])
        name = STATUS_NAMES[one.result.status]
        if name not in statuses:
            statuses.append(name)
    return found


def _steps(transaction: Transaction) -> tuple[SeenStep, ...]:
    """The statuses that it came to by itself, and those that were still to come."""
    made = [
        SeenStep(
            STATUS_NAMES[one.status],
            one.code,
            (one.at - transaction.created).total_seconds(),
            tuple((name, text) for name in _TEXTS if (text := getattr(one, name))),
            one.status in SETTLED,
        )
        for one in transaction.results
        if one.cause != "void"
    ]
    coming = transaction.steps[len(transaction.results) :]
    made += [
        SeenStep(STATUS_NAMES[one.status], one.code or 0, one.after.total_seconds(), (), one.status in SETTLED)
        for one in coming
        if one.after is not None
    ]
    return tuple(made)
