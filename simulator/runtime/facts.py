"""What expectations may test of calls, payments, callbacks and webhooks, by the names that a scenario uses."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import msgspec

from simulator.domain.model.callbacks import Callback, CallbackState
from simulator.domain.model.rules import Fields
from simulator.domain.model.transactions import Result, Transaction
from simulator.domain.model.webhooks import Delivery, DeliveryState
from simulator.runtime.journal import Exchange
from simulator.wire.payments import CALLBACK_STATUS_NAMES, STATUS_NAMES

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
            return next((value.decode("latin-1") for key, value in exchange.headers if key.lower() == _API_KEY), "")
    found = _sent(exchange).get(name, "")
    text = str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""
    return text or (exchange.refid if name == "refid" else "")


def _sent(exchange: Exchange) -> Mapping[str, Any]:
    """The members of the body; without one, the parameters of the query."""
    if exchange.body:
        return _members(exchange.body)
    return {name: values[-1] for name, values in parse_qs(exchange.query.decode("latin-1")).items()}


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
