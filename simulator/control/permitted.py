"""What a token may do: `read` changes nothing and gets no secrets, one of a sandbox has to do with nothing else."""

from collections.abc import Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.access import EVERYTHING, Access
from simulator.control.guard import Forbidden, Guard
from simulator.control.http import error

KEY: Final = "reseller_sim.access"
"""Where the scope of a request has its `Access`."""

READING: Final = ("GET", "HEAD")
LISTS: Final = ("/_sim/sandboxes", "/_sim/events")
"""A token of a sandbox gets what is its own of these; it may make its sandbox anew at the first."""
COMMON: Final = ("/_sim/assumptions", "/_sim/scenario.schema.json", "/_sim/scenarios")
_ONE: Final = "/_sim/sandboxes/"
_SCENARIO: Final = "/_sim/scenarios/"


class NotPermitted(Exception):
    """What this token may not do; answered with 403."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def refused(access: Access, method: str, path: str) -> Forbidden | None:
    """Why the holder of a token may not ask this, by method and path; None where nothing speaks against it."""
    if not access.may_change and method not in READING:
        text = f"the token {access.name!r} may only read: {method} needs one whose role is full"
        return Forbidden(403, "read_only_token", text)
    if access.sandbox is None or path in (*LISTS, *COMMON) or path.startswith(_SCENARIO):
        return None
    if path.startswith(_ONE) and path[len(_ONE) :].partition("/")[0] == access.sandbox:
        return None
    return Forbidden(403, "other_sandbox", only(access))


def only(access: Access) -> str:
    """What is said to a token of one sandbox that asks for anything else."""
    return f"the token {access.name!r} is for the sandbox {access.sandbox!r} alone: use one without sandbox= for others"


def access_of(request: Request) -> Access:
    """What a request may do."""
    found: Access = request.scope.get(KEY, EVERYTHING)
    return found


def still_allowed(request: Request) -> Callable[[], bool]:
    """What tells whether the token of a request still allows what it did, for answers that take long: the list of
    tokens may be read again meanwhile."""
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
    """Raise `NotPermitted` when a request has to do with a sandbox of this id and its token is another one's."""
    access = access_of(request)
    if access.sandbox not in (None, sandbox):
        raise NotPermitted("other_sandbox", only(access))


def may_see_secrets(request: Request, what: str) -> None:
    """Raise `NotPermitted` when a token that may only read asks for something that has secrets in it."""
    access = access_of(request)
    if not access.may_change:
        text = f"the token {access.name!r} may only read, and gets no secrets: {what} needs one whose role is full"
        raise NotPermitted("secrets_need_full", text)


async def on_not_permitted(request: Request, exc: Exception) -> Response:
    """403."""
    assert isinstance(exc, NotPermitted)
    return error(403, exc.code, exc.message)


def admitted(scope: Any, access: Access) -> Forbidden | None:
    """Let the resources know what a request may do, or say why it may not."""
    scope[KEY] = access
    return refused(access, scope["method"], scope["path"])
