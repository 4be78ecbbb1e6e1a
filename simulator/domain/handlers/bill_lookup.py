"""Bill look-up (SPEC 4.10): rules first, then the checks in order, then the bill minus its payments."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import msgspec

from simulator.domain.commands import CreatePayment, LookUpBill
from simulator.domain.handlers.checks import bad_account, bad_money, bad_option, beyond_limits, fits, no_amount
from simulator.domain.handlers.extras import SECOND_REFERENCE, bad_extra, extra_field
from simulator.domain.model.bills import Bill, BillError, BillFound, BillKey, BillProfile, BillRefused, draw_bill
from simulator.domain.model.catalog import Option, Product
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.money import ZERO, parse_amount
from simulator.domain.model.pricing import amount_range, biller_field, offered
from simulator.domain.queries import not_on_sale, on_sale
from simulator.domain.state import State

NO_CHANGES: Mapping[str, object] = {}


def look_up(state: State, asked: LookUpBill, now: datetime) -> BillFound | BillRefused:
    """Return the current bill, or the refusal. Rules precede every check except that the product exists."""
    reseller = state.resellers[asked.reseller]
    product = reseller.sees(state.catalog, asked.product)
    if product is None:
        return BillRefused(BillError.PRODUCT, detail=not_on_sale(state, None, asked.product, reseller))
    rule = state.bills.choose(lambda: _facts(state, asked, product, now), asked.rule, asked.account)
    if rule is None:
        biller = _biller(state, product, asked.biller_code)
        for check in CHECKS:
            if refused := check(state, asked, product, biller):
                return refused
        return BillFound(_bill(state, asked, product, now), "", _ignored(asked, product))
    if rule.then.refused is not None:
        return replace(rule.then.refused, rule=rule.label)
    return BillFound(_bill(state, asked, product, now, rule.then.changes), rule.label)


def outstanding(state: State, product: Product, payment: CreatePayment, now: datetime) -> Decimal | None:
    """Return what a payment's bill would show as outstanding now; None without a bill. Counts no rule."""
    codes = {
        name: text for name in ("biller_code", SECOND_REFERENCE) if isinstance(text := payment.extras.get(name), str)
    }
    asked = LookUpBill(payment.reseller, product.code, payment.account, sender=payment.sender, key=payment.key, **codes)
    rule = state.bills.find(lambda: _facts(state, asked, product, now), account=asked.account).rule
    if product.bill is None or (rule is not None and rule.then.refused is not None):
        return None
    return _bill(state, asked, product, now, rule.then.changes if rule else NO_CHANGES).outstanding


def _facts(state: State, asked: LookUpBill, product: Product, now: datetime) -> dict[str, object]:
    return {
        "outstanding": lambda: _bill(state, asked, product, now).outstanding,
        "now": now,
        "start": state.started,
        "reseller": asked.reseller,
        "product": asked.product,
        "account": asked.account,
        "amount": asked.amount or None,
        "extras": {name: text for name in ("biller_code", "ref2") if (text := getattr(asked, name))},
        "key": asked.key,
        "address": asked.sender,
    }


def bill_key(product: Product, account: str, biller_code: object) -> BillKey:
    """Return the identity of a bill, which includes the biller only for products that have billers."""
    counts = isinstance(biller_code, str) and biller_field(product) is not None
    return product.code, account, str(biller_code) if counts else ""


def _biller(state: State, product: Product, code: str) -> Option | None:
    """Return the active biller with this code."""
    field_id = biller_field(product)
    found = offered(state.seed, product, field_id).by_code.get(code) if field_id else None
    return found if found and found.is_active else None


def _bill(
    state: State, asked: LookUpBill, product: Product, now: datetime, changes: Mapping[str, object] = NO_CHANGES
) -> Bill:
    """Return the drawn bill with these changes, minus its successful payments by any reseller; failed and voided
    payments do not count."""
    key, biller = bill_key(product, asked.account, asked.biller_code), _biller(state, product, asked.biller_code)
    bill = Bill(product.name)
    if (profile := product.bill) is not None:
        name = biller.label if biller else profile.biller_name or product.name
        bill = draw_bill(_within_limits(profile, *amount_range(product, biller)), name, key, state.seed, now)
    bill = msgspec.structs.replace(bill, **changes)
    if bill.outstanding is None:
        return bill
    return msgspec.structs.replace(bill, outstanding=max(ZERO, bill.outstanding - state.bills_paid.get(key, ZERO)))


def _within_limits(profile: BillProfile, low: Decimal | None, high: Decimal | None) -> BillProfile:
    """Return the profile within the limits of a payment, so that a generated bill can be paid."""
    lowest = profile.lowest if low is None else max(profile.lowest, low)
    highest = profile.highest if high is None else min(profile.highest, high)
    return msgspec.structs.replace(profile, lowest=lowest, highest=max(lowest, highest))


def _ignored(asked: LookUpBill, product: Product) -> Detail | None:
    """Return the ignored parameters: biller and second reference of a product without billers."""
    known = product.fulfillment.extras
    names = tuple(name for name in ("biller_code", SECOND_REFERENCE) if getattr(asked, name) and name not in known)
    if not names or biller_field(product) is not None:
        return None
    return detail(DetailKind.IGNORED_BILLER, names=names, product=product.code)


def _check_product(state: State, asked: LookUpBill, product: Product, biller: Option | None) -> BillRefused | None:
    if product.bill is not None and product.is_active:
        return None
    if not product.is_active:
        return BillRefused(BillError.UNAVAILABLE, detail=detail(DetailKind.INACTIVE_PRODUCT, product=product.code))
    able = tuple(one.code for one in on_sale(state, state.resellers[asked.reseller]) if one.bill is not None)
    return BillRefused(BillError.UNAVAILABLE, detail=detail(DetailKind.NO_BILLS, product=product.code, able=able))


def _check_biller(state: State, asked: LookUpBill, product: Product, biller: Option | None) -> BillRefused | None:
    code, field_id = asked.biller_code, biller_field(product)
    if biller is not None or field_id is None:
        return None
    if not code:
        wrong = detail(DetailKind.MISSING, name="biller_code", product=product.code)
    else:
        wrong = bad_option(product, field_id, code, "biller_code", offered(state.seed, product, field_id))
    return BillRefused(BillError.BILLER, detail=wrong)


def _check_ref2(state: State, asked: LookUpBill, product: Product, biller: Option | None) -> BillRefused | None:
    if biller is not None and biller.needs_ref2 and not asked.ref2:
        return BillRefused(BillError.REF2, detail=detail(DetailKind.MISSING, name=SECOND_REFERENCE, biller=biller.code))
    field = extra_field(product, SECOND_REFERENCE)
    if not asked.ref2 or fits(field, asked.ref2):
        return None
    return BillRefused(BillError.REF2, detail=bad_extra(field, SECOND_REFERENCE))


def _check_account(state: State, asked: LookUpBill, product: Product, biller: Option | None) -> BillRefused | None:
    if fits(product.account, asked.account):
        return None
    return BillRefused(BillError.ACCOUNT, detail=bad_account(product.account, asked.account))


def _check_amount(state: State, asked: LookUpBill, product: Product, biller: Option | None) -> BillRefused | None:
    if not asked.amount:
        return None
    amount = parse_amount(asked.amount)
    wrong = no_amount(asked.amount) if amount is None else bad_money(amount) or beyond_limits(amount, product, biller)
    return BillRefused(BillError.AMOUNT, detail=wrong) if wrong else None


CHECKS = (_check_product, _check_biller, _check_ref2, _check_account, _check_amount)
