"""Payments, created and re-queried (SPEC 4.11).

An existing refid is looked up before any check. A new payment is checked in the order of `CHECKS`, and the first
failure wins. The state changes only after all checks have passed.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

import msgspec

from simulator.domain.commands import CreatePayment
from simulator.domain.handlers import webhook_jobs
from simulator.domain.handlers.bill_lookup import bill_key, outstanding
from simulator.domain.handlers.checks import (
    Draft,
    check_account,
    check_amount,
    check_number,
    price_detail,
    price_of_another,
    priced_option,
)
from simulator.domain.handlers.extras import (
    check_extras,
    check_plan_code,
    check_plan_needed,
    ignored_extras,
    kept_extras,
    plan_remarks,
)
from simulator.domain.handlers.timeline import ORDINARY_STEPS, begin, drawn_steps, realistic, requery
from simulator.domain.model import draw, pricing
from simulator.domain.model.catalog import Money, Product
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.domain_events import LedgerPosting
from simulator.domain.model.money import parse_amount, shared_amount
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import (
    Distortion,
    PaymentAnswer,
    PaymentKind,
    PaymentRefused,
    PaymentThen,
    Reason,
    Refusal,
    Step,
    Transaction,
)
from simulator.domain.model.wallet import TRANSACTION, debit_remarks
from simulator.domain.queries import not_on_sale
from simulator.domain.state import State, payment_with

_DEFAULT_CALLBACKS = Distortion()
NO_EXTRAS: Mapping[str, object] = {}  # shared by all payments

# The documented order (SPEC 4.11); the balance is checked last.
CHECKS: tuple[Callable[[Draft], Refusal | None], ...] = (
    check_account,
    check_extras,
    check_number,
    check_plan_code,
    check_amount,
    check_plan_needed,
)
CHECKS_WITHOUT_EXTRAS = (check_account, check_number, check_amount)  # neither sent nor taken by the product


def pay(state: State, command: CreatePayment, now: datetime) -> PaymentAnswer | PaymentRefused:
    """Create the payment, or return the existing payment with this refid. Extras that the product does not have are
    noted as ignored, except oversized extras, which are refused."""
    reseller = state.resellers[command.reseller]
    existing = payment_with(state, reseller, command.refid)
    if existing is not None:
        product = state.catalog.products.get(existing.product)
        outcome = _requery(state, reseller, existing, command, now)
    else:
        product = reseller.sees(state.catalog, command.product)
        if product is None or not product.is_active:
            refusal = Refusal(Reason.PRODUCT, detail=not_on_sale(state, product, command.product, reseller))
            return _refuse(state, refusal, reseller, product.name if product else "")
        outcome = _check(_draft(state, product, command), reseller, command, now)
    if product is None or not command.extras:
        return outcome
    if isinstance(outcome, PaymentRefused) and outcome.detail and outcome.detail.kind is DetailKind.EXTRA_TOO_LARGE:
        return outcome
    ignored = ignored_extras(_draft(state, product, command))
    return outcome if ignored is None else msgspec.structs.replace(outcome, ignored=ignored)


def _draft(state: State, product: Product, command: CreatePayment) -> Draft:
    return Draft(
        state=state,
        product=product,
        account=command.account,
        amount=parse_amount(command.amount),
        extras=command.extras,
        sent=command.amount,
    )


def _check(draft: Draft, reseller: Reseller, command: CreatePayment, now: datetime) -> PaymentAnswer | PaymentRefused:
    """Run all checks of a payment for a product on sale, and create it when they pass."""
    state, product, note = draft.state, draft.product, None
    refused = _first_failure(draft)
    if refused is not None:
        draft, refused, note = _accept_price(draft, refused)
        if refused is not None:
            return _refuse(state, refused, reseller, product.name, warning=price_of_another(draft))
    if product.price_adjustment is not None or product.denomination_unit_price != 1:
        note = note or price_of_another(draft)
    assert draft.amount is not None, "an amount that is not a number was refused"
    face = pricing.face_value(product, draft.amount)
    cost, balance = shared_amount(str(pricing.cost_of_face(product, face))), reseller.wallet.balance
    needed = {"cost": Money(cost)} if cost > balance else {}
    if face > max(cost, balance) and state.assumes("insufficient-balance", "face_value"):
        needed = {"face": Money(face)}
    if needed:
        wanting = detail(DetailKind.BALANCE, balance=Money(balance), **needed)
        return _refuse(state, Refusal(Reason.BALANCE, detail=wanting), reseller, product.name, warning=note)
    return _create(draft, reseller, cost, face, command, now, note)


def _first_failure(draft: Draft) -> Refusal | None:
    """Return the refusal of the first check that fails; None when all pass."""
    for check in CHECKS if draft.extras or draft.product.fulfillment.extras else CHECKS_WITHOUT_EXTRAS:
        if refusal := check(draft):
            return refusal
    return None


def _accept_price(draft: Draft, refused: Refusal) -> tuple[Draft, Refusal | None, Detail | None]:
    """Handle an amount that is an option's price: return the payment, its refusal and a note about the price. Without
    such an option, or when its denomination is also refused, payment and refusal are unchanged."""
    option = priced_option(draft, refused)
    if option is None:
        return draft, refused, None
    corrected = msgspec.structs.replace(draft, amount=option.denomination)
    refused_too = _first_failure(corrected)
    if refused_too is not None and refused_too.reason is Reason.DENOMINATION:
        return draft, refused, None
    if not draft.state.assumes("price-amount", "taken"):
        wants_plan = refused_too is not None and refused_too.reason is Reason.PLAN_REQUIRED
        advice = price_detail(DetailKind.PRICE_AMOUNT, draft, option, wants_plan=wants_plan)
        return draft, msgspec.structs.replace(refused, detail=advice), None
    return corrected, refused_too, price_detail(DetailKind.PRICE_AMOUNT_TAKEN, draft, option)


def _requery(
    state: State, reseller: Reseller, transaction: Transaction, command: CreatePayment, now: datetime
) -> PaymentAnswer | PaymentRefused:
    kept = _kept_values(state, transaction, command)
    if kept and state.assumes("refid-reused-with-other-parameters", "reject") and kept.keys() != {"remarks"}:
        other = detail(DetailKind.REFID_CONFLICT, refid=transaction.refid, kept=kept)
        return _refuse(state, Refusal(Reason.REFID, detail=other), reseller, transaction.kind.product_name)
    requery(state, transaction, now)
    note = detail(DetailKind.REFID_EXISTS, refid=transaction.refid, kept=kept) if kept else None
    result = transaction.results[-1]
    balance = result.balance if state.assumes("requery-balance", "own_entry") else reseller.wallet.balance
    return PaymentAnswer(
        transaction=transaction, result=result, balance=balance, created=False, rule=transaction.rule, detail=note
    )


def _kept_values(state: State, transaction: Transaction, command: CreatePayment) -> dict[str, object]:
    """Return the payment's stored values that differ from the request, by name."""
    kept: dict[str, object] = {}
    if transaction.product != command.product:
        kept["product"] = transaction.product
    if transaction.account != command.account:
        kept["account"] = transaction.account
    amount = parse_amount(command.amount)
    if transaction.amount != amount and not _is_taken_price(state, transaction, amount):
        kept["amount"] = transaction.amount
    if transaction.extras != command.extras:
        product = state.catalog.products.get(transaction.product)
        names = {**transaction.extras, **(product.fulfillment.extras if product else {})}  # other extras are not stored
        kept |= {
            f"extras.{name}": transaction.extras.get(name)
            for name in names
            if transaction.extras.get(name) != command.extras.get(name)
        }
    if transaction.remarks != command.remarks:
        kept["remarks"] = transaction.remarks
    return kept


def _is_taken_price(state: State, transaction: Transaction, amount: Decimal | None) -> bool:
    """Return whether the amount is the option's price and the scenario accepts prices as amounts."""
    if not state.assumes("price-amount", "taken"):
        return False
    product = state.resellers[transaction.reseller].sees(state.catalog, transaction.product)
    return product is not None and pricing.price(product, transaction.amount) == amount


def _refuse(
    state: State,
    refusal: Refusal,
    reseller: Reseller,
    product_name: str,
    rule: str = "",
    warning: Detail | None = None,
) -> PaymentRefused:
    return PaymentRefused(
        reason=refusal.reason,
        code=state.codes[refusal.reason] if refusal.code is None else refusal.code,
        balance=reseller.wallet.balance,
        product_name=product_name,
        remarks=refusal.remarks,
        rule=rule,
        detail=refusal.detail,
        warning=warning,
    )


def _create(
    draft: Draft,
    reseller: Reseller,
    cost: Decimal,
    face: Decimal,
    command: CreatePayment,
    now: datetime,
    note: Detail | None,
) -> PaymentAnswer | PaymentRefused:
    state, product, amount = draft.state, draft.product, draft.amount
    assert amount is not None
    book = state.payments
    rule = book.choose(lambda: _facts(draft, command, amount, now), command.rule, command.account)
    if rule is not None and rule.then.refusal is not None:
        refusal = rule.then.refusal
        said = refusal.remarks or plan_remarks(refusal.reason, command.extras, amount)
        refusal = msgspec.structs.replace(refusal, remarks=said)
        return _refuse(state, refusal, reseller, product.name, rule.label, note)
    trxid = draw.trxid(state.seed, now, reseller.code, command.refid)
    wallet = reseller.wallet
    entry = wallet.post(TRANSACTION, -cost, now, debit_remarks(product.name, command.account), trxid)
    if entry.balance < wallet.threshold <= entry.balance + cost:
        webhook_jobs.alert(state, reseller, now)
    state.publish(LedgerPosting(reseller.code, entry))
    transaction = Transaction(
        trxid=trxid,
        refid=command.refid,
        kind=_kind(state, reseller, product, rule),
        account=_shared_account(command.account),
        amount=amount,
        cost=cost,
        remarks=command.remarks,
        extras=kept_extras(draft) if command.extras else NO_EXTRAS,
        sender=command.sender,
        created=now,
        face=face,
        debit=entry.id,
        steps=drawn_steps(_steps(state, product, rule), state.seed, command.reseller, command.refid),
    )
    state.transactions.add(transaction)
    reseller.refids[command.refid] = transaction
    if product.bill is not None:
        transaction.bill = bill_key(product, transaction.account, transaction.extras.get("biller_code"))
    begin(state, transaction, now)
    wallet.replace_debit(transaction)
    reseller.history.add(transaction)
    return PaymentAnswer(
        transaction=transaction,
        result=transaction.results[-1],
        balance=reseller.wallet.balance,
        created=True,
        rule=transaction.rule,
        detail=note,
    )


def _kind(state: State, reseller: Reseller, product: Product, rule: Rule[PaymentThen] | None) -> PaymentKind:
    """Return the values that this payment shares with the latest of its kind, as the same object to save memory."""
    kind = PaymentKind(
        reseller=reseller.code,
        product=product.code,
        product_name=product.name,
        rule=rule.label if rule else "",
        callbacks=rule.then.callbacks if rule else _DEFAULT_CALLBACKS,
        category=state.catalog.categories.get(product.code),
        currency=product.denomination_currency or product.currency,
    )
    key = kind.reseller, kind.product, kind.rule
    latest = state.payment_kinds.get(key)
    if latest is not None and latest == kind:
        return latest
    state.payment_kinds[key] = kind
    return kind


_shared_account = lru_cache(maxsize=4096)(str)  # one object for repeated payments, to save memory


def _steps(state: State, product: Product, rule: Rule[PaymentThen] | None) -> tuple[Step, ...]:
    steps = rule.then.steps if rule else ORDINARY_STEPS
    if state.scenario.realistic_times and (rule is None or rule.fallback):
        return realistic(steps, product.processing_time)
    return steps


def _facts(draft: Draft, command: CreatePayment, amount: Decimal, now: datetime) -> dict[str, object]:
    return {
        "outstanding": lambda: outstanding(draft.state, draft.product, command, now),
        "now": now,
        "start": draft.state.started,
        "reseller": command.reseller,
        "product": command.product,
        "account": command.account,
        "amount": amount,
        "extras": command.extras,
        "refid": command.refid,
        "key": command.key,
        "address": command.sender,
    }
