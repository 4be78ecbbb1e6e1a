"""Who may call from where: the allowlist of a reseller (SPEC 8)."""

from simulator.api.addresses import is_named
from simulator.api.exchange import Call, Reply
from simulator.api.refusals import address_not_allowed
from simulator.domain.resellers import Reseller


def refuse_address(call: Call) -> Reply | None:
    """403 when the reseller that the API key names has an allowlist without this client."""
    key = call.headers.get(b"x-api-key")
    if key is None:
        return None
    call.named = named = call.sandbox.core.state.keys.get(key.decode("latin-1"))
    if named is None or not named[0].settings.ip_allowlist:
        return None
    return refuse_address_of(call, named[0])


def refuse_address_of(call: Call, reseller: Reseller) -> Reply | None:
    """403 when the reseller has an allowlist without this client."""
    if not reseller.settings.ip_allowlist:
        return None
    if is_named(call.exchange.client, reseller.settings.ip_allowlist):
        return None
    call.exchange.error = "ip_not_allowed"
    return address_not_allowed(call.exchange.client)
