"""A digest of a sandbox's state, which a tape has of its end and its marks. It is made there alone, and it is made of
what is counted and of the present, so that it takes milliseconds beside any number of payments."""

from typing import Any

from simulator.domain.model.job_counts import JobCounts
from simulator.domain.model.resellers import Reseller
from simulator.domain.state import State
from simulator.runtime.command_answers import digest
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.catalog import product_body, tree_part
from simulator.wire.json import encode

NO_JOBS = JobCounts()


def state_digest(live: LiveSandbox) -> str:
    """The digest: sixteen hexadecimal digits."""
    return digest(_content(live.core.state))


def _content(state: State) -> dict[str, Any]:
    return {
        "resellers": [_reseller(state, one) for one in state.resellers.values()],
        "payments": len(state.transactions),
        "outcomes": {one.value: count for one, count in state.noted.items() if count},
        "cases": {trxid: [(one.kind, one.state) for one in cases] for trxid, cases in state.cases.items()},
        "network": {code: status.value for code, status in state.network.kept.items()},
        "rules": state.rules_added,
        "catalog": [encode(product_body(one)) for one in state.catalog.products.values()],
        "tree": [encode(tree_part(group)) for group in state.catalog.groups],
        "options": [_options(one.options) for one in state.catalog.products.values()],
        "callbacks": state.callbacks_made,
        "in_flight": sorted(state.in_flight),
    }


def _reseller(state: State, one: Reseller) -> list[Any]:
    callbacks, webhooks = (jobs.get(one.code, NO_JOBS) for jobs in (state.callback_counts, state.webhook_counts))
    return [
        one.code,
        str(one.wallet.balance),
        len(one.wallet.entries),
        [(key.key, key.state) for key in one.keys],
        [one.callback.url, one.callback.method, one.webhook.url, one.webhook.enabled],
        [one.settings.require_api_key_for_topup, one.settings.ip_allowlist],
        [callbacks.begun, callbacks.attempts, callbacks.delivered, callbacks.failed],
        [webhooks.begun, webhooks.attempts, webhooks.delivered, webhooks.failed],
        {code: str(overlay) for code, overlay in sorted(one.overlay.items())},
    ]


def _options(by_field: Any) -> list[Any]:
    return [(field, one.code, one.is_active) for field, options in by_field.items() for one in options]
