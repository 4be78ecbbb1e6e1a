"""Access control of the control API: loopback programs, holders of the token, our own pages; no foreign web page.

`Host` is checked against DNS rebinding, `Origin` and `Sec-Fetch-Site` against other pages. The inbox's receiving URL is
open, since senders may use any host name for it, and so is the health check, which probes ask by address.
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

_HOST = re.compile(r"(\[[^\[\]@]+\]|[^:\[\]@]+)(?::[0-9]{0,5})?")


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Why a request is rejected."""

    status: int
    code: str
    message: str


class Guard:
    """`token` None leaves the API open; `hosts` are names beside loopback that `Host` may have."""

    def __init__(self, token: str | None, hosts: tuple[str, ...]) -> None:
        self._token = token.encode() if token is not None else None
        self._hosts = frozenset(name.lower() for name in hosts)

    def check(self, headers: Mapping[str, str]) -> Forbidden | None:
        """Check a request's headers (names in lower case); None accepts it."""
        host = headers.get("host", "")
        if not self._is_own_host(_name_of(host)):
            name = _name_of(host) or host
            text = f"the control API does not accept the host name {name!r}; add it with --allow-host"
            return Forbidden(403, "foreign_host", text)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return Forbidden(403, "foreign_origin", "the control API is not for pages of another origin")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Forbidden(403, "foreign_origin", "the control API is not for pages of another site")
        if self._token is not None and not self._has_token(headers.get("authorization", "")):
            return Forbidden(401, "control_token_required", "send Authorization: Bearer with the control token")
        return None

    def _has_token(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        assert self._token is not None
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)

    def _is_own_host(self, name: str) -> bool:
        if name in self._hosts or name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return False


def _name_of(host: str) -> str:
    """The name in a Host header, without port and brackets; empty for an invalid one."""
    found = _HOST.fullmatch(host)
    return found[1].strip("[]").lower() if found else ""
