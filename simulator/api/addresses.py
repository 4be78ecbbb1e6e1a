"""The client address of a request, and matching it against an allowlist (SPEC 8)."""

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

ADDRESS_CHARS_MAX = 80
_MAPPED = IPv6Network("::ffff:0:0/96")


def client_address(address: str, forwarded: bytes | None) -> str:
    """The `address` of a request's socket, or the first entry of `forwarded` when that is an address.

    `forwarded` is the value of `X-Forwarded-For`, passed only where that header is trusted.
    """
    if forwarded is not None and (named := named_address(forwarded.partition(b",")[0])):
        return named
    return _canonical(address) or address


def is_listed_address(address: str, allowlist: tuple[str, ...]) -> bool:
    """True when an address or network of the allowlist contains `address`; False for an invalid `address`."""
    plain = _canonical(address)
    if plain is None:
        return False
    client = ip_address(plain)
    return any(client in network for network in _networks(allowlist))


@lru_cache(maxsize=256)
def _networks(allowlist: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(_network(one) for one in allowlist)


def _network(entry: str) -> IPv4Network | IPv6Network:
    """A network of IPv4-mapped IPv6 addresses (RFC 4291 2.5.5.2) is normalized to the IPv4 network."""
    network = ip_network(entry, strict=False)
    if isinstance(network, IPv6Network) and (first := network[0].ipv4_mapped) and network.subnet_of(_MAPPED):
        return IPv4Network((first, network.prefixlen - _MAPPED.prefixlen))
    return network


def named_address(entry: bytes) -> str | None:
    """The address of one entry, with or without a port: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`,
    `[2001:db8::1]:4711`. None for anything else."""
    entry = entry.strip()
    if len(entry) > ADDRESS_CHARS_MAX:
        return None
    text = entry.decode("latin-1")
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    return _canonical(text)


def _canonical(text: str) -> str | None:
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
