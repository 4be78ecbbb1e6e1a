"""The client address of a request, and matching it against an allowlist (SPEC 8)."""

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from simulator.api.call import Call, Reply
from simulator.api.refusals import address_not_allowed
from simulator.auth import headers as names
from simulator.domain.model.resellers import Reseller

ADDRESS_CHARS_MAX = 80
ENTRIES_SHOWN_MAX = 5
_MAPPED = IPv6Network("::ffff:0:0/96")


def client_address(address: str, forwarded: bytes | None) -> str:
    """The `address` of a request's socket, or the first entry of `forwarded` when that is an address.

    `forwarded` is the value of `X-Forwarded-For`, passed only where that header is trusted.
    """
    if forwarded is not None and (named := _first_forwarded(forwarded)):
        return named
    return _plain(address) or address if address[:1] == ":" else address


def is_named(address: str, allowlist: tuple[str, ...]) -> bool:
    """True when an address or network of the allowlist contains `address`; False for an invalid `address`."""
    plain = _plain(address)
    if plain is None:
        return False
    client = ip_address(plain)
    return any(client in network for network in _networks(allowlist))


def refuse_address(call: Call) -> Reply | None:
    """403 when the API key's reseller has an allowlist that excludes this client.

    A revoked key is rejected as revoked, from any address (SPEC 5.2).
    """
    key = call.headers.get(names.API_KEY)
    if key is None:
        return None
    call.named = named = call.sandbox.core.state.keys.get(key.decode("latin-1"))
    if named is None or not named[0].settings.ip_allowlist or named[1].state == "revoked":
        return None
    return refuse_address_of(call, named[0])


def refuse_address_of(call: Call, reseller: Reseller) -> Reply | None:
    """403 when the reseller has an allowlist that excludes this client."""
    allowlist = reseller.settings.ip_allowlist
    if not allowlist or is_named(call.exchange.client, allowlist):
        return None
    shown = ", ".join(allowlist[:ENTRIES_SHOWN_MAX]) + (", ..." if len(allowlist) > ENTRIES_SHOWN_MAX else "")
    call.exchange.error = "ip_not_allowed"
    call.exchange.diagnosis = f"{call.exchange.client} is not in the ip_allowlist of {reseller.code}: {shown}"
    return address_not_allowed(call.exchange.client)


@lru_cache(maxsize=256)
def _networks(allowlist: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(_network(one) for one in allowlist)


def _network(entry: str) -> IPv4Network | IPv6Network:
    """A network of IPv4-mapped IPv6 addresses (RFC 4291 2.5.5.2) is normalized to the IPv4 network."""
    network = ip_network(entry, strict=False)
    if isinstance(network, IPv6Network) and (first := network[0].ipv4_mapped) and network.subnet_of(_MAPPED):
        return IPv4Network((first, network.prefixlen - _MAPPED.prefixlen))
    return network


def _first_forwarded(forwarded: bytes) -> str | None:
    """The first entry, with or without a port: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`."""
    first = forwarded.partition(b",")[0].strip()
    if len(first) > ADDRESS_CHARS_MAX:
        return None
    text = first.decode("latin-1")
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    return _plain(text)


def _plain(text: str) -> str | None:
    """The canonical text of an address, IPv4 for an IPv4-mapped one; None for anything else."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return None
        if address.ipv4_mapped is not None:
            address = address.ipv4_mapped
    return str(address)
