"""Cases, opened and completed (SPEC 3.5, 4.12, 4.13).

Checks run in order: the transaction exists and belongs to this reseller, it succeeded, it was not requested before, its
product can be voided. Then the rules decide. A request that fails before the rules creates no case. An accepted void
completes later, from the agenda: the wallet is refunded once and the transaction voided, or the biller refuses. With
the choice `responses_only`, accepted requests have no effect in staging.
"""

from collections.abc import Mapping
from datetime import datetime

from simulator.domain.agenda import CaseDue
from simulator.domain.commands import OpenCase
from simulator.domain.handlers.timeline import propagate_change, template_facts
from simulator.domain.model.cases import (
    REFUND_AFTER,
    Case,
    CaseAnswer,
    CaseKind,
    CaseState,
    CaseThen,
    NoSuchTransaction,
)
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.domain_events import EmailNotification, LedgerPosting, NotificationKind, StatusChange
from simulator.domain.model.likeness import nearest
from simulator.domain.model.money import ZERO
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import PaymentResult, Status, Transaction, may_follow, result_kind
from simulator.domain.model.wallet import EntryType
from simulator.domain.state import State, payment_with

# Per transaction. A transaction has several disputes or voids only where refused cases may be requested again.
CASES_MAX = 20

# The effect of a request that no rule matches.
ORDINARY_THEN: Mapping[CaseKind, CaseThen] = {
    CaseKind.DISPUTE: CaseThen(is_accepted=True),
    CaseKind.VOID: CaseThen(is_accepted=True, refund_after=REFUND_AFTER),
}

_ACCEPTED = {
    CaseKind.DISPUTE: "The case was created.",
    CaseKind.VOID: "The request was submitted; the refund follows when the biller approves.",
}
_REFUSED = {
    CaseKind.DISPUTE: "The dispute was refused.",
    CaseKind.VOID: "The biller refused the void.",
}
_NOT_SUCCESSFUL = {
    Status.ACCEPTED: "The transaction is still being processed.",
    Status.PROCESSING: "The transaction is still being processed.",
    Status.FAILED: "The transaction has failed already.",
    Status.REFUNDED: "The transaction was refunded already.",
}
_DONE = {CaseKind.DISPUTE: "disputed", CaseKind.VOID: "voided"}


def open_case(state: State, command: OpenCase, now: datetime) -> CaseAnswer | NoSuchTransaction:
    """Accept or refuse a dispute or void. A request that is refused before the rules changes nothing."""
    transaction = _find(state, command)
    if transaction is None:
        return NoSuchTransaction("trxid" if command.trxid else "refid", _unknown(state, command))
    if objection := _reason_to_refuse(state, command.kind, transaction):
        state.noted[DomainOutcome(f"{command.kind}-refused")] += 1
        message, wrong = objection
        return CaseAnswer(transaction=transaction, is_accepted=False, message=message, rule="", detail=wrong)
    book = state.voids if command.kind is CaseKind.VOID else state.disputes
    rule = book.choose(lambda: _facts(state, command, transaction, now), command.rule, transaction.account)
    case = _record(state, command, transaction, rule, now)
    state.noted[DomainOutcome(f"{command.kind}-{'taken' if case.is_accepted else 'refused'}")] += 1
    return CaseAnswer(
        transaction=transaction,
        is_accepted=case.is_accepted,
        message=case.message,
        rule=case.rule,
        detail=_ignored(state, command, transaction),
    )


def case_due(state: State, due: CaseDue, now: datetime) -> None:
    """Apply the biller's final answer to a void."""
    case = due.case
    case.ended = now
    if due.is_refund:
        case.state = CaseState.REFUNDED
        case.transaction = state.transactions[case.transaction.trxid]
        _refund(state, case.transaction, now)
        _notify(state, case, now, "The payment was refunded.")
    else:
        case.state = CaseState.REFUSED
        state.noted[DomainOutcome.VOID_REFUSED_LATER] += 1
        _notify(state, case, now, _REFUSED[case.kind])


def _find(state: State, command: OpenCase) -> Transaction | None:
    """Return the referenced transaction, if it is the reseller's own; `trxid` takes precedence over `refid`."""
    if not command.trxid:
        return payment_with(state, state.resellers[command.reseller], command.refid)
    found = state.transactions.get(command.trxid)
    return found if found is not None and found.reseller == command.reseller else None


def _unknown(state: State, command: OpenCase) -> Detail:
    """Explain why the reference matches no transaction: another reseller's, or the other kind of reference."""
    field, reference = ("trxid", command.trxid) if command.trxid else ("refid", command.refid)
    refids = state.resellers[command.reseller].refids
    if command.trxid and reference in refids:
        return detail(DetailKind.OTHER_REFERENCE, reference=reference, field="refid")
    found = state.transactions.get(reference)
    if found is None:
        likely = nearest(reference, refids) if field == "refid" else ""
        return detail(DetailKind.NO_TRANSACTION, field=field, reference=reference, nearest=likely)
    if found.reseller == command.reseller:
        return detail(DetailKind.OTHER_REFERENCE, reference=reference, field="trxid")
    return detail(DetailKind.OTHER_RESELLER, reference=reference, owner=found.reseller, reseller=command.reseller)


def _ignored(state: State, command: OpenCase, transaction: Transaction) -> Detail | None:
    if not command.trxid or not command.refid:
        return None
    if payment_with(state, state.resellers[command.reseller], command.refid) is transaction:
        return None
    return detail(DetailKind.REFID_IGNORED, refid=command.refid, kept=transaction.refid)


def _reason_to_refuse(state: State, kind: CaseKind, transaction: Transaction) -> tuple[str, Detail] | None:
    """Return message and detail of a refusal that does not depend on the rules; None when the rules decide."""
    status = transaction.result.status
    if status is not Status.SUCCESSFUL:
        wrong = detail(DetailKind.NOT_SUCCESSFUL, trxid=transaction.trxid, status=status, done=_DONE[kind])
        return _NOT_SUCCESSFUL[status], wrong
    earlier = [case for case in state.cases.get(transaction.trxid, ()) if case.kind is kind]
    if state.assumes("case-lifecycle", "again_after_refusal"):
        earlier = [case for case in earlier if case.state is not CaseState.REFUSED]
    if earlier:
        state_, id_ = earlier[-1].state.value, earlier[-1].id
        wrong = detail(DetailKind.CASE_EXISTS, trxid=transaction.trxid, kind=kind.value, case=id_, state=state_)
        return f"A {kind.value} of this transaction was requested already.", wrong
    product = state.catalog.products.get(transaction.product)
    if kind is CaseKind.VOID and (product is None or not product.voidable):
        able = tuple(one.code for one in state.catalog.products.values() if one.voidable and not one.is_hidden)
        wrong = detail(DetailKind.NOT_VOIDABLE, product=transaction.product, able=able)
        return "Payments of this product cannot be voided.", wrong
    return None


def _facts(state: State, command: OpenCase, transaction: Transaction, now: datetime) -> dict[str, object]:
    return {
        "now": now,
        "start": state.started,
        "reseller": transaction.reseller,
        "product": transaction.product,
        "account": transaction.account,
        "amount": transaction.amount,
        "extras": transaction.extras,
        "refid": transaction.refid,
        "trxid": transaction.trxid,
        "refund_type": "" if command.refund_type is None else str(command.refund_type),
        "key": command.key,
        "address": command.sender,
    }


def _record(
    state: State, command: OpenCase, transaction: Transaction, rule: Rule[CaseThen] | None, now: datetime
) -> Case:
    kind = command.kind
    then = rule.then if rule else ORDINARY_THEN[kind]
    message = (_ACCEPTED if then.is_accepted else _REFUSED)[kind]
    state.cases_made += 1
    case = Case(
        id=f"case-{state.cases_made}",
        kind=kind,
        transaction=transaction,
        at=now,
        state=CaseState.REFUSED,
        is_accepted=then.is_accepted,
        message=message if then.message is None else then.message(template_facts(state, transaction)),
        rule=rule.label if rule else "",
        user_email=command.user_email,
        refund_type=command.refund_type,
        refund_reason=command.refund_reason,
    )
    cases = state.cases.setdefault(transaction.trxid, [])
    cases.append(case)
    if len(cases) > CASES_MAX:
        cases.remove(next(case for case in cases if case.state is CaseState.REFUSED))
    if not then.is_accepted:
        case.ended = now
        return case
    case.state = CaseState.OPEN if kind is CaseKind.DISPUTE else CaseState.APPROVED
    if state.scenario.environment == "staging" and state.assumes("staging-cases", "responses_only"):
        return case
    if then.refund_after is not None:
        state.agenda.add(now + then.refund_after, CaseDue(case, is_refund=True))
    elif then.refused_after is not None:
        state.agenda.add(now + then.refused_after, CaseDue(case, is_refund=False))
    _notify(state, case, now, case.message)
    return case


def _refund(state: State, transaction: Transaction, now: datetime) -> None:
    assert may_follow(transaction.result.status, Status.REFUNDED), "a transaction is voided once"
    wallet = state.resellers[transaction.reseller].wallet
    entry = wallet.post(EntryType.REFUND, transaction.cost, now, f"void of {transaction.refid}", transaction.trxid)
    transaction.refund = entry.id
    state.publish(LedgerPosting(transaction.reseller, entry))
    cost = transaction.cost if state.assumes("voided-cost", "keep") else ZERO
    kind = result_kind(Status.REFUNDED, state.codes[Status.REFUNDED], str(cost), "void")
    transaction.results += (PaymentResult(now, kind, wallet.balance, transaction.result.texts),)
    state.publish(StatusChange(transaction.number, len(transaction.results) - 1))
    state.noted[DomainOutcome.REFUNDED] += 1
    if transaction.bill is not None:
        state.bills_paid[transaction.bill] -= transaction.amount
    propagate_change(state, transaction, now)


def _notify(state: State, case: Case, now: datetime, text: str) -> None:
    """E-mail the addresses of the request, always with a copy to the registered address (SPEC 4.12)."""
    transaction = case.transaction
    to = dict.fromkeys((*case.user_email, state.resellers[transaction.reseller].email))
    subject = f"{case.kind.value.capitalize()} of {transaction.kind.product_name}, reference {transaction.refid}"
    notification = EmailNotification(
        at=now,
        kind=NotificationKind(case.kind.value),
        reseller=transaction.reseller,
        to=tuple(to),
        subject=subject,
        text=text,
        trxid=transaction.trxid,
        refid=transaction.refid,
    )
    state.publish(state.notifications.add(notification))
