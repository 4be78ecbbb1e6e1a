"""Resellers in a snapshot: credentials, settings, webhooks, secrets. Their payments and wallets are in `payments`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from simulator.domain.model.resellers import Reseller
from simulator.domain.model.wallet import Wallet
from simulator.domain.model.webhooks import Delivery, Webhook
from simulator.domain.sandbox import Sandbox
from simulator.domain.state import State
from simulator.snapshot.chunks import ENCODER, rows_of, unnumbered
from simulator.snapshot.payments import restore_entries
from simulator.snapshot.values import Writing, opened

RESELLERS, SECRETS, FORMER = "resellers", "secrets", "secrets/former"
OF_RESELLER, OF_CATALOG, REMOVED = "reseller/", "catalog", "removed/"
_MEMBERS = (
    "code", "email", "keys", "users", "callback", "webhook", "settings", "closed_to_tokens", "overlay", "created",
    "overlay_updated",
)  # fmt: skip

WebhookKeys = Mapping[int, str]
"""The key of each webhook by its identity: jobs under way hold the one that was removed."""


def webhook_keys(state: State, deliveries: Iterable[Delivery]) -> dict[int, str]:
    """The webhooks of resellers have their codes, that of the catalog has none, and one that was removed is known by
    the first delivery that has it."""
    keys = {id(one.webhook): OF_RESELLER + code for code, one in state.resellers.items()}
    keys[id(state.catalog_webhook)] = OF_CATALOG
    for one in deliveries:
        keys.setdefault(id(one.webhook), f"{REMOVED}{one.serial}")
    return keys


def written(state: State, deliveries: Iterable[Delivery], keys: WebhookKeys) -> Iterator[tuple[str, bytes]]:
    """The parts of all resellers; `deliveries` are all that there are, and `keys` those of their webhooks."""
    writing = Writing()
    resellers = [
        {
            **{name: writing.plain(getattr(one, name)) for name in _MEMBERS},
            "opening": writing.plain(one.wallet.opening),
            "threshold": writing.plain(one.wallet.threshold),
        }
        for one in state.resellers.values()
    ]
    removed = {key: one.webhook for one in deliveries if (key := keys[id(one.webhook)]).startswith(REMOVED)}
    content = {
        "resellers": resellers,
        "keys": [[key, reseller.code] for key, (reseller, _) in state.keys.items()],
        "users": [[name, reseller.code, writing.plain(user)] for name, (reseller, user) in state.users.items()],
        "catalog": writing.plain(state.catalog_webhook),
        "removed": [[key, writing.plain(one)] for key, one in removed.items()],
    }
    yield RESELLERS, writing.part(content)
    yield from _secrets(state)


def _secrets(state: State) -> Iterator[tuple[str, bytes]]:
    log = state.secrets
    holders, former = log.kept()
    yield SECRETS, ENCODER.encode([[], [log.version, log.replacements]])
    yield from unnumbered(f"{SECRETS}/held", holders.items())
    yield from unnumbered(FORMER, former)


def restore(box: Sandbox, parts: Mapping[str, bytes]) -> dict[str, Webhook]:
    """Make the resellers anew. Answers all webhooks by their keys."""
    state = box.state
    with opened(parts, RESELLERS) as (reading, content):
        for place, one in enumerate(content["resellers"]):
            box.adopt(_reseller(state, {name: reading.value(value) for name, value in one.items()}, parts, place))
        keys = {key.key: key for reseller in state.resellers.values() for key in reseller.keys}
        state.keys.update({key: (state.resellers[code], keys[key]) for key, code in content["keys"]})
        users = {name: (state.resellers[code], reading.value(user)) for name, code, user in content["users"]}
        state.users.update(users)
        state.catalog_webhook = reading.value(content["catalog"])
        webhooks = {OF_RESELLER + code: one.webhook for code, one in state.resellers.items()}
        webhooks[OF_CATALOG] = state.catalog_webhook
        webhooks.update({key: reading.value(one) for key, one in content["removed"]})
    with opened(parts, SECRETS, type_=tuple[int, int]) as (_, (version, replacements)):
        holders = dict(rows_of(parts, f"{SECRETS}/held", tuple[str, int]))
        state.secrets.restore(holders, rows_of(parts, FORMER, str), version, replacements)
    return webhooks


def _reseller(state: State, values: dict[str, Any], parts: Mapping[str, bytes], place: int) -> Reseller:
    wallet = Wallet(values.pop("opening"))
    restore_entries(wallet, parts, place)
    wallet.restore(values.pop("threshold"))
    overlay_updated = values.pop("overlay_updated")
    return Reseller(wallet=wallet, transactions=state.transactions, overlay_updated=overlay_updated, **values)
