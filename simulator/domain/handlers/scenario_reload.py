"""Replacement of a running sandbox's scenario: new decisions follow the new scenario, past events stay.

Rules, magic accounts, faults, network timelines, limits, the remaining schedule and the knobs are replaced. Rules added
at run time stay first; removed rules stay removed unless their file changes them. New resellers, keys and users are
added, and properties that their file changes are set. Wallets, transactions with their original steps, cases,
deliveries and the rest of the agenda continue. Settings that cannot change at run time stay unchanged and are reported.
"""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from simulator.domain.commands import ChangeSettings, LoadScenario, PutApiKey
from simulator.domain.errors import refuse_more
from simulator.domain.handlers import catalog_changes, catalog_events, webhook_jobs
from simulator.domain.handlers.reseller_changes import (
    add_key,
    add_passwords,
    change_settings,
    create_reseller,
    put_api_key,
    refuse_foreign,
)
from simulator.domain.handlers.rule_changes import replace_rules
from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.money import ZERO
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.scenario import Limits, ResellerStart, Scenario
from simulator.domain.model.schedule import ScheduledChange, due_at, written
from simulator.domain.model.webhooks import WebhookStart
from simulator.domain.queries import time_of_change
from simulator.domain.state import State

# How the limits begin on memory that is allocated when a sandbox starts.
FIXED_SIZES = ("callbacks", "deliveries", "notifications", "journal", "tape", "inbox")


def load(state: State, command: LoadScenario, now: datetime) -> tuple[str, ...]:
    """Switch a sandbox to another scenario; return a line for each part that requires a reset.

    Raise `Conflict` when a key or username belongs to another reseller, or when the existing and new resellers or keys
    exceed the new scenario's limits. Raise the compiler's errors. Errors leave the sandbox unchanged.
    """
    assert state.compiler is not None, "a sandbox that takes documents has a compiler"
    old, new = state.scenario, state.compiler.scenario(command.document, command.name)
    for start in new.resellers:
        refuse_foreign(state, start)
    # Resellers and keys stay until a reset.
    codes = {*state.resellers, *(start.code for start in new.resellers)}
    keys = {*state.keys, *(key.key for start in new.resellers for key in start.keys)}
    refuse_more("resellers", len(codes), new.limits.resellers)
    refuse_more("api_keys", len(keys), new.limits.api_keys)
    deferred = list(_fixed_settings(state, old, new))
    state.follow(new)
    deferred += replace_rules(state, old, new)
    if (old.catalog.groups, old.catalog.products) != (new.catalog.groups, new.catalog.products):
        catalog_changes.put_catalog(state, new.catalog, now)
    deferred += _schedule(state, old, new, now)
    if old.webhooks.catalog != new.webhooks.catalog:
        state.catalog_webhook = webhook_jobs.initial_webhook(state, new.webhooks.catalog)
    deferred += _resellers(state, old, new, now)
    return tuple(deferred)


def _fixed_settings(state: State, old: Scenario, new: Scenario) -> Iterator[str]:
    if old.seed != new.seed:
        yield f"seed: a running sandbox keeps its own, {state.seed}"
    same = msgspec.structs.replace(new.clock, skew=old.clock.skew, signature=old.clock.signature)
    if old.clock != same:
        yield "clock: a running clock is changed by PUT clock of the control API"
    for field in msgspec.structs.fields(Limits):
        if field.name.startswith(FIXED_SIZES) and getattr(old.limits, field.name) != getattr(new.limits, field.name):
            yield f"limits.{field.name}: the memory of a running sandbox keeps its size"


def _schedule(state: State, old: Scenario, new: Scenario, now: datetime) -> Iterator[str]:
    if old.schedule == new.schedule:
        return
    waiting = state.agenda.cancel_all(ScheduledChange)
    for item in new.schedule:
        at = due_at(item.at, state.started)
        if at > now or item in waiting:
            state.agenda.add(at, item)
        elif item not in old.schedule:
            yield f"schedule: what comes {written(item.at)} is past, and does not happen"


def _resellers(state: State, old: Scenario, new: Scenario, now: datetime) -> Iterator[str]:
    known = {start.code: start for start in old.resellers}
    for start in new.resellers:
        yield from update_reseller(state, known.get(start.code), start, now)
    for code in known.keys() - {start.code for start in new.resellers}:
        yield f"resellers: {code} stays until the sandbox is reset"


def update_reseller(state: State, was: ResellerStart | None, start: ResellerStart, now: datetime) -> Iterator[str]:
    """Create the reseller, or set the properties of `start` that differ from the previous scenario's `was` (None if
    absent there). Yield a line for each change that requires a reset."""
    reseller = state.resellers.get(start.code)
    if reseller is None:
        create_reseller(state, start)
        return
    if was is None:  # the reseller was added at run time
        was = ResellerStart(start.code, reseller.email, start.balance)
    _credentials(state, reseller, was, start, now)
    _settings(state, reseller, was, start, now)
    if was.balance != start.balance:
        yield f"resellers: {start.code} keeps its wallet; a deposit of the control API adds to it"
    for key in was.keys:
        if key.key not in {one.key for one in start.keys}:
            yield f"resellers: {start.code} keeps the API key {key.key!r}; give it the state revoked to refuse it"
    for user in was.users:
        if user.username not in {one.username for one in start.users}:
            yield f"resellers: {start.code} keeps the user {user.username!r} until the sandbox is reset"


def _credentials(state: State, reseller: Reseller, was: ResellerStart, start: ResellerStart, now: datetime) -> None:
    """Add new keys and users, and update those changed by the file."""
    for wanted in start.keys:
        if wanted.key not in state.keys:
            add_key(state, reseller, wanted)
        elif wanted not in was.keys:
            put_api_key(state, PutApiKey(reseller.code, wanted.key, wanted.secret, wanted.state), now)
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
        before, reseller.overlay = reseller.overlay, start.overlay
        reseller.overlay_updated = time_of_change(state, now)
        catalog_events.publish_overlay(state, reseller, before, now)
    names = ("require_api_key_for_topup", "ip_allowlist")
    changes = {name: getattr(start, name) for name in names if getattr(was, name) != getattr(start, name)}
    if changes:
        change_settings(state, ChangeSettings(reseller.code, changes), now)


def _webhook(state: State, reseller: Reseller, start: WebhookStart | None, now: datetime) -> None:
    """Update the webhook in place, since pending jobs hold the object."""
    webhook = reseller.webhook
    if start is None:
        webhook.enabled, webhook.url = False, ""
    elif not webhook.url:
        state.secrets.add("", replaced=webhook.secret)
        reseller.webhook = webhook_jobs.initial_webhook(state, start, reseller.code)
    else:
        webhook.url, webhook.enabled, webhook.updated = start.url, start.enabled, now
        state.secrets.add(start.secret, replaced=webhook.secret if start.secret else "")
        webhook.secret = start.secret or webhook.secret
