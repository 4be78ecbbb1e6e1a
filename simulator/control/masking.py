"""Masks secrets in the journal: passwords and tokens in exchanges of the token endpoints (SPEC 4.2, 4.3)."""

from typing import Any

from simulator.contract.decode import BadJson, decode_object
from simulator.wire.json import encode
from simulator.wire.tokens import PATHS

NOT_SHOWN = "(not shown)"
PARTS_MAX = 20
FORM_NAMES = (b"username", b"password", b"refresh_token")
SHOWN_MEMBERS = frozenset({"username", "ExpiresIn", "TokenType", "message", "errors", "error"})


def masked_body(path: str, body: bytes) -> bytes:
    """A body for the journal: for a token endpoint, only the values of members without secrets."""
    if path not in PATHS or not body:
        return body
    try:
        return encode(_masked(decode_object(body)))
    except BadJson:
        return masked_query(path, body)


def masked_query(path: str, query: bytes) -> bytes:
    """The same for a query or form; hidden completely if it has any other name, since it may not be a form."""
    if path not in PATHS or not query:
        return query
    parts = [part.partition(b"=") for part in query.split(b"&", PARTS_MAX)]
    if len(parts) > PARTS_MAX or not all(name in FORM_NAMES for name, _, _ in parts):
        return NOT_SHOWN.encode()
    return b"&".join(name + b"=" + (value if name == b"username" else NOT_SHOWN.encode()) for name, _, value in parts)


def _masked(members: dict[str, Any]) -> dict[str, Any]:
    return {name: _shown(name, value) for name, value in members.items()}


def _shown(name: str, value: Any) -> Any:
    if name in SHOWN_MEMBERS or value is None:
        return value
    return _masked(value) if isinstance(value, dict) else NOT_SHOWN
