"""The IP addresses that deliveries may reach, by a table in this module.

The table follows IANA's registries of special-purpose addresses. The table of `ipaddress` differs between the supported
versions of Python.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

import msgspec

Address = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network
Table = tuple[tuple[IpNetwork, str], ...]


def _networks(*rows: tuple[str, str]) -> Table:
    return tuple((ip_network(network), kind) for networks, kind in rows for network in networks.split())


_METADATA = "an address where a cloud serves its metadata"
_RESERVED = "a reserved address"
_NEVER = _networks(
    ("169.254.0.0/16 fe80::/10", "a link-local address, where clouds serve their metadata"),
    ("168.63.129.16/32", _METADATA),  # Azure
    ("192.0.0.192/32 fd00:c1::a9fe:a9fe/128", _METADATA),  # Oracle
    ("100.100.100.200/32", _METADATA),  # Alibaba
    ("fd00:ec2::/32", _METADATA),  # Amazon: ::254, and ::23 and ::253 beside it
    ("fd20:ce::254/128", _METADATA),  # Google
    ("fd00:42::42/128", _METADATA),  # Scaleway
)
_NOT_PUBLIC = _networks(
    ("127.0.0.0/8 ::1/128", "a loopback address"),
    ("0.0.0.0/8 ::/128", "an unspecified address, which reaches this machine"),
    ("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10", "a private address"),
    ("100.64.0.0/10", "an address behind a carrier's NAT"),
    ("224.0.0.0/4 ff00::/8", "a multicast address"),
    ("192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24", _RESERVED),
    ("240.0.0.0/4 100::/64 100:0:0:1::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16", _RESERVED),
)
_GLOBAL_V6 = IPv6Network("2000::/3")

# Packets to these go to the IPv4 address in their last bits, so that address alone decides.
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
# Other forms that embed an IPv4 address. No callback is served there, and a relay on the way may unpack the address.
_EMBEDDING = _networks(
    ("::/96", "an IPv4-compatible address"),
    ("::ffff:0:0:0/96", "an IPv4-translated address"),
    ("64:ff9b:1::/48", "a NAT64 address of a local prefix"),
    ("2001::/32", "a Teredo address"),
    ("2002::/16", "a 6to4 address"),
)
_ISATAP = (0x00005EFE, 0x02005EFE)  # in bits 64 to 95, under any prefix


class AddressPolicy(msgspec.Struct, frozen=True):
    """An address filter for deliveries. `public_only` allows only addresses of the public internet."""

    public_only: bool = False

    def refuse(self, address: Address) -> str | None:
        """Return why `address` is forbidden, or None when it is allowed."""
        target = _stood_for(address)
        reason = _kind(target, _NEVER) or _embedding(address)
        if reason is None and self.public_only:
            is_reserved = isinstance(target, IPv6Address) and target not in _GLOBAL_V6
            kind = _kind(target, _NOT_PUBLIC) or (_RESERVED if is_reserved else None)
            reason = kind and f"{kind}: `--callbacks any` of the server allows it"
        return f"{address} is {reason}" if reason else None


def _kind(address: Address, table: Table) -> str | None:
    return next((kind for network, kind in table if address in network), None)


def _stood_for(address: Address) -> Address:
    """Return the address that packets to `address` go to."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _embedding(address: Address) -> str | None:
    """Return how an IPv6 address embeds an IPv4 address, or None when the IPv4 address alone decides."""
    if isinstance(address, IPv4Address) or int(address) <= 1:  # `::` and `::1` embed nothing
        return None
    is_isatap = int(address) >> 32 & 0xFFFFFFFF in _ISATAP
    kind = "an ISATAP address" if is_isatap else _kind(address, _EMBEDDING)
    return f"{kind}, which embeds an IPv4 address" if kind else None
