"""Access control of the control API: loopback programs, holders of the token, our own pages; no foreign web page.

`Host` is checked against DNS rebinding, `Origin` and `Sec-Fetch-Site` against other pages. The inbox's receiving URL is
open, since senders may use any host name for it, and so is the health check, which probes ask by address.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from simulator.control.access import EVERYTHING, Access, Token, Tokens

DELIVERY_HEADER = "x-sim-delivery"

_HOST = re.compile(r"(\[[^\[\]@]+\]|[^:\[\]@]+)(?::[0-9]{0,5})?")


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Why a request is rejected."""

    status: int
    code: str
    message: str


class Guard:
    """`token` and `tokens` may use the API, the former for everything; without any it is open. `hosts` are names beside
    loopback that `Host` may have."""

    def __init__(self, token: str | None, hosts: tuple[str, ...], tokens: Iterable[Token] = ()) -> None:
        self.changes = 0  # how often it was told of other tokens
        self.use(token, tokens)
        self._hosts = frozenset(name.lower() for name in hosts)

    def use(self, token: str | None, tokens: Iterable[Token] = ()) -> None:
        """Ask for these from now on. Who waits for something should ask again whether it may."""
        self.changes += 1
        self._tokens = Tokens([*([] if token is None else [Token(token, EVERYTHING)]), *tokens])

    def check(self, headers: Mapping[str, str]) -> Forbidden | None:
        """Check a request's headers (names in lower case); None accepts it."""
        found = self.access(headers)
        return found if isinstance(found, Forbidden) else None

    def access(self, headers: Mapping[str, str]) -> Access | Forbidden:
        """What a request with these headers (names in lower case) may do, or why it is rejected."""
        if DELIVERY_HEADER in headers:
            text = f"a callback or webhook of a simulator may not use the control API: it carries {DELIVERY_HEADER}"
            return Forbidden(403, "delivery_refused", f"{text}; send it to /_sim/inbox/SANDBOX/NAME or inbox:NAME")
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
        if not len(self._tokens):
            return EVERYTHING
        scheme, _, given = headers.get("authorization", "").partition(" ")
        found = self._tokens.find(given.strip().encode()) if scheme.lower() == "bearer" else None
        if found is None:
            what = "the token of this request is not known" if scheme.lower() == "bearer" else "a token is missing"
            text = f"{what}: send Authorization: Bearer with the control token"
            return Forbidden(401, "control_token_required", text)
        return found

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
