"""What expectations may test of calls, payments, callbacks and webhooks, by the names that a scenario uses."""

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
"""What is in the body of a call, or in its query."""

KEY_CHARS_SHOWN = 8
_API_KEY = b"x-api-key"


def of_call(exchange: Exchange) -> Fields:
    """A connection closed without an answer has the status 0. A fault's own body may have an error of its own."""
    return {
        "method": exchange.method,
        "path": exchange.path,
        "status": str(exchange.status),
        "error": str(exchange.error) or _own_error(exchange),
        "reseller": exchange.reseller,
        "refid": exchange.refid,
    }


def of_payment(one: Transaction, results: tuple[Result, ...]) -> Fields:
    """A payment with the last of these results."""
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
    """A callback in this state."""
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
    """A delivery in this state."""
    return {"reseller": one.reseller, "type": one.event.type, "state": state.value}


def is_unseen(exchange: Exchange) -> bool:
    """True when a request announced a body that is not known: too large, incomplete, or answered before anybody asked
    for what is in it."""
    if exchange.body:
        return False
    headers = {name.lower(): value for name, value in exchange.headers}
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0").strip(b"0") != b""


def sent_value(exchange: Exchange, name: str) -> str:
    """A fact that tells calls apart, as the client sent it, whether or not its request was accepted; empty when there
    is none."""
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
    """The API key that a request names; empty when there is none."""
    return next((value for header, value in exchange.headers if header.lower() == _API_KEY), b"")


def _recognizable(key: bytes) -> str:
    """Enough of a key to recognize it by, since it may be a secret in the wrong place, and a digest to tell it from
    others."""
    text = key.decode("latin-1")
    return text if len(text) <= KEY_CHARS_SHOWN else f"{text[:KEY_CHARS_SHOWN]}…{sha256(key).hexdigest()[:8]}"


def _sent(exchange: Exchange) -> Mapping[str, Any]:
    """The members of the body; without one, the parameters of the query, of a repeated one the first as in `when`."""
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
