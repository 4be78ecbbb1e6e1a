"""Renders sandboxes, resellers, ledger entries and times for the control API."""

from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from msgspec import to_builtins

from simulator.domain.model.resellers import KeyState, Reseller
from simulator.domain.model.rules import SourceLine
from simulator.domain.model.wallet import Entry
from simulator.redaction import redact_urls
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import SANDBOX_PREFIX
from simulator.wire.formats import iso_utc_exact, number


def members(record: Any, *names: str) -> dict[str, Any]:
    """Return members of a record by name, in the form of the control API: times in ISO 8601, spans in seconds, amounts
    as numbers, and enumerations as their values."""
    return {name: value if type(value := getattr(record, name)) in _PLAIN else _shown(value) for name in names}


_PLAIN = frozenset({str, int, float, bool, type(None)})  # as most members are


def _shown(value: Any) -> Any:
    match value:
        case datetime():
            return iso_utc_exact(value)
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return number(value)
        case Enum():
            return value.value
        case tuple():
            return list(value)
    return value


def moment(at: datetime | None) -> str | None:
    """Return a time, or null."""
    return iso_utc_exact(at) if at is not None else None


def place(line: SourceLine | None) -> dict[str, Any] | None:
    """Return the source line, or null."""
    return None if line is None else members(line, "file", "line")


def sandbox(live: LiveSandbox, base_url: str, *, shows_secrets: bool = True) -> dict[str, Any]:
    """Return a sandbox for lists and creation answers."""
    resellers, origin = live.core.state.resellers.values(), live.scenario.origin
    return {
        "id": live.id,
        "scenario": live.scenario.name,
        "origin": origin and {"source": origin.source, "name": origin.name},
        "seed": live.seed,
        "url": f"{base_url}{SANDBOX_PREFIX}{live.id}",
        "clock": {
            "mode": live.clock.mode,
            "now": moment(live.clock.now()),
            "rate": live.clock.rate,
            "signature": live.scenario.clock.signature,
        },
        "audit": live.spec.is_audited,
        **({"quotas": to_builtins(live.spec.quotas)} if live.spec.quotas else {}),
        "resellers": [reseller(holder, shows_secrets=shows_secrets) for holder in resellers],
    }


def reseller(holder: Reseller, *, shows_secrets: bool = True) -> dict[str, Any]:
    """Return a reseller with its first active key, its first user and the target of its webhooks; null where it has
    none, or where the caller may not see its secrets."""
    key = next((key for key in holder.keys if key.state is KeyState.ACTIVE), None)
    user = holder.users[0] if holder.users else None
    return {
        "code": holder.code,
        "api_key": key.key if key else None,
        "api_secret": key.secret if key and shows_secrets else None,
        "username": user.username if user else None,
        "password": user.password if user and shows_secrets else None,
        "email": holder.email,
        "balance": number(holder.wallet.balance),
        "low_balance_threshold": number(holder.wallet.threshold) if holder.wallet.threshold else None,
        "balance_webhook": redact_urls(holder.webhook.url) if holder.webhook.enabled and holder.webhook.url else None,
    }


def entry(one: Entry) -> dict[str, Any]:
    """Return a ledger entry."""
    return {
        "id": one.id,
        "at": moment(one.at),
        "type": one.type.value,
        "amount": number(one.amount),
        "balance": number(one.balance),
        "remarks": one.remarks,
        "trxid": one.trxid,
    }
