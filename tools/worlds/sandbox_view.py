"""The observable state of a sandbox, as values that can be compared."""

from datetime import datetime
from typing import Any

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import AttemptResult
from simulator.domain.model.webhooks import Delivery
from simulator.runtime.live_sandbox import LiveSandbox


def view_of(live: LiveSandbox) -> dict[str, Any]:
    """Return the observable state of an idle sandbox."""
    state = live.core.state
    return {
        "clock": (live.clock.mode, live.clock.rate if live.clock.runs else 0),
        "time": None if live.clock.runs else live.clock.now(),
        "journal": (live.journal.last_n, live.journal.left_out),
        "tape": (len(live.tape), live.tape.left_out),
        "wallets": {code: one.wallet.balance for code, one in state.resellers.items()},
        "payments": [(one.trxid, one.refid, one.result) for one in state.transactions.values()],
        "callbacks": [(one.id, one.state, _attempts(one)) for one in state.callbacks],
        "deliveries": [(one.id, one.state, _attempts(one)) for one in state.deliveries],
        "agenda": sorted((due, ticket) for due, ticket, _ in state.agenda.waiting()),
        "cases": [(one.id, one.state, one.ended) for of_one in state.cases.values() for one in of_one],
        "bills": dict(state.bills_paid),
        "in flight": sorted(state.in_flight),
        "nonces": len(state.nonces),
        "rules": [(rule.id, count.chosen) for book in state.books.values() for rule, count in book.counted_rules()],
        "inboxes": {one.name: (one.last_n, len(one.received)) for one in live.inboxes if one.last_n},
        "coverage": live.coverage(),
        "scenario": live.scenario.name,
    }


def _attempts(job: Callback | Delivery) -> list[tuple[datetime, AttemptResult | None]]:
    return [(one.at, one.result) for one in job.attempts]


def stored_view_of(live: LiveSandbox) -> dict[str, Any]:
    """Return the observable state with everything else that is stored."""
    sent, in_flight = live.courier.sent, live.core.state.in_flight
    begun = [(job, send.attempt.number) for job, send in in_flight.items() if sent.is_begun(job)]
    marks = [(one.name, one.n, one.at) for one in live.marks]
    return {**view_of(live), "begun": sorted(begun), "marks": marks}
