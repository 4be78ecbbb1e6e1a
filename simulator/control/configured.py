"""How a reseller is configured, for who looks at it: callbacks, webhooks, settings, keys and users, without secrets."""

from typing import Any, Final

from simulator.control import render
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.webhooks import BALANCE_ADDED, Webhook
from simulator.redaction import redact_urls
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.json import number
from simulator.wire.webhooks import SECRET_SHOWN_CHARS

CATALOG_EVENTS: Final = ("product.*", "option.*", "category.*", "group.*")


def reseller(live: LiveSandbox, one: Reseller) -> dict[str, Any]:
    """A reseller in the list. `retries` and `timeout` are the scenario's; times are seconds."""
    limits, webhook = live.scenario.limits, one.webhook
    return {
        "code": one.code,
        "email": one.email,
        "created": render.moment(one.created),
        "balance": number(one.wallet.balance),
        "low_balance_threshold": number(one.wallet.threshold) if one.wallet.threshold else None,
        "callback": {
            "url": redact_urls(one.callback.url),
            "method": one.callback.method or None,
            "updated": render.moment(one.callback.updated),
            "retries": limits.callback_retry.retries,
            "retry_after": [limits.callback_retry.after.total_seconds()],
            "timeout": limits.callback_timeout.total_seconds(),
        },
        "webhooks": [_webhook(live, webhook, "balance", (BALANCE_ADDED,))] if webhook.url else [],
        "settings": {
            "require_api_key_for_topup": one.settings.require_api_key_for_topup,
            "in_effect": one.closed_to_tokens.is_on(live.clock.now()),
            "ip_allowlist": list(one.settings.ip_allowlist),
        },
        "api_keys": [
            {"key": key.key, "state": key.state.value, "created": render.moment(key.created)} for key in one.keys
        ],
        "users": [user.username for user in one.users],
    }


def catalog_webhook(live: LiveSandbox) -> dict[str, Any] | None:
    """The webhook of catalog events, which are nobody's own; None when there is none."""
    webhook = live.core.state.catalog_webhook
    return _webhook(live, webhook, "catalog", CATALOG_EVENTS) if webhook.url else None


def _webhook(live: LiveSandbox, webhook: Webhook, kind: str, events: tuple[str, ...]) -> dict[str, Any]:
    policy = live.scenario.webhooks
    timeout = live.scenario.limits.callback_timeout if policy.timeout is None else policy.timeout
    return {
        "url": redact_urls(webhook.url),
        "kind": kind,
        "events": list(events),
        "enabled": webhook.enabled,
        "secret_last_four": webhook.secret[-SECRET_SHOWN_CHARS:],
        "created": render.moment(webhook.created),
        "updated": render.moment(webhook.updated),
        "retries": policy.retry_limit,
        "retry_after": [wait.total_seconds() for wait in policy.retry_after],
        "timeout": timeout.total_seconds(),
        "signature": {"header": policy.signature.header or None, "prefix": policy.signature.prefix},
    }
