"""Commands about a reseller: creation, credits, keys, settings, callback URL."""

from base64 import b64decode
from datetime import datetime

from msgspec.structs import replace

from simulator.domain.commands import (
    AddApiKey,
    AddReseller,
    ChangeSettings,
    Credit,
    PutApiKey,
    RevokeApiKey,
    SetCallback,
)
from simulator.domain.errors import Conflict, Unacceptable, Unknown, refuse_more
from simulator.domain.handlers import webhook_jobs
from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.domain_events import LedgerPosting
from simulator.domain.model.money import CENT, DIGITS_BEFORE_MAX, ZERO, is_bounded, is_whole_cents
from simulator.domain.model.resellers import ApiKey, DelayedSwitch, KeyState, Reseller, Settings
from simulator.domain.model.scenario import KeyStart, ResellerStart, draw_key
from simulator.domain.model.wallet import Entry, Wallet
from simulator.domain.queries import reseller_of
from simulator.domain.state import State


def refuse_foreign(state: State, start: ResellerStart) -> None:
    """Raise `Conflict` when a key or username belongs to another reseller."""
    for key in start.keys:
        if key.key in state.keys and state.keys[key.key][0].code != start.code:
            raise Conflict("api_key_exists", f"the API key {key.key!r} belongs to another reseller", "api_keys")
    for user in start.users:
        if user.username in state.users and state.users[user.username][0].code != start.code:
            raise Conflict("username_exists", f"the username {user.username!r} belongs to another reseller", "users")


def create_reseller(state: State, start: ResellerStart) -> Reseller:
    """Create a reseller as a scenario describes it. Raise `Conflict` for a code, key or username in use."""
    if start.code in state.resellers:
        raise Conflict("reseller_exists", f"there is a reseller {start.code!r} already", "code")
    refuse_foreign(state, start)
    reseller = Reseller(
        code=start.code,
        email=start.email,
        wallet=Wallet(start.balance),
        keys=[],
        users=start.users,
        callback=start.callback,
        webhook=webhook_jobs.initial_webhook(state, start.webhook, start.code),
        settings=Settings(start.require_api_key_for_topup, start.ip_allowlist),
        closed_to_tokens=DelayedSwitch(start.require_api_key_for_topup),
        overlay=start.overlay,
        created=state.now,
    )
    reseller.wallet.threshold = start.low_balance_threshold or ZERO
    state.resellers[start.code] = reseller
    for key in start.keys:
        add_key(state, reseller, key)
    add_passwords(state, start)
    state.users.update((user.username, (reseller, user)) for user in start.users)
    return reseller


def add_passwords(state: State, start: ResellerStart) -> None:
    """Remember the passwords of a reseller's users as secrets."""
    for user in start.users:
        known = state.users.get(user.username)
        state.secrets.add(user.password, replaced=known[1].password if known else "")


def add_reseller(state: State, command: AddReseller, now: datetime) -> Reseller:
    """Add a reseller; without keys of its own it gets a pair drawn from the seed. Raise `Conflict`, also above the
    scenario's limits on resellers and keys."""
    limits = state.scenario.limits
    refuse_more("resellers", len(state.resellers) + 1, limits.resellers)
    refuse_more("api_keys", len(state.keys) + max(1, len(command.start.keys)), limits.api_keys)
    reseller = create_reseller(state, command.start)
    if not reseller.keys:
        add_api_key(state, AddApiKey(reseller.code), now)
    return reseller


def credit(state: State, command: Credit, now: datetime) -> Entry:
    """Add external money. Raise `Unacceptable` unless the amount is positive and in whole cents."""
    reseller = reseller_of(state, command.reseller)
    amount = command.amount
    if not is_bounded(amount) or amount <= 0 or not is_whole_cents(amount):
        raise Unacceptable("invalid_amount", "amount must be positive, with at most two decimals", "amount")
    if not is_bounded(reseller.wallet.balance + amount):
        raise Unacceptable("invalid_amount", f"a balance has at most {DIGITS_BEFORE_MAX} digits", "amount")
    entry = reseller.wallet.post(command.type, amount.quantize(CENT), now, command.description)
    state.publish(LedgerPosting(reseller.code, entry))
    webhook_jobs.publish_credit(state, reseller, entry, now)
    return entry


def set_callback(state: State, command: SetCallback, now: datetime) -> CallbackConfig:
    """Change the callback URL; scheduled callbacks keep the old URL."""
    reseller = reseller_of(state, command.reseller)
    reseller.callback = CallbackConfig(command.url, command.method, now)
    return reseller.callback


def add_api_key(state: State, command: AddApiKey, now: datetime) -> ApiKey:
    """Draw another key pair for a reseller. Raise `Conflict` above the scenario's limit."""
    reseller = reseller_of(state, command.reseller)
    refuse_more("api_keys", len(state.keys) + 1, state.scenario.limits.api_keys)
    state.keys_made += 1
    return add_key(state, reseller, draw_key(state.seed, state.key_scope, reseller.code, state.keys_made))


def revoke_api_key(state: State, command: RevokeApiKey, now: datetime) -> None:
    """Invalidate a key at once; it remains on record as revoked."""
    reseller = reseller_of(state, command.reseller)
    for key in reseller.keys:
        if key.key == command.key:
            key.state = KeyState.REVOKED
            return
    raise Unknown("unknown_api_key", f"reseller {reseller.code!r} has no API key {command.key!r}")


def change_settings(state: State, command: ChangeSettings, now: datetime) -> Settings:
    """Replace the named settings. The topup restriction takes effect after a delay (SPEC 5.3), the others at once."""
    reseller = reseller_of(state, command.reseller)
    before = reseller.settings.require_api_key_for_topup
    reseller.settings = replace(reseller.settings, **command.changes)
    wanted = reseller.settings.require_api_key_for_topup
    if wanted != before:
        acts_at = now + state.scenario.limits.settings_delay
        reseller.closed_to_tokens = reseller.closed_to_tokens.turned(wanted, now, acts_at)
    return reseller.settings


def put_api_key(state: State, command: PutApiKey, now: datetime) -> None:
    """Add a key to a reseller, or change the existing key.

    Raise `Conflict` for a key of another reseller and above the scenario's limit on keys, `Unknown` for a new key
    without its required secret.
    """
    reseller, key, secret = reseller_of(state, command.reseller), command.key, command.secret
    owner, found = state.keys.get(key, (reseller, None))
    if owner is not reseller:
        raise Conflict("api_key_exists", f"the API key {key!r} belongs to another reseller", "api_keys")
    if found is None:
        if not secret:
            raise Unknown("unknown_api_key", f"reseller {reseller.code!r} has no API key {key!r}")
        refuse_more("api_keys", len(state.keys) + 1, state.scenario.limits.api_keys)
        add_key(state, reseller, KeyStart(key, secret, command.state or KeyState.ACTIVE))
        return
    if secret:
        state.secrets.add(secret, replaced=found.secret)
        found.secret, found.secret_bytes = secret, b64decode(secret)
    found.state = command.state or found.state


def add_key(state: State, reseller: Reseller, start: KeyStart) -> ApiKey:
    """Add an unused key to a reseller."""
    key = ApiKey(start.key, start.secret, b64decode(start.secret), start.state, state.now)
    reseller.keys.append(key)
    state.keys[key.key] = (reseller, key)
    state.secrets.add(key.secret)
    return key
