"""The payment endpoints: topup, check and void, bill look-up, network status (SPEC 4.9 to 4.13)."""

from collections.abc import Mapping
from functools import partial

from simulator.api.authentication import refuse_payment
from simulator.api.call import ApiCall, Problems, Reply
from simulator.api.catalog_endpoints import wants_denominations
from simulator.api.notes import explain, no_product, note
from simulator.api.refusals import UNKNOWN_PRODUCT, refuse_parameters
from simulator.domain.commands import CreatePayment, LookUpBill, OpenCase
from simulator.domain.model.bills import BillError, BillRefused
from simulator.domain.model.cases import CaseKind, NoSuchTransaction
from simulator.domain.model.catalog import Product
from simulator.domain.model.pricing import PLAN_CODE
from simulator.domain.model.transactions import PaymentRefused, Reason
from simulator.domain.queries import NEW_VERSION, older
from simulator.runtime.lives import NO_QUOTAS
from simulator.wire import bill_answers, payment_answers

NO_EXTRAS: Mapping[str, object] = {}


def topup(call: ApiCall) -> Reply:
    """Return 200 with the current payment; 400 when it was not created; 403 above the sandbox's quota."""
    fields, exchange = call.fields, call.exchange
    refid, amount = fields["refid"], fields["amount"]
    exchange.refid = refid
    if call.sandbox.spec.quotas is not NO_QUOTAS and (refusal := refuse_payment(call, refid)):
        return refusal
    outcome = call.sandbox.apply(
        CreatePayment(
            reseller=exchange.reseller,
            refid=refid,
            product=fields["product"],
            account=fields["account"],
            amount=amount,
            remarks=fields.get("remarks", ""),
            extras=fields.get("extras", NO_EXTRAS),
            sender=exchange.client,
            rule=exchange.selected_rule,
            key=call.key,
        ),
        call.now,
    )
    if isinstance(outcome, PaymentRefused):
        exchange.error, exchange.rule = outcome.reason, outcome.rule
        explain(call, outcome.detail, outcome.rule)
        explain(call, outcome.warning)
        explain(call, outcome.ignored)
        if outcome.reason is Reason.EXTRAS and PLAN_CODE not in fields.get("extras", NO_EXTRAS):
            product = call.owner.sees(call.sandbox.core.state.catalog, fields["product"])
            if product and PLAN_CODE in product.fulfillment.extras:
                _note_newer_mapping(call, product, f"extras.{PLAN_CODE}")
        return Reply(400, payment_answers.refusal(outcome, fields, call.now))
    exchange.trxid = outcome.transaction.trxid
    exchange.rule = outcome.rule
    if isinstance(amount, str) and amount != amount.strip():
        note(call, "amount has blanks around it, which were ignored")
    if outcome.detail is not None or outcome.ignored is not None:
        explain(call, outcome.detail)
        explain(call, outcome.ignored)
    at_answer = call.sandbox.core.state.assumes("payment-timestamp", "answer")
    return Reply(200, payment_answers.answer(outcome, call.now if at_answer else outcome.result.at))


def _note_newer_mapping(call: ApiCall, product: Product, missing: str) -> None:
    """Note that only the catalog of `NEW_VERSION` maps what a payment lacks, for a client of the older catalog."""
    if not wants_denominations(call):
        version = f"X-API-Version: {NEW_VERSION.isoformat()}"
        note(call, f"the catalog maps {missing} of {product.code} only for requests with {version}")


def invalid_topup(call: ApiCall, problems: Problems) -> Reply:
    """Return 400 in the payment's own shape for a body that violates the contract."""
    state, reason = call.sandbox.core.state, Reason.REQUEST
    call.exchange.error = reason
    refid = call.fields.get("refid")
    if isinstance(refid, str) and not problems.keys() & {"refid", ""}:  # "": too large to be explained
        call.exchange.refid = refid
    code = call.fields.get("product")
    product = call.owner.sees(state.catalog, code) if isinstance(code, str) else None
    name = product.name if product else ""
    is_withheld = product and product.fulfillment.amount and older(state, product).fulfillment.amount is None
    if product and is_withheld and "amount" not in call.fields:
        _note_newer_mapping(call, product, "an amount")
    refused = PaymentRefused(
        reason=reason, code=state.codes[reason], balance=call.owner.wallet.balance, product_name=name
    )
    return Reply(400, payment_answers.refusal(refused, call.fields, call.now))


def invalid_case(call: ApiCall, problems: Problems) -> Reply:
    """Return 400 by field. Problems of the reference are reported as `trxid`, even if `refid` was sent (SPEC 4.12)."""
    errors: dict[str, list[str]] = {}
    for path, texts in problems.items():
        field = "trxid" if path in ("", "refid") else path
        prefix = "" if path == field else f"{path or 'the request'} "
        errors.setdefault(field, []).extend(prefix + text for text in texts)
    return refuse_parameters(errors)


def _open_case(kind: CaseKind, call: ApiCall) -> Reply:
    """Dispute or void a payment. Return 200 with `Success` or `Failed`; 400 for a transaction that does not exist."""
    fields, exchange = call.fields, call.exchange
    refund_type = fields.get("refund_type") if kind is CaseKind.VOID else None
    outcome = call.sandbox.apply(
        OpenCase(
            kind=kind,
            reseller=call.owner.code,
            refid=fields.get("refid", ""),
            trxid=fields.get("trxid", ""),
            user_email=tuple(fields.get("user_email", ())),
            refund_type=None if refund_type is None else int(refund_type),
            refund_reason=fields.get("refund_reason", ""),
            rule=exchange.selected_rule,
            sender=exchange.client,
            key=call.key,
        ),
        call.now,
    )
    if isinstance(outcome, NoSuchTransaction):
        exchange.error = "unknown_transaction"
        explain(call, outcome.detail)
        return refuse_parameters({"trxid": [f"there is no transaction of this {outcome.named_by}"]})
    exchange.refid, exchange.trxid = outcome.transaction.refid, outcome.transaction.trxid
    exchange.rule = outcome.rule
    explain(call, outcome.detail, "" if outcome.is_accepted else outcome.rule)
    return Reply(200, payment_answers.case_answer(outcome))


check, void = partial(_open_case, CaseKind.DISPUTE), partial(_open_case, CaseKind.VOID)


# The refusals of malformed parameters of a bill look-up.
_ERRORS: Mapping[str, BillError] = {
    "product": BillError.PRODUCT,
    "account": BillError.ACCOUNT,
    "biller_code": BillError.BILLER,
    "ref2": BillError.REF2,
    "amount": BillError.AMOUNT,
}


def show_bill(call: ApiCall) -> Reply:
    """Return 200 with the bill; 400 in the same shape without a bill."""
    fields, exchange = call.fields, call.exchange
    outcome = call.sandbox.apply(
        LookUpBill(
            reseller=call.owner.code,
            product=fields["product"],
            account=fields["account"],
            **{name: fields.get(name, "") for name in ("biller_code", "ref2", "amount")},
            rule=exchange.selected_rule,
            sender=exchange.client,
            key=call.key,
        ),
        call.now,
    )
    exchange.rule = outcome.rule
    if isinstance(outcome, BillRefused):
        explain(call, outcome.detail, outcome.rule)
        return _refused_bill(call, outcome)
    explain(call, outcome.detail)
    return Reply(200, bill_answers.bill(outcome.bill, fields["product"], call.now))


def invalid_bill(call: ApiCall, problems: Problems) -> Reply:
    """Return 400 in the bill's own shape for an invalid query, named after the first invalid parameter."""
    first = next((name for name in _ERRORS if name in problems), "")
    return _refused_bill(call, BillRefused(_ERRORS.get(first, "Invalid request")))


def _refused_bill(call: ApiCall, refused: BillRefused) -> Reply:
    call.exchange.error = str(refused.error)
    product = call.fields.get("product", "")
    return Reply(400, bill_answers.refusal(refused, product if isinstance(product, str) else "", call.now))


def show_network(call: ApiCall) -> Reply:
    """Return 200 with the product's current status; 400 for an unknown product."""
    state, code = call.sandbox.core.state, call.fields["product"]
    product = state.catalog.products.get(code)
    if product is None:
        note(call, no_product(call, code))
        return refuse_parameters({"product": [UNKNOWN_PRODUCT]})
    return Reply(200, payment_answers.network_status(product, state.network.status(code, call.now), call.now))
