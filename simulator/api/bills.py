"""`GET /v2/bill-presentment`: what is outstanding on a bill (SPEC 4.10)."""

from collections.abc import Mapping

from simulator.api.call import Call, Problems, Reply
from simulator.api.diagnoses import explain
from simulator.domain.commands import LookUpBill
from simulator.domain.model.bills import BillError, BillRefused
from simulator.wire import bills

# What a malformed parameter of a bill look-up is refused as.
_ERRORS: Mapping[str, BillError] = {
    "product": BillError.PRODUCT,
    "account": BillError.ACCOUNT,
    "biller_code": BillError.BILLER,
    "ref2": BillError.REF2,
    "amount": BillError.AMOUNT,
}


def show(call: Call) -> Reply:
    """200 with the bill, 400 in the same shape when there is none."""
    fields, exchange = call.fields, call.exchange
    outcome = call.sandbox.apply(
        LookUpBill(
            reseller=call.owner.code,
            product=fields["product"],
            account=fields["account"],
            biller_code=fields.get("biller_code", ""),
            ref2=fields.get("ref2", ""),
            amount=fields.get("amount", ""),
            rule=exchange.selected_rule,
            sender=exchange.client,
            key=call.key,
        ),
        call.now,
    )
    exchange.rule = outcome.rule
    if isinstance(outcome, BillRefused):
        explain(call, outcome.detail, outcome.rule)
        return _refused(call, outcome)
    explain(call, outcome.detail)
    return Reply(200, bills.bill(outcome.bill, fields["product"], call.now))


def invalid_request(call: Call, problems: Problems) -> Reply:
    """400 in the bill's own shape for a query that violates the contract; the first invalid parameter names it."""
    first = next((name for name in _ERRORS if name in problems), "")
    return _refused(call, BillRefused(_ERRORS.get(first, "Invalid request")))


def _refused(call: Call, refused: BillRefused) -> Reply:
    call.exchange.error = str(refused.error)
    product = call.fields.get("product", "")
    return Reply(400, bills.refusal(refused, product if isinstance(product, str) else "", call.now))
