"""Access to the control API: the guard of its requests, the file of tokens with their roles, and the permissions of a
role.

`Host` is checked against DNS rebinding, `Origin` and `Sec-Fetch-Site` against other pages. The receiving URL of an
inbox is open, since senders may use any host name for it. The health check is also open, since probes address it by IP.
"""

import hmac
import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any, Final, Literal, NamedTuple

from starlette.requests import Request

from simulator.control.http import Forbidden, Unauthorized
from simulator.runtime.sandboxes import is_sandbox_id

Role = Literal["read", "full"]

SECRET_CHARS_MIN: Final = 16
FORM: Final = "NAME read|full TOKEN, then sandbox=ID for a single sandbox"
_LINE: Final = re.compile(
    rf"([A-Za-z0-9][A-Za-z0-9._-]{{0,63}})\s+(read|full)\s+([!-~]{{{SECRET_CHARS_MIN},}})(?:\s+sandbox=(\S+))?"
)


class TokenPermissions(NamedTuple):
    """The permissions of a request. The role `read` cannot change anything and sees no secrets; `full` permits
    everything. With a `sandbox`, the role is limited to that sandbox. `name` is the name of the token, empty for the
    control token and without authentication."""

    name: str = ""
    role: Role = "full"
    sandbox: str | None = None

    @property
    def may_change(self) -> bool:
        """Return whether it may make changes and see secrets."""
        return self.role == "full"


EVERYTHING: Final = TokenPermissions()


class Token(NamedTuple):
    """A secret with the permissions of its holder."""

    secret: str
    access: TokenPermissions


class BadTokens(ValueError):
    """An invalid file of tokens. The text names the line and the reason, without any token."""


def parsed_tokens(content: bytes) -> tuple[Token, ...]:
    """Return the tokens of a file with a token per line, `NAME ROLE TOKEN [sandbox=ID]`; lines that begin with `#` are
    ignored.

    Raises `BadTokens`.
    """
    try:
        lines = content.decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise BadTokens("has characters other than ASCII") from None
    tokens: list[Token] = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if line and not line.startswith("#"):
            try:
                tokens.append(_token(line, tokens))
            except BadTokens as wrong:
                raise BadTokens(f"line {number}: {wrong}") from None
    if not tokens:
        raise BadTokens(f"has no tokens: write {FORM}")
    return tuple(tokens)


def _token(line: str, before: list[Token]) -> Token:
    found = _LINE.fullmatch(line)
    if found is None or not is_sandbox_id(found[4] or "any"):
        raise BadTokens(f"write {FORM}; TOKEN has at least {SECRET_CHARS_MIN} visible characters")
    name, role, secret, sandbox = found.groups()
    if any(token.access.name == name for token in before):
        raise BadTokens(f"the name {name} is already used")
    if any(token.secret == secret for token in before):
        raise BadTokens(f"the token of {name} is already used by another name")
    return Token(secret, TokenPermissions(name, "full" if role == "full" else "read", sandbox))


DELIVERY_HEADER = "x-sim-delivery"

_HOST = re.compile(r"(\[[^\[\]@]+\]|[^:\[\]@]+)(?::[0-9]{0,5})?")


class Guard:
    """Authenticates requests with `token`, which permits everything, and `tokens`; without any token the API is open.
    `hosts` are names that `Host` may have in addition to loopback."""

    def __init__(self, token: str | None, hosts: tuple[str, ...], tokens: Iterable[Token] = ()) -> None:
        self.use(token, tokens)
        self._hosts = frozenset(name.lower() for name in hosts)

    def use(self, token: str | None, tokens: Iterable[Token] = ()) -> None:
        """Replace the tokens. Long-running answers check their access again."""
        own = [] if token is None else [Token(token, EVERYTHING)]
        self._tokens = [(one.secret.encode(), one.access) for one in (*own, *tokens)]

    def access(self, headers: Mapping[str, str]) -> TokenPermissions:
        """Return the permissions of a request with these headers (names in lower case). Raises `Forbidden`."""
        if DELIVERY_HEADER in headers:
            text = f"a callback or webhook of a simulator may not use the control API: it carries {DELIVERY_HEADER}"
            raise Forbidden("delivery_refused", f"{text}; send it to /_sim/inbox/SANDBOX/NAME or inbox:NAME")
        host = headers.get("host", "")
        if not self._is_own_host(_name_of(host)):
            name = _name_of(host) or host
            text = f"the control API does not accept the host name {name!r}; add it with --allow-host"
            raise Forbidden("foreign_host", text)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            raise Forbidden("foreign_origin", "the control API is not for pages of another origin")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Forbidden("foreign_origin", "the control API is not for pages of another site")
        if not self._tokens:
            return EVERYTHING
        scheme, _, token = headers.get("authorization", "").partition(" ")
        is_bearer, sent = scheme.lower() == "bearer", token.strip().encode()
        found: TokenPermissions | None = None
        for secret, access in self._tokens:  # all of them, each in constant time
            if hmac.compare_digest(sent, secret) and is_bearer:
                found = access
        if found is None:
            what = "the token of this request is not known" if is_bearer else "a token is missing"
            text = f"{what}: send Authorization: Bearer with the control token"
            raise Unauthorized("control_token_required", text)
        return found

    def _is_own_host(self, name: str) -> bool:
        if name in self._hosts or name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return False


def _name_of(host: str) -> str:
    """Return the name in a Host header, without port and brackets; empty if invalid."""
    found = _HOST.fullmatch(host)
    return found[1].strip("[]").lower() if found else ""


KEY: Final = "reseller_sim.access"
"""The key of the `TokenPermissions` in the scope of a request."""

LISTS: Final = ("/_sim/sandboxes", "/_sim/events")
"""Lists that a sandbox token may read, limited to its own sandbox; at the first it may also recreate its sandbox."""
COMMON: Final = ("/_sim/assumptions", "/_sim/scenario.schema.json", "/_sim/scenarios")
_ONE: Final = "/_sim/sandboxes/"


def admit(scope: Any, access: TokenPermissions) -> None:
    """Store the permissions of a request in its scope. Raises `Forbidden` when they exclude its method or path."""
    scope[KEY], method, path = access, scope["method"], scope["path"]
    if not access.may_change and method not in ("GET", "HEAD"):
        text = f"the token {access.name!r} may only read: {method} needs a token of the role full"
        raise Forbidden("read_only_token", text)
    is_common = path in (*LISTS, *COMMON) or path.startswith("/_sim/scenarios/")
    is_own = path.startswith(_ONE) and path[len(_ONE) :].partition("/")[0] == access.sandbox
    if access.sandbox is not None and not is_common and not is_own:
        raise Forbidden("other_sandbox", only(access))


def only(access: TokenPermissions) -> str:
    """Return the message for a sandbox token that requests anything else."""
    text = f"the token {access.name!r} is for the sandbox {access.sandbox!r} alone"
    return f"{text}: for other sandboxes, use a token without sandbox="


def access_of(request: Request) -> TokenPermissions:
    found: TokenPermissions = request.scope.get(KEY, EVERYTHING)
    return found


def is_still_allowed(request: Request) -> bool:
    """Return whether the token of a request still permits it: the tokens may be reloaded during a long answer."""
    guard: Guard = request.app.state.guard
    try:
        return guard.access(request.headers) == access_of(request)
    except Forbidden:
        return False


def refuse_revoked(request: Request) -> None:
    """Raise `Unauthorized` when the token of a request was revoked while the request waited."""
    if not is_still_allowed(request):
        text = "the token of this request was removed or changed while the request waited"
        raise Unauthorized("control_token_required", text)


def may_touch(request: Request, sandbox: str | None) -> None:
    """Raise `Forbidden` when a request concerns the sandbox with this id and its token belongs to another
    sandbox."""
    access = access_of(request)
    if access.sandbox not in (None, sandbox):
        raise Forbidden("other_sandbox", only(access))


def may_see_secrets(request: Request, what: str) -> None:
    """Raise `Forbidden` when a read-only token requests something that contains secrets."""
    access = access_of(request)
    if not access.may_change:
        text = f"the token {access.name!r} may only read, and gets no secrets: {what} needs a token of the role full"
        raise Forbidden("secrets_need_full", text)
