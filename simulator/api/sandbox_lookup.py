"""Look-up of the sandbox of a request. At the root, credentials unique to one sandbox select it."""

from typing import Any

import msgspec

from simulator.api.call import Incoming, Receive
from simulator.api.tokens import bearer_of
from simulator.auth import headers as names
from simulator.auth.tokens import claimed
from simulator.contract.body import FORM_BYTES_MAX, decode_form
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.wire.tokens import PATH, PATHS, REFRESH_PATH


async def owner_at_root(
    sandboxes: Sandboxes, default: LiveSandbox, path: str, request: Incoming
) -> tuple[LiveSandbox, Incoming]:
    """Return the sandbox of a request to the root, and the request, whose body can still be read.

    This is `default`, unless the API key, bearer token, username or refresh token is unknown to it and belongs to
    exactly one other sandbox. For a token endpoint, the credentials are read from the body.
    """
    headers = request.by_name
    if request.method == "POST" and path in PATHS:
        body = request.body
        if body is None and request.receive is not None:
            body, receive = await _peeked(request.receive)
            request = msgspec.structs.replace(request, receive=receive)
        fields, _ = decode_form(headers.get(b"content-type", b""), body or b"", any_type=True)
        return _by_credentials(sandboxes, default, path, fields) or default, request
    if key := headers.get(names.API_KEY, b"").decode("latin-1"):
        known = key in default.core.state.keys
        return default if known else sandboxes.with_unique_key(key) or default, request
    token = bearer_of(headers.get(names.AUTHORIZATION))
    return _by_token(sandboxes, token) or default, request


def names_owner(path: str, request: Incoming) -> bool:
    """Return whether a request has an API key or a username. Tokens do not count, since they can be forged."""
    return names.API_KEY in request.by_name or path == PATH


def _by_credentials(
    sandboxes: Sandboxes, default: LiveSandbox, path: str, fields: dict[str, Any]
) -> LiveSandbox | None:
    if path == REFRESH_PATH:
        return _by_token(sandboxes, fields.get("refresh_token"))
    username = fields.get("username")
    if not isinstance(username, str) or username in default.core.state.users:
        return None
    return sandboxes.with_unique_user(username)


def _by_token(sandboxes: Sandboxes, token: object) -> LiveSandbox | None:
    """Return the sandbox that a token names, if credentials may select it; that sandbox verifies the token."""
    named = claimed(token).get("aud") if isinstance(token, str) else None
    sandbox = sandboxes.find(named) if isinstance(named, str) else None
    return sandbox if sandbox is not None and sandbox.spec.unique_credentials else None


async def _peeked(receive: Receive) -> tuple[bytes, Receive]:
    """Return the beginning of a body, and a `receive` that replays it before the rest."""
    messages: list[Any] = []
    body, more = b"", True
    while more and len(body) <= FORM_BYTES_MAX:
        message = await receive()
        messages.append(message)
        more = message["type"] == "http.request" and bool(message.get("more_body"))
        body += message.get("body", b"")

    async def again() -> Any:
        return messages.pop(0) if messages else await receive()

    return body, again
