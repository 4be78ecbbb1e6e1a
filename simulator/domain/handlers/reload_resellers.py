"""Applies a newly loaded scenario to a reseller of a running sandbox.

A value that is the same in both scenarios keeps the state it reached at run time.
"""

from base64 import b64decode
from collections.abc import Iterator
from datetime import datetime

from simulator.domain.commands import ChangeSettings
from simulator.domain.handlers import catalog_events, webhooks
from simulator.domain.handlers.resellers import add_key, add_passwords, change_settings, create_reseller
from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.money import ZERO
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.scenario import ResellerStart
from simulator.domain.model.webhooks import WebhookStart
from simulator.domain.queries import time_of_change
from simulator.domain.state import State


def update_reseller(state: State, was: ResellerStart | None, start: ResellerStart, now: datetime) -> Iterator[str]:
    """Set what `start` changes relative to the previous scenario's `was`, None if absent there; yields one line for
    each change that requires a reset. Creates a missing reseller."""
    reseller = state.resellers.get(start.code)
    if reseller is None:
        create_reseller(state, start)
        return
    if was is None:  # it was added at run time
        was = ResellerStart(start.code, reseller.email, start.balance)
    _credentials(state, reseller, was, start)
    _settings(state, reseller, was, start, now)
    if was.balance != start.balance:
        yield f"resellers: {start.code} keeps its wallet; a deposit of the control API adds to it"
    for key in was.keys:
        if key.key not in {one.key for one in start.keys}:
            yield f"resellers: {start.code} keeps the API key {key.key!r}; give it the state revoked to refuse it"
    for user in was.users:
        if user.username not in {one.username for one in start.users}:
            yield f"resellers: {start.code} keeps the user {user.username!r} until the sandbox is reset"


def _credentials(state: State, reseller: Reseller, was: ResellerStart, start: ResellerStart) -> None:
    """Add new keys and users, and update those that the file changes."""
    for wanted in start.keys:
        if wanted.key not in state.keys:
            add_key(state, reseller, wanted)
        elif wanted not in was.keys:
            key = state.keys[wanted.key][1]
            state.secrets.add(wanted.secret, replaced=key.secret)
            key.secret, key.secret_bytes, key.state = wanted.secret, b64decode(wanted.secret), wanted.state
    users = {user.username: user for user in (*reseller.users, *start.users)}
    add_passwords(state, start)
    reseller.users = tuple(users.values())
    state.users.update((name, (reseller, user)) for name, user in users.items())


def _settings(state: State, reseller: Reseller, was: ResellerStart, start: ResellerStart, now: datetime) -> None:
    reseller.email = start.email
    if was.callback != start.callback:
        reseller.callback = CallbackConfig(start.callback.url, start.callback.method, now)
    if was.low_balance_threshold != start.low_balance_threshold:
        reseller.wallet.threshold = start.low_balance_threshold or ZERO
    if was.webhook != start.webhook:
        _webhook(state, reseller, start.webhook, now)
    if was.overlay != start.overlay:
        _overlay(state, reseller, start, now)
    names = ("require_api_key_for_topup", "ip_allowlist")
    changes = {name: getattr(start, name) for name in names if getattr(was, name) != getattr(start, name)}
    if changes:
        change_settings(state, ChangeSettings(reseller.code, changes), now)


def _overlay(state: State, reseller: Reseller, start: ResellerStart, now: datetime) -> None:
    before, reseller.overlay = reseller.overlay, start.overlay
    reseller.overlay_updated = time_of_change(state, now)
    catalog_events.publish_overlay(state, reseller, before, now)


def _webhook(state: State, reseller: Reseller, start: WebhookStart | None, now: datetime) -> None:
    """Jobs under way hold this object, so it is changed in place."""
    webhook = reseller.webhook
    if start is None:
        webhook.enabled, webhook.url = False, ""
    elif not webhook.url:
        state.secrets.add("", replaced=webhook.secret)
        reseller.webhook = webhooks.initial_webhook(state, start, reseller.code)
    else:
        webhook.url, webhook.enabled, webhook.updated = start.url, start.enabled, now
        state.secrets.add(start.secret, replaced=webhook.secret if start.secret else "")
        webhook.secret = start.secret or webhook.secret
