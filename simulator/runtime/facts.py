"""The facts that expectations may test of calls, payments, callbacks and webhooks, by their names in scenarios."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

import msgspec

from simulator.domain.model.callbacks import Callback, CallbackState
from simulator.domain.model.rules import Fields
from simulator.domain.model.transactions import Result, Transaction
from simulator.domain.model.webhooks import Delivery, DeliveryState
from simulator.runtime.journal import Exchange
from simulator.wire.payments import CALLBACK_STATUS_NAMES, STATUS_NAMES

SENT = frozenset({"refid", "account", "product", "trxid"})
"""The facts that are in the body of a call, or in its query."""

KEY_CHARS_SHOWN = 8
_API_KEY = b"x-api-key"


def of_call(exchange: Exchange) -> Fields:
    """Return the facts of a call. A connection closed without an answer has the status 0. The body of a fault may have
    its own error."""
    return {
        "method": exchange.method,
        "path": exchange.path,
        "status": str(exchange.status),
        "error": str(exchange.error) or _own_error(exchange),
        "reseller": exchange.reseller,
        "refid": exchange.refid,
    }


def of_payment(one: Transaction, results: tuple[Result, ...]) -> Fields:
    """Return the facts of a payment with the last of these results."""
    return {
        "reseller": one.reseller,
        "product": one.product,
        "account": one.account,
        "amount": one.amount,
        "refid": one.refid,
        "extras": one.extras,
        "status": STATUS_NAMES[results[-1].status],
        "statusCode": str(results[-1].code),
    }


def of_callback(one: Callback, state: CallbackState) -> Fields:
    """Return the facts of a callback in this state."""
    return {
        "reseller": one.transaction.reseller,
        "product": one.transaction.product,
        "account": one.transaction.account,
        "refid": one.transaction.refid,
        "status": CALLBACK_STATUS_NAMES[one.result.status],
        "statusCode": str(one.result.code),
        "state": state.value,
    }


def of_webhook(one: Delivery, state: DeliveryState) -> Fields:
    """Return the facts of a delivery in this state."""
    return {"reseller": one.reseller, "type": one.event.type, "state": state.value}


def is_unseen(exchange: Exchange) -> bool:
    """Return whether a request announced a body that is unknown: too large, incomplete, or never read."""
    if exchange.body:
        return False
    headers = {name.lower(): value for name, value in exchange.headers}
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0").strip(b"0") != b""


def sent_value(exchange: Exchange, name: str) -> str:
    """Return a fact that distinguishes calls, as the client sent it, whether or not its request was accepted; empty if
    absent."""
    match name:
        case "":
            return ""
        case "reseller" | "method" | "path":
            return str(getattr(exchange, name))
        case "address":
            return exchange.client
        case "key":
            return _recognizable(api_key(exchange))
    found = _sent(exchange).get(name, "")
    text = str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""
    return text or (exchange.refid if name == "refid" else "")


def api_key(exchange: Exchange) -> bytes:
    """Return the API key that a request names; empty if absent."""
    return next((value for header, value in exchange.headers if header.lower() == _API_KEY), b"")


def _recognizable(key: bytes) -> str:
    """Return the beginning of a key and a digest: enough to recognize it, since it may be a misplaced secret."""
    text = key.decode("latin-1")
    return text if len(text) <= KEY_CHARS_SHOWN else f"{text[:KEY_CHARS_SHOWN]}…{sha256(key).hexdigest()[:8]}"


def _sent(exchange: Exchange) -> Mapping[str, Any]:
    """Return the members of the body; without a body, the parameters of the query, the first of repeated ones as in
    `when`."""
    if exchange.body:
        return _members(exchange.body)
    sent = parse_qs(exchange.query.decode("latin-1"), keep_blank_values=True)
    return {name: values[0] for name, values in sent.items()}


def _own_error(exchange: Exchange) -> str:
    if not exchange.fault or b'"error"' not in exchange.content:
        return ""
    error = _members(exchange.content).get("error")
    return error if isinstance(error, str) else ""


def _members(content: bytes) -> Mapping[str, Any]:
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
