"""Bill presentment (SPEC 2.6, 4.10): legacy PascalCase, and 400 in the same shape."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from simulator.domain.model.bills import Bill, BillError, BillRefused
from simulator.wire.formats import day_first, number

VALID = "Account no is valid"


def _both(text: str) -> tuple[str, str]:
    return text, text


# `data.message`, and `error_message` for the user, in the words of SPEC 4.10 where it has any.
ERRORS: Mapping[str, tuple[str, str]] = {
    BillError.PRODUCT: ("Invalid product", "invalid product"),
    BillError.UNAVAILABLE: _both("Bill presentment is unavailable for this product"),
    BillError.SERVICE: _both("Service unavailable. Please try again later"),
    BillError.BILLER: ("Invalid biller code", "invalid biller code"),
    BillError.REF2: ("Ref-2 required", "Ref-2 required"),
    BillError.ACCOUNT: ("Invalid account no", "invalid account number"),
    BillError.AMOUNT: ("Invalid amount", "invalid amount"),
}


def bill(found: Bill, product_code: str, now: datetime) -> dict[str, Any]:
    """Return the body of a 200. Fields that the biller does not return are empty strings, or null where SPEC allows
    it."""
    message = found.message or VALID
    return {
        "data": {
            "message": message,
            "BillerName": found.biller_name,
            "CustomerName": found.customer_name or "",
            "Outstanding": None if found.outstanding is None else number(found.outstanding),
            "Balance": found.balance or "",
            "Data": found.data or "",
            "Address": found.address or "",
            "E-Bill": found.e_bill,
            "CustomField": found.custom_field,
            "DueDate": _due_date(found.due_date),
        },
        "metadata": _metadata(200, product_code, now),
        "transaction_validity": found.is_valid,
        "transaction_message": found.validity_message or (None if found.is_valid is None else message),
        "error_message": "",
    }


def refusal(refused: BillRefused, product_code: str, now: datetime) -> dict[str, Any]:
    """Return the body of a 400."""
    message, label = ERRORS.get(refused.error, (refused.error, refused.error))
    return {
        "data": {
            "message": message,
            "BillerName": "",
            "CustomerName": "",
            "Outstanding": None,
            "Balance": "",
            "Data": "",
            "Address": "",
            "E-Bill": "",
            "CustomField": "",
            "DueDate": "",
        },
        "metadata": _metadata(400, product_code, now),
        "transaction_validity": None,
        "transaction_message": None,
        "error_message": refused.label or label,
    }


def _due_date(due: date | str | None) -> str:
    return f"{due:%d-%m-%Y}" if isinstance(due, date) else due or ""


def _metadata(status: int, product_code: str, now: datetime) -> dict[str, Any]:
    return {"status_code": status, "product_code": product_code, "last_updated": day_first(now)}
