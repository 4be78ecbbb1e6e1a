"""Proxies whose word counts (`--trusted-forwarders`): who the client is, and by which address it came."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from simulator.api.addresses import client_address, is_listed_address, named_address

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
        """Let ASGI's `scope` of a control request have the scheme and host by which its client came to a trusted proxy,
        and the root."""
        scope[ROOT_KEY] = self.root
        if self.forwarders is None:
            return
        told = self.forwarders.told((scope.get("client") or ("",))[0], dict(scope["headers"]))
        scope["scheme"] = told.scheme or scope["scheme"]
        if told.host:
            others = [pair for pair in scope["headers"] if pair[0] != b"host"]
            scope["headers"] = [(b"host", told.host), *others]


def _last(value: bytes) -> bytes:
    return value.rpartition(b",")[2].strip()
