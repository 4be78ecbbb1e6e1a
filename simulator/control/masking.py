"""What the journal does not show: passwords and tokens in the exchanges of the token endpoints (SPEC 4.2, 4.3)."""

from typing import Any

from simulator.contract.decode import BadJson, decode_object
from simulator.wire.json import encode
from simulator.wire.tokens import PATHS

NOT_SHOWN = "(not shown)"
SHOWN_MEMBERS = frozenset({"username", "ExpiresIn", "TokenType", "message", "errors", "error"})


def masked_body(path: str, body: bytes) -> bytes:
    """A body as the journal shows it: of a token endpoint's the values of harmless members alone."""
    if path not in PATHS or not body:
        return body
    try:
        return encode(_masked(decode_object(body)))
    except BadJson:
        return masked_query(path, body)


def masked_query(path: str, query: bytes) -> bytes:
    """The same for a query or form; what has no names is not shown at all."""
    if path not in PATHS or not query:
        return query
    parts = [part.partition(b"=") for part in query.split(b"&")[:100]]
    if not all(sign for _, sign, _ in parts):
        return NOT_SHOWN.encode()
    return b"&".join(
        name + sign + (value if name.decode("latin-1") in SHOWN_MEMBERS else NOT_SHOWN.encode())
        for name, sign, value in parts
    )


def _masked(members: dict[str, Any]) -> dict[str, Any]:
    return {name: _shown(name, value) for name, value in members.items()}


def _shown(name: str, value: Any) -> Any:
    if name in SHOWN_MEMBERS or value is None:
        return value
    return _masked(value) if isinstance(value, dict) else NOT_SHOWN
