"""Counts requests and spends nonces (SPEC 3.6, 8)."""

from datetime import datetime

from simulator.domain.commands import CountRequest, ReturnNonce, SpendNonce
from simulator.domain.state import State


def count_request(state: State, command: CountRequest, now: datetime) -> bool:
    """Count one request of an address; True when the rate limit blocks it."""
    return state.rates is not None and not state.rates.allow(command.address, now)


def spend_nonce(state: State, command: SpendNonce, now: datetime) -> bool:
    """Check and spend a nonce; False when it was spent recently."""
    scope = command.reseller if state.nonces_by_reseller else command.api_key
    return state.nonces.spend(scope, command.nonce, command.timestamp_s, now, command.signing_s)


def return_nonce(state: State, command: ReturnNonce, now: datetime) -> None:
    """Release the latest nonce."""
    state.nonces.take_back(command.reseller if state.nonces_by_reseller else command.api_key, command.nonce)
