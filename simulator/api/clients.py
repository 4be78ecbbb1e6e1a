"""The clients of requests: addresses and schemes, directly or through trusted proxies."""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

_MAPPED = IPv6Network("::ffff:0:0/96")


def is_listed_address(address: str, allowlist: tuple[str, ...]) -> bool:
    """Return whether an address or network of the allowlist contains `address`; False for an invalid address."""
    plain = _canonical(address)
    if plain is None:
        return False
    client = ip_address(plain)
    return any(client in network for network in _networks(allowlist))


@lru_cache(maxsize=256)
def _networks(allowlist: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(map(_network, allowlist))


def _network(entry: str) -> IPv4Network | IPv6Network:
    """Parse a network; a network of IPv4-mapped IPv6 addresses (RFC 4291 2.5.5.2) is normalized to IPv4."""
    network = ip_network(entry, strict=False)
    if isinstance(network, IPv6Network) and (first := network[0].ipv4_mapped) and network.subnet_of(_MAPPED):
        return IPv4Network((first, network.prefixlen - _MAPPED.prefixlen))
    return network


def named_address(entry: bytes) -> str | None:
    """Return the address of an entry, with or without a port: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`,
    `[2001:db8::1]:4711`. None for anything else."""
    text = entry.strip().decode("latin-1")
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    return _canonical(text)


def _canonical(text: str) -> str | None:
    """Return the canonical text of an address, IPv4 for an IPv4-mapped address; None for anything else."""
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


FORWARDED_FOR: Final = b"x-forwarded-for"
HTTPS: Final = "https"
HOPS_MAX: Final = 32
"""The longest chain of proxies that is followed."""
_HOST: Final = re.compile(rb"[A-Za-z0-9._-]{1,255}(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](?::[0-9]{1,5})?")
_SCHEMES: Final = (b"http", b"https")


class ClientResolver:
    """A resolver of clients' addresses and schemes from the headers of trusted proxies, whose addresses `networks` has,
    or with `trust_forwarded` from any sender's. `is_tls` when this server speaks TLS itself. `is_direct` when nothing
    but the socket counts."""

    def __init__(self, networks: tuple[str, ...] = (), *, trust_forwarded: bool = False, is_tls: bool = False) -> None:
        self._networks, self._trust_forwarded = networks, trust_forwarded
        self._scheme = HTTPS if is_tls else ""
        self.is_direct = not (networks or trust_forwarded or is_tls)

    def resolve(self, peer: str, headers: Mapping[bytes, bytes]) -> tuple[str, str]:
        """Return the client's address, and `https` if the client used TLS to us or to a trusted proxy, else empty."""
        client, scheme, hops = peer, self._scheme, headers.get(FORWARDED_FOR)
        if self._networks:
            forwarded, _ = self.forwarded(peer, headers)
            scheme = (forwarded if forwarded == HTTPS else "") if forwarded else scheme
            client = self._nearest_untrusted(peer, hops)
        if self._trust_forwarded and hops is not None and (first := named_address(hops.partition(b",")[0])):
            return first, scheme
        return (":" in client and _canonical(client)) or client, scheme  # it may be an IPv4-mapped address

    def _nearest_untrusted(self, peer: str, forwarded: bytes | None) -> str:
        """Return the client's address of a request that came from `peer` with this `X-Forwarded-For`.

        The header is read from its end up to the first address that is no trusted proxy: an untrusted sender can
        forge all entries before its own. An entry that is not an address ends the search.
        """
        found = peer
        hops = forwarded.rsplit(b",", HOPS_MAX)[-HOPS_MAX:] if forwarded else []
        while hops and is_listed_address(found, self._networks):
            named = named_address(hops.pop())
            if named is None:
                break
            found = named
        return found

    def forwarded(self, peer: str, headers: Mapping[bytes, bytes]) -> tuple[str, bytes]:
        """Return scheme and host as the nearest proxy forwarded them; empty where a header is missing or invalid, and
        when `peer` is not trusted."""
        if not is_listed_address(peer, self._networks):
            return "", b""
        scheme = _last(headers.get(b"x-forwarded-proto", b"")).lower()
        host = _last(headers.get(b"x-forwarded-host", b""))
        return scheme.decode() if scheme in _SCHEMES else "", host if _HOST.fullmatch(host) else b""


DIRECT: Final = ClientResolver()


def _last(value: bytes) -> bytes:
    return value.rpartition(b",")[2].strip()
