"""`POST /v2/low-balance-threshold`: below which balance the reseller is alerted (SPEC 4.16)."""

from simulator.api.call import Call, Reply
from simulator.api.refusals import invalid_parameters
from simulator.contract.schemas import schema
from simulator.domain.commands import SetThreshold
from simulator.domain.errors import Unacceptable
from simulator.domain.model.money import parse_amount
from simulator.wire import alerts


def set_threshold(call: Call) -> Reply:
    """200 with the value set; 400 for an invalid amount or threshold."""
    amount = parse_amount(call.fields["amount"])
    if amount is None:
        return _bad_threshold(call)
    try:
        reseller = call.sandbox.apply(SetThreshold(call.owner.code, amount), call.now)
    except Unacceptable:
        return _bad_threshold(call)
    return Reply(200, alerts.threshold(reseller.email, reseller.wallet.threshold, call.now))


def _bad_threshold(call: Call) -> Reply:
    text = f"must be {schema('low-balance-threshold-query')['properties']['amount']['x-must-be']}"
    return invalid_parameters(call, {"amount": [text]})
