"""Whether an address leads to what this process listens on."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

from simulator.cli.running import WILDCARDS

Ip = IPv4Address | IPv6Address


def is_own(host: str, listens: str) -> bool:
    """True when a connection to `host` may come to a socket of the same port bound to `listens`. Both are names or
    addresses; a name that does not resolve leads nowhere."""
    reached = _addresses(host)
    if listens in WILDCARDS:
        return any(map(_is_local, reached))
    return not reached.isdisjoint(_addresses(listens))


def _addresses(host: str) -> set[Ip]:
    """What a connection to a host reaches; one to a wildcard reaches this machine (RFC 1122 3.2.1.3)."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {_reached(ip_address(str(each[4][0]).partition("%")[0])) for each in found}


def _reached(address: Ip) -> Ip:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_unspecified:
        return IPv4Address("127.0.0.1") if address.version == 4 else IPv6Address("::1")
    return address


def _is_local(address: Ip) -> bool:
    """Only an address of this machine can be bound to."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as bound:
            bound.bind((str(address), 0))
    except OSError:
        return False
    return True
