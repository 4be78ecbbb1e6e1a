"""Looking bills up (SPEC 4.10): rules first, then the checks in their order, then the bill less what was paid of it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from simulator.domain.commands import BillFound, LookUpBill
from simulator.domain.model.bills import (
    Bill,
    BillError,
    BillKey,
    BillProfile,
    BillRefused,
    drawn_bill,
)
from simulator.domain.model.catalog import Option, Product
from simulator.domain.model.money import ZERO, is_whole_cents, parse_amount
from simulator.domain.model.options import biller_field, offered
from simulator.domain.model.transactions import Status, Transaction
from simulator.domain.state import State


class Inquiry(NamedTuple):
    """A look-up that is being judged. `profile` is None for a product without bills, `biller` when there is none."""

    asked: LookUpBill
    product: Product
    profile: BillProfile | None
    biller: Option | None


def note_payment(state: State, product: Product, transaction: Transaction) -> None:
    """Remember a new payment of a product that has bills."""
    key = _key(product, transaction.account, transaction.extras.get("biller_code"))
    state.bill_payments.setdefault(key, []).append(transaction)


def look_up(state: State, asked: LookUpBill, now: datetime) -> BillFound | BillRefused:
    """The bill as it stands. A rule's word comes before every check but that the product exists."""
    product = state.resellers[asked.reseller].sees(state.catalog, asked.product)
    if product is None:
        return BillRefused(BillError.PRODUCT)
    rule = state.bills.choose(lambda: _facts(asked), asked.rule, asked.account)
    inquiry = Inquiry(asked, product, product.bill, _biller(state, product, asked.biller_code))
    if rule is None:
        for check in CHECKS:
            if error := check(inquiry):
                return BillRefused(error)
        return BillFound(_less_payments(state, inquiry, _drawn(state, inquiry, now)), "")
    if rule.then.refused is not None:
        return replace(rule.then.refused, rule=rule.label)
    bill = replace(_drawn(state, inquiry, now), **rule.then.changes)  # type: ignore[arg-type]  # read as such
    return BillFound(_less_payments(state, inquiry, bill), rule.label)


def _facts(asked: LookUpBill) -> dict[str, object]:
    return {
        "reseller": asked.reseller,
        "product": asked.product,
        "account": asked.account,
        "amount": asked.amount or None,
        "extras": {name: text for name in ("biller_code", "ref2") if (text := getattr(asked, name))},
    }


def _key(product: Product, account: str, biller_code: object) -> BillKey:
    """A biller counts for products that have several."""
    counts = isinstance(biller_code, str) and biller_field(product) is not None
    return product.code, account, str(biller_code) if counts else ""


def _biller(state: State, product: Product, code: str) -> Option | None:
    field_id = biller_field(product)
    found = offered(state.seed, product, field_id).by_code.get(code) if field_id else None
    return found if found and found.is_active else None


def _drawn(state: State, inquiry: Inquiry, now: datetime) -> Bill:
    asked, profile = inquiry.asked, inquiry.profile
    if profile is None:
        return Bill(inquiry.product.name)
    key = _key(inquiry.product, asked.account, asked.biller_code)
    name = inquiry.biller.label if inquiry.biller else profile.biller_name or inquiry.product.name
    return drawn_bill(_payable(profile, *_range(inquiry.product, inquiry.biller)), name, key, state.seed, now)


def _payable(profile: BillProfile, low: Decimal | None, high: Decimal | None) -> BillProfile:
    """The profile within the limits of a payment, so that a drawn bill can be paid at once."""
    lowest = profile.lowest if low is None else max(profile.lowest, low)
    highest = profile.highest if high is None else min(profile.highest, high)
    return replace(profile, lowest=lowest, highest=max(lowest, highest))


def _less_payments(state: State, inquiry: Inquiry, bill: Bill) -> Bill:
    """The bill less its successful payments, by any reseller. One that failed or was voided counts no more."""
    if bill.outstanding is None:
        return bill
    key = _key(inquiry.product, inquiry.asked.account, inquiry.asked.biller_code)
    payments = state.bill_payments.get(key, ())
    paid = sum((one.amount for one in payments if one.result.status is Status.SUCCESSFUL), start=ZERO)
    return replace(bill, outstanding=max(ZERO, bill.outstanding - paid))


def _check_product(inquiry: Inquiry) -> BillError | None:
    has_bills = inquiry.profile is not None and inquiry.product.is_active
    return None if has_bills else BillError.UNAVAILABLE


def _check_biller(inquiry: Inquiry) -> BillError | None:
    return BillError.BILLER if inquiry.biller is None and biller_field(inquiry.product) else None


def _check_ref2(inquiry: Inquiry) -> BillError | None:
    is_missing = inquiry.biller is not None and inquiry.biller.needs_ref2 and not inquiry.asked.ref2
    return BillError.REF2 if is_missing else None


def _check_account(inquiry: Inquiry) -> BillError | None:
    field = inquiry.product.account
    if field is None or field.accepts is None or field.accepts(inquiry.asked.account):
        return None
    return BillError.ACCOUNT


def _check_amount(inquiry: Inquiry) -> BillError | None:
    if not inquiry.asked.amount:
        return None
    amount = parse_amount(inquiry.asked.amount)
    if amount is None or amount <= 0 or not is_whole_cents(amount):
        return BillError.AMOUNT
    low, high = _range(inquiry.product, inquiry.biller)
    fits = (low is None or low <= amount) and (high is None or amount <= high)
    return None if fits else BillError.AMOUNT


def _range(product: Product, biller: Option | None) -> tuple[Decimal | None, Decimal | None]:
    """The biller's own limits, else the product's, else those of its pricing field (SPEC 2.2)."""
    field = product.pricing
    low = (biller and biller.min_amount) or product.min_amount
    high = (biller and biller.max_amount) or product.max_amount
    return (
        low.amount if low else field.minimum if field else None,
        high.amount if high else field.maximum if field else None,
    )


CHECKS: tuple[Callable[[Inquiry], BillError | None], ...] = (
    _check_product,
    _check_biller,
    _check_ref2,
    _check_account,
    _check_amount,
)
