"""Creating and re-querying payments (SPEC 4.11).

An existing refid is looked up before anything is judged. A new payment is then checked in `checks.CHECKS`' order, and
the first failure wins. Nothing changes before all checks have passed.
"""

from datetime import datetime
from decimal import Decimal

from simulator.domain.commands import CreatePayment, PaymentAnswer, PaymentRefused
from simulator.domain.handlers import plans
from simulator.domain.handlers.bills import note_payment
from simulator.domain.handlers.checks import CHECKS
from simulator.domain.handlers.draft import Draft
from simulator.domain.handlers.timeline import ORDINARY_STEPS, begin, requeried
from simulator.domain.model import draw, pricing
from simulator.domain.model.catalog import Product
from simulator.domain.model.made import made
from simulator.domain.model.money import parse_amount
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import CallbackPlan, Reason, Refusal, Transaction
from simulator.domain.model.wallet import TRANSACTION
from simulator.domain.state import State

_AS_USUAL = CallbackPlan()

_NOT_SOLD = Refusal(Reason.PRODUCT)
_NOT_COVERED = Refusal(Reason.BALANCE)


def pay(state: State, command: CreatePayment, now: datetime) -> PaymentAnswer | PaymentRefused:
    """Create the payment, or answer with the one that has this refid."""
    reseller = state.resellers[command.reseller]
    existing = reseller.refids.get(command.refid)
    if existing is not None:
        return _requery(state, reseller, existing, command, now)
    product = reseller.sees(state.catalog, command.product)
    if product is None or not product.is_active:
        return _refuse(state, _NOT_SOLD, reseller, product)
    amount = parse_amount(command.amount)
    draft = made(Draft, (state, product, command.account, amount, command.extras))
    for check in CHECKS:
        if refusal := check(draft):
            return _refuse(state, refusal, reseller, product)
    assert amount is not None, "what is no number was refused"
    cost = pricing.cost(product, amount)
    if not reseller.wallet.covers(cost):
        return _refuse(state, _NOT_COVERED, reseller, product)
    return _create(state, reseller, product, amount, cost, command, now)


def _requery(
    state: State, reseller: Reseller, transaction: Transaction, command: CreatePayment, now: datetime
) -> PaymentAnswer | PaymentRefused:
    if state.assumes("refid-reused-with-other-parameters", "reject") and not _is_same(transaction, command):
        return PaymentRefused(
            Reason.REFID, state.codes[Reason.REFID], reseller.wallet.balance, transaction.product_name
        )
    requeried(state, transaction, now)
    result = transaction.result
    balance = result.balance if state.assumes("requery-balance", "own_entry") else reseller.wallet.balance
    return PaymentAnswer(transaction, result, balance, False, transaction.rule)


def _is_same(transaction: Transaction, command: CreatePayment) -> bool:
    return (transaction.product, transaction.account, transaction.amount, transaction.extras) == (
        command.product,
        command.account,
        parse_amount(command.amount),
        command.extras,
    )


def _refuse(
    state: State, refusal: Refusal, reseller: Reseller, product: Product | None, rule: str = ""
) -> PaymentRefused:
    code = state.codes[refusal.reason] if refusal.code is None else refusal.code
    name = product.name if product else ""
    return PaymentRefused(refusal.reason, code, reseller.wallet.balance, name, refusal.remarks, rule)


def _create(
    state: State,
    reseller: Reseller,
    product: Product,
    amount: Decimal,
    cost: Decimal,
    command: CreatePayment,
    now: datetime,
) -> PaymentAnswer | PaymentRefused:
    book = state.payments
    rule = book.choose(lambda: _facts(command, amount), command.rule, command.account)
    if rule is not None and rule.then.refusal is not None:
        refusal = rule.then.refusal
        said = refusal.remarks or plans.remarks(refusal.reason, command.extras, amount)
        return _refuse(state, refusal._replace(remarks=said), reseller, product, rule.label)
    trxid = draw.trxid(state.seed, now, reseller.code, command.refid)
    assert trxid not in state.transactions, "two refids drew the same trxid"
    entry = reseller.wallet.post(TRANSACTION, -cost, now, f"{product.name} {command.account}", trxid)
    # By place, since names would cost as much again as all the rest of making it.
    transaction = Transaction(
        trxid,
        command.refid,
        reseller.code,
        product.code,
        product.name,
        command.account,
        amount,
        cost,
        command.remarks,
        command.extras,
        command.sender,
        now,
        rule.label if rule else "",
        rule.then.callbacks if rule else _AS_USUAL,
        state.catalog.categories.get(product.code),
        product.denomination_currency or product.currency,
        pricing.face_value(product, amount),
        (entry.id,),
    )
    reseller.refids[command.refid] = transaction
    state.transactions[trxid] = transaction
    if product.bill is not None:
        note_payment(state, product, transaction)
    begin(state, transaction, rule.then.steps if rule else ORDINARY_STEPS, now)
    reseller.records.add(transaction)
    return PaymentAnswer(transaction, transaction.results[-1], reseller.wallet.balance, True, transaction.rule)


def _facts(command: CreatePayment, amount: Decimal) -> dict[str, object]:
    return {
        "reseller": command.reseller,
        "product": command.product,
        "account": command.account,
        "amount": amount,
        "extras": command.extras,
        "refid": command.refid,
    }
