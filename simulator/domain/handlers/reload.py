"""Replaces the scenario of a running sandbox: new decisions follow the new one, past events stay.

Rules, magic accounts, faults, network timelines, limits, the remaining schedule and the knobs are replaced; rules added
at run time stay in front, and those removed stay away unless their file changes them. New resellers, keys and users are
added, and properties that their file changes are set. Wallets, transactions with their original steps, cases,
deliveries and the rest of the agenda continue. What cannot be changed at run time is left as it is and reported.
"""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from simulator.domain.commands import LoadScenario
from simulator.domain.due import ScheduleDue
from simulator.domain.errors import refuse_more
from simulator.domain.handlers import catalog, webhooks
from simulator.domain.handlers.reload_resellers import update_reseller
from simulator.domain.handlers.reload_rules import replace_rules
from simulator.domain.handlers.resellers import refuse_foreign
from simulator.domain.model.scenario import Limits, Scenario
from simulator.domain.model.schedule import due, written
from simulator.domain.state import (
    State,
    request_rates,
    status_codes,
)

# Bounds of memory that is allocated when a sandbox starts.
FIXED_SIZES = frozenset(
    {
        "callbacks", "callbacks_bytes", "deliveries", "deliveries_bytes", "notifications", "journal", "journal_bytes",
        "tape", "tape_bytes", "inbox", "inbox_bytes", "inboxes", "inboxes_bytes",
    }
)  # fmt: skip


def load(state: State, command: LoadScenario, now: datetime) -> tuple[str, ...]:
    """Switch a sandbox to another scenario; answers one line for each part that requires a reset.

    Raises `Conflict` when a key or username belongs to another reseller, and when those that stay and the new ones are
    more than the new scenario allows; and the compiler's errors. Nothing has changed then.
    """
    assert state.compiler is not None, "a sandbox that takes documents has a compiler"
    old, new = state.scenario, state.compiler.scenario(command.document, command.name)
    for start in new.resellers:
        refuse_foreign(state, start)
    _refuse_too_many(state, new)
    deferred = [*_seed_and_clock(state, old, new), *_fixed_sizes(old.limits, new.limits)]
    state.scenario = new
    state.nonces_by_reseller = state.assumes("nonce-scope", "reseller")
    deferred += replace_rules(state, old, new)
    _limits(state, old.limits, new.limits)
    state.codes = status_codes(new)
    state.network.follow(new.network)
    _catalog(state, old, new, now)
    deferred += _schedule(state, old, new, now)
    if old.webhooks.catalog != new.webhooks.catalog:
        state.catalog_webhook = webhooks.initial_webhook(state, new.webhooks.catalog)
    deferred += _resellers(state, old, new, now)
    return tuple(deferred)


def _refuse_too_many(state: State, new: Scenario) -> None:
    """Resellers and keys stay until a reset."""
    codes = {*state.resellers, *(start.code for start in new.resellers)}
    keys = {*state.keys, *(key.key for start in new.resellers for key in start.keys)}
    refuse_more("resellers", len(codes), new.limits.resellers)
    refuse_more("api_keys", len(keys), new.limits.api_keys)


def _seed_and_clock(state: State, old: Scenario, new: Scenario) -> Iterator[str]:
    if old.seed != new.seed:
        yield f"seed: a running sandbox keeps its own, {state.seed}"
    same = msgspec.structs.replace(new.clock, skew=old.clock.skew, signature=old.clock.signature)
    if old.clock != same:
        yield "clock: a running clock is changed by PUT clock of the control API"


def _fixed_sizes(old: Limits, new: Limits) -> Iterator[str]:
    for one in msgspec.structs.fields(Limits):
        if one.name in FIXED_SIZES and getattr(old, one.name) != getattr(new, one.name):
            yield f"limits.{one.name}: the memory of a running sandbox keeps its size"


def _limits(state: State, old: Limits, new: Limits) -> None:
    state.nonces.bound(new.nonce_window, new.timestamp_tolerance.total_seconds(), new.nonces)
    rates = ("requests_per_interval", "rate_limit_interval", "rate_limit_block")
    if any(getattr(old, name) != getattr(new, name) for name in rates):
        state.rates = request_rates(new)


def _catalog(state: State, old: Scenario, new: Scenario, now: datetime) -> None:
    """When the file's catalog is unchanged, keep the catalog with its changes at run time."""
    if (old.catalog.groups, old.catalog.products) == (new.catalog.groups, new.catalog.products):
        return
    catalog.put_catalog(state, new.catalog, now)


def _schedule(state: State, old: Scenario, new: Scenario, now: datetime) -> Iterator[str]:
    if old.schedule == new.schedule:
        return
    waiting = [item.planned for item in state.agenda.cancel_all((ScheduleDue,))]
    for one in new.schedule:
        at = due(one, state.started)
        if at > now or one in waiting:
            state.agenda.add(at, ScheduleDue(one))
        elif one not in old.schedule:
            yield f"schedule: what comes {written(one.at)} is past, and does not happen"


def _resellers(state: State, old: Scenario, new: Scenario, now: datetime) -> Iterator[str]:
    known = {start.code: start for start in old.resellers}
    for start in new.resellers:
        yield from update_reseller(state, known.get(start.code), start, now)
    for code in known.keys() - {start.code for start in new.resellers}:
        yield f"resellers: {code} stays until the sandbox is reset"
