"""A digest of a sandbox's state, which a tape has for its end and its marks. It covers counts, the present, and the
latest payments, ledger entries, attempts and e-mails, so that it takes milliseconds for any number of payments."""

from collections.abc import Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final

from simulator.domain.model.delivery_attempts import Attempt, JobCounts
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import ResultTexts
from simulator.domain.state import State
from simulator.runtime.command_log import digest
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.catalog import product_body, tree_part
from simulator.wire.formats import encode

NO_JOBS = JobCounts()
RESULT_ROW: Final = attrgetter(
    "at", "kind.status", "kind.code", "kind.cost", "balance", "kind.cause",
    *(f"texts.{name}" for name in ResultTexts.__struct_fields__),
)  # fmt: skip
"""Returns the values of a result as one row."""
LATEST: Final = 300
"""The number of latest payments, callbacks, deliveries and e-mails that the digest covers, and about the number of
latest ledger entries of all wallets."""


def state_digest(live: LiveSandbox) -> str:
    """Return the digest: sixteen hexadecimal digits."""
    clock = [live.clock.mode, live.clock.rate]
    inboxes = [[one.name, one.program.replies, one.replied] for one in live.inboxes if one.is_programmed]
    state = live.core.state
    entries = max(1, LATEST // max(1, len(state.resellers)))
    callbacks = islice(reversed(state.callbacks), LATEST)
    deliveries = islice(reversed(state.deliveries), LATEST)
    content = {
        "clock": clock,
        "inboxes": inboxes,
        "resellers": [_reseller(state, one) for one in state.resellers.values()],
        "payments": len(state.transactions),
        "outcomes": {one.value: count for one, count in state.noted.items() if count},
        "cases": {trxid: [(one.kind, one.state) for one in cases] for trxid, cases in state.cases.items()},
        "network": {code: status.value for code, status in state.network.overrides.items()},
        "rules": [state.rules_added, {name: encode(one.document) for name, one in state.added.items()}],
        "catalog": [encode(product_body(one)) for one in state.catalog.products.values()],
        "tree": [encode(tree_part(group)) for group in state.catalog.groups],
        "options": [
            [(field, option.code, option.is_active) for field, options in one.options.items() for option in options]
            for one in state.catalog.products.values()
        ],
        "callbacks": state.callbacks_made,
        "in_flight": sorted(state.in_flight),
        "agenda": [len(state.agenda), str(state.agenda.next_due)],
        "latest_payments": [
            [
                one.trxid,
                one.refid,
                one.account,
                one.sender,
                one.remarks,
                one.created,
                list(map(RESULT_ROW, one.results)),
            ]
            for one in islice(reversed(state.transactions.values()), LATEST)
        ],
        "latest_entries": {one.code: one.wallet.entries[-entries:] for one in state.resellers.values()},
        "latest_callbacks": [[one.id, one.state, _attempts(one.attempts)] for one in callbacks],
        "latest_deliveries": [[one.id, one.state, one.error, _attempts(one.attempts)] for one in deliveries],
        "latest_emails": list(islice(reversed(state.notifications), LATEST)),
    }
    return digest(content)


def _attempts(attempts: Sequence[Attempt]) -> list[Any]:
    return [[one.number, one.at, one.state, one.result] for one in attempts]


def _reseller(state: State, one: Reseller) -> list[Any]:
    callbacks, webhooks = (jobs.get(one.code, NO_JOBS) for jobs in (state.callback_counts, state.webhook_counts))
    return [
        one.code,
        one.email,
        str(one.wallet.balance),
        str(one.wallet.threshold),
        len(one.wallet.entries),
        [(key.key, key.state) for key in one.keys],
        [one.callback.url, one.callback.method, one.webhook.url, one.webhook.enabled],
        [one.settings.require_api_key_for_topup, one.settings.ip_allowlist],
        [callbacks.begun, callbacks.attempts, callbacks.delivered, callbacks.failed],
        [webhooks.begun, webhooks.attempts, webhooks.delivered, webhooks.failed],
        {code: str(overlay) for code, overlay in sorted(one.overlay.items())},
    ]
