"""Differences between a sandbox and its replay: the first difference, with both sides, and a digest of the state.

A tape has the digest for its end and its marks. It covers counts, the present, and the latest payments, ledger entries,
attempts and e-mails, so that it takes milliseconds for any number of payments.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from simulator.domain.model.delivery_attempts import Attempt, JobCounts, OutgoingRequest
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import ResultTexts
from simulator.domain.state import State
from simulator.persistence.tape.entries import AttemptSent, Due
from simulator.runtime.command_log import digest
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.catalog_answers import product_body, tree_part
from simulator.wire.formats import encode

_NOT_COMPARED: Final = frozenset({"duration_us", "owner"})  # measured by the wall; the sandbox's own id, if any
_FIRST: Final = ("status", "content", "own_headers")  # what clients see
_COMPARED: Final = tuple(
    dict.fromkeys((*_FIRST, *(each for each in Exchange.__struct_fields__ if each not in _NOT_COMPARED)))
)
_compared: Final = attrgetter(*_COMPARED)


class Difference(msgspec.Struct, frozen=True):
    """A difference: `entry` is its number on the tape, `what` names the differing part, `recorded` is its value on the
    tape and `replayed` its value in the replay."""

    entry: int
    what: str
    recorded: Any
    replayed: Any


def of_value(entry: int, what: str, recorded: Any, replayed: Any) -> Difference | None:
    """Return the difference between two values, if any."""
    return None if recorded == replayed else Difference(entry, what, recorded, replayed)


def of_requests(entry: int, recorded: Exchange, replayed: Exchange) -> Difference | None:
    """Return the first difference between two records of a request, including its answer."""
    if _compared(recorded) == _compared(replayed):  # as always
        return None
    return _of_members(entry, called(recorded), _COMPARED, recorded, replayed)


def called(recorded: Exchange) -> str:
    """Return what messages call a request."""
    return f"request {recorded.n} ({recorded.method} {recorded.path})"


def of_attempts(entry: int, sent: AttemptSent, replayed: OutgoingRequest) -> Difference | None:
    """Return the first difference between the requests of an attempt of a callback or webhook."""
    recorded, what = sent.request, _called(sent.job, sent.attempt)
    if _without_source(recorded.headers) == _without_source(replayed.headers):
        replayed = replace(replayed, headers=recorded.headers)
    return _of_members(entry, what, OutgoingRequest.__struct_fields__, recorded, replayed)


def _of_members(entry: int, what: str, names: Iterable[str], recorded: Any, replayed: Any) -> Difference | None:
    found = (of_value(entry, f"{what}: {name}", getattr(recorded, name), getattr(replayed, name)) for name in names)
    return next(filter(None, found), None)


def _without_source(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return headers without the source address, which earlier versions did not draw."""
    return tuple(header for header in headers if header[0] != "X-Forwarded-For")


def unbegun(live: LiveSandbox) -> Due:
    """Return the attempts of a sandbox that are due and wait for their turn."""
    sends = live.core.state.in_flight.values()
    return tuple((send.job.id, send.attempt.number) for send in sends if not live.courier.sent.is_begun(send.job.id))


def of_due(entry: int, recorded: Due, replayed: Due) -> Difference | None:
    """Return the first difference between the attempts that are due on the tape, and in a replay."""
    if extra := [attempt for attempt in replayed if attempt not in recorded]:
        return Difference(entry, _called(*extra[0]), "is not due", "is due")
    if missing := [attempt for attempt in recorded if attempt not in replayed]:
        return Difference(entry, _called(*missing[0]), "is due", "is not due")
    return None


def of_attempt(entry: int, job: str, attempt: int, live: LiveSandbox, *, ends: bool) -> Difference | None:
    """Return why an attempt of the tape cannot begin, or end, if so."""
    send, recorded = live.core.state.in_flight.get(job), "ends" if ends else "is sent"
    if send is None or send.attempt.number != attempt:
        return Difference(entry, _called(job, attempt), recorded, "is not in flight" if ends else "is not due")
    if live.courier.sent.is_begun(job) is ends:
        return None
    return Difference(entry, _called(job, attempt), recorded, "is not sent before" if ends else "was sent before")


def _called(job: str, attempt: int) -> str:
    return f"attempt {attempt} of {job}"


RESULT_ROW: Final = attrgetter(
    "at", "kind.status", "kind.code", "kind.cost", "balance", "kind.cause",
    *(f"texts.{name}" for name in ResultTexts.__struct_fields__),
)  # fmt: skip
"""Returns the values of a result as one row."""
_payment: Final = attrgetter("trxid", "refid", "account", "sender", "remarks", "created")
LATEST: Final = 300
"""The number of latest payments, callbacks, deliveries and e-mails that the digest covers, and about the number of
latest ledger entries of all wallets."""


def state_digest(live: LiveSandbox) -> str:
    """Return the digest: sixteen hexadecimal digits."""
    inboxes = [[inbox.name, inbox.program.replies, inbox.replied] for inbox in live.inboxes if inbox.is_programmed]
    state = live.core.state
    entries = max(1, LATEST // max(1, len(state.resellers)))
    payments = islice(reversed(state.transactions.values()), LATEST)
    callbacks = islice(reversed(state.callbacks), LATEST)
    deliveries = islice(reversed(state.deliveries), LATEST)
    content = {
        "clock": [live.clock.mode, live.clock.rate],
        "inboxes": inboxes,
        "resellers": [_reseller(state, reseller) for reseller in state.resellers.values()],
        "payments": len(state.transactions),
        "outcomes": {outcome.value: count for outcome, count in state.noted.items() if count},
        "cases": {trxid: [(case.kind, case.state) for case in cases] for trxid, cases in state.cases.items()},
        "network": {code: status.value for code, status in state.network.overrides.items()},
        "rules": [state.rules_added, {name: encode(rule.document) for name, rule in state.added.items()}],
        "catalog": [encode(product_body(product)) for product in state.catalog.products.values()],
        "tree": [encode(tree_part(group)) for group in state.catalog.groups],
        "options": [
            [(field, option.code, option.is_active) for field, options in product.options.items() for option in options]
            for product in state.catalog.products.values()
        ],
        "callbacks": state.callbacks_made,
        "in_flight": sorted(state.in_flight),
        "agenda": [len(state.agenda), str(state.agenda.next_due)],
        "latest_payments": [[*_payment(payment), list(map(RESULT_ROW, payment.results))] for payment in payments],
        "latest_entries": {reseller.code: reseller.wallet.entries[-entries:] for reseller in state.resellers.values()},
        "latest_callbacks": [[job.id, job.state, _attempts(job.attempts)] for job in callbacks],
        "latest_deliveries": [[job.id, job.state, job.error, _attempts(job.attempts)] for job in deliveries],
        "latest_emails": list(islice(reversed(state.notifications), LATEST)),
    }
    return digest(content)


def _attempts(attempts: Sequence[Attempt]) -> list[Any]:
    return [[attempt.number, attempt.at, attempt.state, attempt.result] for attempt in attempts]


def _reseller(state: State, reseller: Reseller) -> list[Any]:
    callbacks, webhooks = (
        jobs.get(reseller.code, JobCounts()) for jobs in (state.callback_counts, state.webhook_counts)
    )
    return [
        reseller.code,
        reseller.email,
        str(reseller.wallet.balance),
        str(reseller.wallet.threshold),
        len(reseller.wallet.entries),
        [(key.key, key.state) for key in reseller.keys],
        [reseller.callback.url, reseller.callback.method, reseller.webhook.url, reseller.webhook.enabled],
        [reseller.settings.require_api_key_for_topup, reseller.settings.ip_allowlist],
        [callbacks.begun, callbacks.attempts, callbacks.delivered, callbacks.failed],
        [webhooks.begun, webhooks.attempts, webhooks.delivered, webhooks.failed],
        {code: str(overlay) for code, overlay in sorted(reseller.overlay.items())},
    ]
