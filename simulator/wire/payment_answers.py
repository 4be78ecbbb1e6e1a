"""Payments, cases and network status (SPEC 2.3, 2.7, 2.10): in the answers and in the transaction callback."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.domain.model.cases import CaseAnswer
from simulator.domain.model.catalog import Product
from simulator.domain.model.money import ZERO, parse_number
from simulator.domain.model.schedule import NetworkStatus
from simulator.domain.model.transactions import PaymentAnswer, PaymentRefused, PaymentResult, Status, Transaction
from simulator.wire.formats import day_first, known_number, number, year_first, year_first_ms

# `Succesful` is the service's own spelling and must be matched as written.
STATUS_NAMES: Mapping[Status, str] = {
    Status.ACCEPTED: "Accepted",
    Status.PROCESSING: "Processing",
    Status.SUCCESSFUL: "Succesful",
    Status.FAILED: "Failed",
    Status.REFUNDED: "Refund",
}

# A void is published to receivers as a failure with the code 53 (SPEC 6.2).
CALLBACK_STATUS_NAMES: Mapping[Status, str] = {**STATUS_NAMES, Status.REFUNDED: "Failed"}

ECHO_CHARS_MAX = 10_000  # far more than any of these values may have


def answer(paid: PaymentAnswer, timestamp: datetime) -> dict[str, Any]:
    """Return the body of a 200."""
    result = paid.result
    return {
        "data": _fields(paid.transaction, result, STATUS_NAMES[result.kind.status], paid.balance, year_first(timestamp))
    }


def refusal(refused: PaymentRefused, request: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the body of a 400: echoes the request's values of the right type, of a text at most `ECHO_CHARS_MAX`, an
    invalid amount as 0."""
    amount = parse_number(request.get("amount"))
    return {
        "data": {
            "statusCode": refused.code,
            "status": STATUS_NAMES[Status.FAILED],
            "account": _text(request, "account"),
            "product": _text(request, "product"),
            "productName": refused.product_name,
            "amount": number(ZERO if amount is None else amount),
            "sn": "",
            "pin": "",
            "expiry": "",
            "cost": 0,
            "balance": number(refused.balance),
            "remarks": refused.remarks or refused.reason.value,
            "refid": _text(request, "refid"),
            "timestamp": year_first(now),
            "note": "",
            "voucherlink": "",
        }
    }


def callback(transaction: Transaction, result: PaymentResult) -> dict[str, Any]:
    """Return the body of a POST callback. `balance` is the result's: the wallet after this transaction (SPEC 2.3)."""
    status = CALLBACK_STATUS_NAMES[result.kind.status]
    return {"data": _fields(transaction, result, status, result.balance, year_first(result.at))}


def callback_message(transaction: Transaction, result: PaymentResult) -> dict[str, Any]:
    """Return the `message` of a GET callback: without wrapper, its timestamp with milliseconds."""
    status = CALLBACK_STATUS_NAMES[result.kind.status]
    return _fields(transaction, result, status, result.balance, year_first_ms(result.at))


def _text(request: Mapping[str, Any], name: str) -> str:
    value = request.get(name)
    return value[:ECHO_CHARS_MAX] if isinstance(value, str) else ""


def _fields(
    transaction: Transaction, result: PaymentResult, status: str, balance: Decimal, timestamp: str
) -> dict[str, Any]:
    kind, texts = result.kind, result.texts
    return {
        "statusCode": kind.code,
        "status": status,
        "account": transaction.account,
        "product": transaction.kind.product,
        "productName": transaction.kind.product_name,
        "amount": known_number(transaction.amount),
        "sn": texts.sn,
        "pin": texts.pin,
        "expiry": f"{texts.expiry:%Y%m%d}" if texts.expiry else "",
        "cost": known_number(kind.cost),
        "balance": number(balance),
        "remarks": texts.remarks,
        "refid": transaction.refid,
        "timestamp": timestamp,
        "note": texts.note,
        "voucherlink": texts.voucherlink,
    }


def case_answer(given: CaseAnswer) -> dict[str, Any]:
    """Return the body of a 200: `Success` when the request was accepted, else `Failed`."""
    status = "Success" if given.is_accepted else "Failed"
    return {"data": {"refid": given.transaction.refid, "status": status, "message": given.message}}


def network_status(product: Product, status: NetworkStatus, now: datetime) -> dict[str, Any]:
    """Return the body of a 200."""
    return {
        "data": {
            "product_code": product.code,
            "product_name": product.name,
            "product_img": product.image_url,
            "network_status": status.value,
        },
        "metadata": {"status_code": 200, "last_updated": day_first(now)},
    }
