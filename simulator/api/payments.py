"""`POST /v2/topup`: create or re-query a payment (SPEC 4.11)."""

from collections.abc import Mapping
from functools import cache

from simulator.api.call import Call, Problems, Reply
from simulator.api.diagnoses import explain
from simulator.api.quotas import refuse_payment
from simulator.contract.schemas import schema
from simulator.domain.commands import CreatePayment
from simulator.domain.model.answers import PaymentRefused
from simulator.domain.model.transactions import Reason
from simulator.wire import payments

NO_EXTRAS: Mapping[str, object] = {}


def topup(call: Call) -> Reply:
    """200 with the payment as it stands, 400 when none was created, 403 when the sandbox may have no more."""
    fields, exchange = call.fields, call.exchange
    exchange.refid = fields["refid"]
    if refusal := refuse_payment(call, fields["refid"]):
        return refusal
    outcome = call.sandbox.apply(
        CreatePayment(
            reseller=exchange.reseller,
            refid=fields["refid"],
            product=fields["product"],
            account=fields["account"],
            amount=fields["amount"],
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
        return Reply(400, payments.refusal(outcome, fields, call.now))
    exchange.trxid = outcome.transaction.trxid
    exchange.rule = outcome.rule
    if outcome.detail is not None or outcome.ignored is not None:
        explain(call, outcome.detail)
        explain(call, outcome.ignored)
    at_answer = call.sandbox.core.state.assumes("payment-timestamp", "answer")
    return Reply(200, payments.answer(outcome, call.now if at_answer else outcome.result.at))


def invalid_request(call: Call, problems: Problems) -> Reply:
    """400 in the payment's own shape for a body that violates the contract."""
    state, reason = call.sandbox.core.state, Reason.REQUEST
    call.exchange.error = reason
    refid = call.fields.get("refid")
    if isinstance(refid, str) and len(refid) <= _refid_chars_max():
        call.exchange.refid = refid
    code = call.fields.get("product")
    product = call.owner.sees(state.catalog, code) if isinstance(code, str) else None
    name = product.name if product else ""
    refused = PaymentRefused(
        reason=reason, code=state.codes[reason], balance=call.owner.wallet.balance, product_name=name
    )
    return Reply(400, payments.refusal(refused, call.fields, call.now))


@cache
def _refid_chars_max() -> int:
    """How long a refid may be, by the contract."""
    length: int = schema("topup-request")["properties"]["refid"]["maxLength"]
    return length
