"""Who a client is and how it came: its address, and what trusted proxies say of it."""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, NamedTuple

from simulator.api.call import Call, Reply
from simulator.api.refusals import address_blocked, address_not_allowed
from simulator.auth import headers as names
from simulator.domain.commands import CountRequest
from simulator.domain.model.resellers import Reseller

ENTRIES_SHOWN_MAX = 5


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


ROOT_KEY: Final = "reseller_sim.root"
FORWARDED_FOR: Final = b"x-forwarded-for"
HTTPS: Final = "https"
HOPS_MAX: Final = 32
"""How many proxies may stand one behind the other; what came before is not looked at."""
_HOST: Final = re.compile(rb"[A-Za-z0-9._-]{1,255}(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](?::[0-9]{1,5})?")
_SCHEMES: Final = (b"http", b"https")


class Told(NamedTuple):
    """What a trusted proxy says of the address that the client used; empty where it says nothing that can be."""

    scheme: str
    host: bytes


class Forwarders:
    """Addresses and networks of the proxies that stand before this server."""

    def __init__(self, networks: tuple[str, ...]) -> None:
        self._networks = networks

    def trusts(self, address: str) -> bool:
        """Whether this is the address of one of them."""
        return is_listed_address(address, self._networks)

    def client(self, peer: str, forwarded: bytes | None) -> str:
        """Who sent a request that came from `peer` with this `X-Forwarded-For`: read from its end, the first that is no
        trusted proxy. Whoever is none may have written whatever stands before; what is no address ends it, too."""
        found = peer
        hops = forwarded.rsplit(b",", HOPS_MAX)[-HOPS_MAX:] if forwarded else []
        while hops and self.trusts(found):
            named = named_address(hops.pop())
            if named is None:
                break
            found = named
        return found

    def told(self, peer: str, headers: Mapping[bytes, bytes]) -> Told:
        """Scheme and host as the nearest proxy tells them, if `peer` is a trusted one."""
        if not self.trusts(peer):
            return Told("", b"")
        scheme = _last(headers.get(b"x-forwarded-proto", b"")).lower()
        host = _last(headers.get(b"x-forwarded-host", b""))
        return Told(scheme.decode() if scheme in _SCHEMES else "", host if _HOST.fullmatch(host) else b"")


class Whence:
    """Who sends a request and how. Who the client is, `forwarders` may say, or with `trust_forwarded` everybody;
    `is_tls` when this server speaks TLS itself."""

    def __init__(
        self, trust_forwarded: bool = False, forwarders: Forwarders | None = None, *, is_tls: bool = False
    ) -> None:
        self._trust_forwarded, self._forwarders = trust_forwarded, forwarders
        self._scheme = HTTPS if is_tls else ""

    def of(self, peer: str, headers: Mapping[bytes, bytes]) -> tuple[str, str]:
        """The address of the client, and `https` if it came by that to us or to a trusted proxy, else empty."""
        client, scheme = peer, self._scheme
        if self._forwarders is not None:
            told = self._forwarders.told(peer, headers).scheme
            scheme = (told if told == HTTPS else "") if told else scheme
            client = self._forwarders.client(peer, headers.get(FORWARDED_FOR))
        if self._trust_forwarded or ":" in client:  # it may be an IPv4-mapped address
            client = client_address(client, headers.get(FORWARDED_FOR) if self._trust_forwarded else None)
        return client, scheme


PLAIN: Final = Whence()


class Front:
    """What stands before a server: `forwarders`, if any of these networks are trusted, and `root`, which they have
    before our paths. They may leave it there, or remove it."""

    def __init__(self, networks: tuple[str, ...], root: str) -> None:
        self.forwarders = Forwarders(networks) if networks else None
        self.root = root

    def below(self, path: str) -> str:
        """A path without the root."""
        below = path.removeprefix(self.root)
        return below if below.startswith("/") else path

    def below_sent(self, target: bytes) -> bytes:
        """The same of a target as it was sent."""
        return self.below(target.decode("latin-1")).encode("latin-1")

    def tell(self, scope: Any) -> None:
        """Let ASGI's `scope` of a control request have scheme and host as a trusted proxy tells them."""
        if self.forwarders is None:
            return
        told = self.forwarders.told((scope.get("client") or ("",))[0], dict(scope["headers"]))
        scope["scheme"] = told.scheme or scope["scheme"]
        if told.host:
            others = [pair for pair in scope["headers"] if pair[0] != b"host"]
            scope["headers"] = [(b"host", told.host), *others]


def _last(value: bytes) -> bytes:
    return value.rpartition(b",")[2].strip()


def refuse_blocked(call: Call) -> Reply | None:
    """403 for an address that exceeded the request rate; counts this request (SPEC 8)."""
    client = call.exchange.client
    if not call.sandbox.apply(CountRequest(client), call.now):
        return None
    limits = call.sandbox.scenario.limits
    call.exchange.error = "ip_blocked"
    call.exchange.diagnosis = (
        f"more than {limits.requests_per_interval} requests came from {client} within "
        f"{limits.rate_limit_interval.total_seconds():g} s of the sandbox's time, which blocks it for "
        f"{limits.rate_limit_block.total_seconds():g} s; limits.requests_per_interval: null in the scenario lifts it"
    )
    return address_blocked(client)


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
    """403 when the reseller has an allowlist that excludes this client, who is told of neither: the key alone proves
    nothing."""
    allowlist = reseller.settings.ip_allowlist
    if not allowlist or is_listed_address(call.exchange.client, allowlist):
        return None
    shown = ", ".join(allowlist[:ENTRIES_SHOWN_MAX]) + (", ..." if len(allowlist) > ENTRIES_SHOWN_MAX else "")
    call.exchange.error = "ip_not_allowed"
    call.exchange.diagnosis = f"{call.exchange.client} is not in the ip_allowlist of {reseller.code}: {shown}"
    call.exchange.told = f"{call.exchange.client} is not on the list of addresses that may use these credentials"
    return address_not_allowed(call.exchange.client)
