"""Access to the control API: the guard of its requests, the file of tokens with their roles, and the permissions of a
role.

`Host` is checked against DNS rebinding, `Origin` and `Sec-Fetch-Site` against other pages. The receiving URL of an
inbox is open, since senders may use any host name for it. The health check is also open, since probes address it by IP.
"""

import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from typing import Any, Final, Literal, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.http import error
from simulator.runtime.sandboxes import is_sandbox_id

Role = Literal["read", "full"]

FILE_BYTES_MAX: Final = 64 * 1024
TOKENS_MAX: Final = 200
SECRET_CHARS_MIN: Final = 16
SECRET_CHARS_MAX: Final = 200
ROLES: Final = ("read", "full")
FORM: Final = "NAME read|full TOKEN, then sandbox=ID for a single sandbox"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SECRET: Final = re.compile(r"[!-~]+")


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
    if len(content) > FILE_BYTES_MAX:
        raise BadTokens(f"has more than {FILE_BYTES_MAX} bytes")
    try:
        lines = content.decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise BadTokens("has characters other than ASCII") from None
    tokens: list[Token] = []
    for number, line in enumerate(lines, 1):
        words = [] if line.lstrip().startswith("#") else line.split()
        if words:
            try:
                tokens.append(_token(words, tokens))
            except BadTokens as wrong:
                raise BadTokens(f"line {number}: {wrong}") from None
    if not tokens:
        raise BadTokens(f"has no tokens: write {FORM}")
    return tuple(tokens)


def _token(words: list[str], before: list[Token]) -> Token:
    name, role, secret, place = [*words, *[""] * 4][:4]
    is_named = _NAME.fullmatch(name) is not None and role in ROLES
    is_secret = SECRET_CHARS_MIN <= len(secret) <= SECRET_CHARS_MAX and _SECRET.fullmatch(secret) is not None
    key, _, sandbox = place.partition("=")
    is_place = not place or (key == "sandbox" and is_sandbox_id(sandbox))
    if not (is_named and is_secret and is_place and len(words) <= 4):
        raise BadTokens(f"write {FORM}; TOKEN has {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} visible characters")
    if len(before) == TOKENS_MAX:
        raise BadTokens(f"is one more than {TOKENS_MAX} tokens")
    if any(one.access.name == name for one in before):
        raise BadTokens(f"the name {name} is already used")
    if any(one.secret == secret for one in before):
        raise BadTokens(f"the token of {name} is already used by another name")
    return Token(secret, TokenPermissions(name, "full" if role == "full" else "read", sandbox or None))


DELIVERY_HEADER = "x-sim-delivery"

_HOST = re.compile(r"(\[[^\[\]@]+\]|[^:\[\]@]+)(?::[0-9]{0,5})?")


class Forbidden(Exception):
    """The reason for rejecting a request, which is answered with it."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class Guard:
    """Authenticates requests with `token`, which permits everything, and `tokens`; without any token the API is open.
    `hosts` are names that `Host` may have in addition to loopback."""

    def __init__(self, token: str | None, hosts: tuple[str, ...], tokens: Iterable[Token] = ()) -> None:
        self.changes = 0  # how often the tokens were replaced
        self.use(token, tokens)
        self._hosts = frozenset(name.lower() for name in hosts)

    def use(self, token: str | None, tokens: Iterable[Token] = ()) -> None:
        """Replace the tokens. Long-running answers should check their access again."""
        self.changes += 1
        own = [] if token is None else [Token(token, EVERYTHING)]
        self._tokens = [(one.secret.encode(), one.access) for one in (*own, *tokens)]

    def check(self, headers: Mapping[str, str]) -> Forbidden | None:
        """Check the headers of a request (names in lower case); return None to accept it."""
        found = self.access(headers)
        return found if isinstance(found, Forbidden) else None

    def access(self, headers: Mapping[str, str]) -> TokenPermissions | Forbidden:
        """Return the permissions of a request with these headers (names in lower case), or the reason for rejecting
        it."""
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
        if not self._tokens:
            return EVERYTHING
        scheme, _, given = headers.get("authorization", "").partition(" ")
        found = self._find(given.strip().encode()) if scheme.lower() == "bearer" else None
        if found is None:
            what = "the token of this request is not known" if scheme.lower() == "bearer" else "a token is missing"
            text = f"{what}: send Authorization: Bearer with the control token"
            return Forbidden(401, "control_token_required", text)
        return found

    def _find(self, given: bytes) -> TokenPermissions | None:
        """Return the permissions of a token, or None if unknown. Compares all tokens, each in constant time."""
        found = None
        for secret, access in self._tokens:
            if hmac.compare_digest(given, secret):
                found = access
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

READING: Final = ("GET", "HEAD")
LISTS: Final = ("/_sim/sandboxes", "/_sim/events")
"""Lists that a sandbox token may read, limited to its own sandbox; at the first it may also recreate its sandbox."""
COMMON: Final = ("/_sim/assumptions", "/_sim/scenario.schema.json", "/_sim/scenarios")
_ONE: Final = "/_sim/sandboxes/"
_SCENARIO: Final = "/_sim/scenarios/"


def refused(access: TokenPermissions, method: str, path: str) -> Forbidden | None:
    """Return why a token may not send a request with this method and path; None if it may."""
    if not access.may_change and method not in READING:
        text = f"the token {access.name!r} may only read: {method} needs one whose role is full"
        return Forbidden(403, "read_only_token", text)
    if access.sandbox is None or path in (*LISTS, *COMMON) or path.startswith(_SCENARIO):
        return None
    if path.startswith(_ONE) and path[len(_ONE) :].partition("/")[0] == access.sandbox:
        return None
    return Forbidden(403, "other_sandbox", only(access))


def only(access: TokenPermissions) -> str:
    """Return the message for a sandbox token that requests anything else."""
    return f"the token {access.name!r} is for the sandbox {access.sandbox!r} alone: use one without sandbox= for others"


def access_of(request: Request) -> TokenPermissions:
    """Return the permissions of a request."""
    found: TokenPermissions = request.scope.get(KEY, EVERYTHING)
    return found


def still_allowed(request: Request) -> Callable[[], bool]:
    """Return a function that checks whether the token of a request still permits it. Long-running answers need it,
    since the tokens may be reloaded meanwhile."""
    guard: Guard = request.app.state.guard
    access, seen = access_of(request), guard.changes

    def is_allowed() -> bool:
        nonlocal seen
        if guard.changes == seen:
            return True
        if guard.access(request.headers) != access:
            return False
        seen = guard.changes
        return True

    return is_allowed


def may_touch(request: Request, sandbox: str | None) -> None:
    """Raise `Forbidden` when a request concerns the sandbox with this id and its token belongs to another
    sandbox."""
    access = access_of(request)
    if access.sandbox not in (None, sandbox):
        raise Forbidden(403, "other_sandbox", only(access))


def may_see_secrets(request: Request, what: str) -> None:
    """Raise `Forbidden` when a read-only token requests something that contains secrets."""
    access = access_of(request)
    if not access.may_change:
        text = f"the token {access.name!r} may only read, and gets no secrets: {what} needs one whose role is full"
        raise Forbidden(403, "secrets_need_full", text)


async def on_forbidden(request: Request, exc: Exception) -> Response:
    """Return the reason for rejecting a request."""
    assert isinstance(exc, Forbidden)
    return error(exc.status, exc.code, exc.message)


def admitted(scope: Any, access: TokenPermissions) -> Forbidden | None:
    """Store the permissions of a request in its scope, or return the reason for rejecting it."""
    scope[KEY] = access
    return refused(access, scope["method"], scope["path"])
