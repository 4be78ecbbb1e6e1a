"""Creating and re-querying payments (SPEC 4.11).

An existing refid is looked up before anything is judged. A new payment is then checked in `CHECKS`' order, and the
first failure wins. Nothing changes before all checks have passed.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from simulator.domain import draw, pricing
from simulator.domain.catalog import FormField, Product
from simulator.domain.commands import CreatePayment, PaymentAnswer, PaymentRefused, Reason
from simulator.domain.money import is_whole_cents, parse_amount
from simulator.domain.resellers import Reseller
from simulator.domain.rules import CallbackPlan, PaymentThen, Refusal, Rule, Step
from simulator.domain.state import State
from simulator.domain.timeline import ORDINARY_STEPS, begin, requeried
from simulator.domain.transactions import Transaction
from simulator.domain.wallet import EntryType, Wallet


class Draft(NamedTuple):
    """A payment that is being judged. `amount` is None when it is no number, `product` when there is none."""

    product: Product | None
    account: str
    amount: Decimal | None
    extras: Mapping[str, object]
    wallet: Wallet


def pay(state: State, command: CreatePayment, now: datetime) -> PaymentAnswer | PaymentRefused:
    """Create the payment, or answer with the one that has this refid."""
    reseller = state.resellers[command.reseller]
    existing = reseller.refids.get(command.refid)
    if existing is not None:
        return _requery(state, reseller, existing, command, now)
    draft = Draft(
        product=reseller.sees(state.catalog, command.product),
        account=command.account,
        amount=parse_amount(command.amount),
        extras=command.extras,
        wallet=reseller.wallet,
    )
    for check in CHECKS:
        if reason := check(draft):
            return _refuse(state, reason, draft)
    return _create(state, reseller, draft, command, now)


def _requery(
    state: State, reseller: Reseller, transaction: Transaction, command: CreatePayment, now: datetime
) -> PaymentAnswer | PaymentRefused:
    if state.assumes("refid-reused-with-other-parameters", "reject") and not _is_same(transaction, command):
        return PaymentRefused(
            Reason.REFID, state.codes[Reason.REFID], reseller.wallet.balance, transaction.product_name
        )
    requeried(state, transaction, now)
    return PaymentAnswer(transaction, transaction.result, reseller.wallet.balance, False, transaction.rule)


def _is_same(transaction: Transaction, command: CreatePayment) -> bool:
    return (transaction.product, transaction.account, transaction.amount, transaction.extras) == (
        command.product,
        command.account,
        parse_amount(command.amount),
        command.extras,
    )


def _refuse(state: State, reason: Reason, draft: Draft) -> PaymentRefused:
    name = draft.product.name if draft.product else ""
    return PaymentRefused(reason, state.codes[reason], draft.wallet.balance, name)


def _refuse_by_rule(state: State, rule: Rule[PaymentThen], refusal: Refusal, draft: Draft) -> PaymentRefused:
    code = state.codes[refusal.reason] if refusal.code is None else refusal.code
    name = draft.product.name if draft.product else ""
    return PaymentRefused(refusal.reason, code, draft.wallet.balance, name, refusal.remarks, rule.label)


def _create(
    state: State, reseller: Reseller, draft: Draft, command: CreatePayment, now: datetime
) -> PaymentAnswer | PaymentRefused:
    product, amount = draft.product, draft.amount
    assert product is not None
    assert amount is not None
    rule = state.payments.choose(_facts(command, amount), command.rule)
    if rule is not None and rule.then.refusal is not None:
        return _refuse_by_rule(state, rule, rule.then.refusal, draft)
    cost = pricing.cost(product, amount)
    transaction = Transaction(
        trxid=draw.trxid(state.seed, now, reseller.code, command.refid),
        refid=command.refid,
        reseller=reseller.code,
        product=product.code,
        product_name=product.name,
        account=command.account,
        amount=amount,
        cost=cost,
        remarks=command.remarks,
        extras=command.extras,
        sender=command.sender,
        created=now,
        rule=rule.label if rule else "",
        callbacks=rule.then.callbacks if rule else CallbackPlan(),
    )
    assert transaction.trxid not in state.transactions, "two refids drew the same trxid"
    reseller.refids[command.refid] = transaction
    state.transactions[transaction.trxid] = transaction
    entry = reseller.wallet.post(
        EntryType.TRANSACTION, -cost, now, f"{product.name} {command.account}", transaction.trxid
    )
    transaction.entry_ids.append(entry.id)
    begin(state, transaction, _steps(rule), now)
    return PaymentAnswer(transaction, transaction.result, reseller.wallet.balance, True, transaction.rule)


def _steps(rule: Rule[PaymentThen] | None) -> tuple[Step, ...]:
    return rule.then.steps if rule else ORDINARY_STEPS


def _facts(command: CreatePayment, amount: Decimal) -> dict[str, object]:
    return {
        "reseller": command.reseller,
        "product": command.product,
        "account": command.account,
        "amount": amount,
        "extras": command.extras,
        "refid": command.refid,
    }


def _check_product(draft: Draft) -> Reason | None:
    return None if draft.product and draft.product.is_active else Reason.PRODUCT


def _check_account(draft: Draft) -> Reason | None:
    assert draft.product is not None
    field = draft.product.account
    if field is None or field.accepts is None:
        return None
    return None if field.accepts(draft.account) else Reason.ACCOUNT


def _check_amount(draft: Draft) -> Reason | None:
    """Number, denomination, minimum and maximum: all are an invalid denomination (SPEC 7.3)."""
    assert draft.product is not None
    if draft.amount is None or draft.amount <= 0:
        return Reason.DENOMINATION
    field = draft.product.pricing
    if field is None:
        return None
    if field.type == "select":
        sold = any(o.is_active and o.denomination == draft.amount for o in draft.product.options.get(field.id, ()))
        return None if sold else Reason.DENOMINATION
    low, high = _range(draft.product, field)
    fits = (low is None or low <= draft.amount) and (high is None or draft.amount <= high)
    return None if fits and is_whole_cents(draft.amount) else Reason.DENOMINATION


def _range(product: Product, field: FormField) -> tuple[Decimal | None, Decimal | None]:
    low = product.min_amount.amount if product.min_amount else field.minimum
    high = product.max_amount.amount if product.max_amount else field.maximum
    return low, high


def _check_balance(draft: Draft) -> Reason | None:
    assert draft.product is not None
    assert draft.amount is not None
    return None if draft.wallet.covers(pricing.cost(draft.product, draft.amount)) else Reason.BALANCE


CHECKS: tuple[Callable[[Draft], Reason | None], ...] = (_check_product, _check_account, _check_amount, _check_balance)
