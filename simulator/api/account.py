"""The reseller's own account: `GET /v2/balance` (SPEC 4.15), `/v2/callback-url` (4.18), the alert threshold (4.16)."""

from ipaddress import ip_address

from simulator.api.call import Call, Reply
from simulator.api.notes import note
from simulator.api.refusals import invalid_parameters, refuse_parameters
from simulator.contract.schemas import schema
from simulator.delivery.targets import AddressPolicy, BadTarget, HttpTarget, parse_target
from simulator.domain.commands import SetCallback, SetThreshold
from simulator.domain.errors import Unacceptable
from simulator.domain.model.money import parse_amount
from simulator.wire import account


def balance(call: Call) -> Reply:
    """200 with the wallet's balance."""
    flat = call.sandbox.core.state.assumes("balance-record", "flat")
    return Reply(200, account.balance(call.owner.wallet.balance, flat=flat))


def read_callback_url(call: Call) -> Reply:
    """200 with the configuration, empty strings when there is none."""
    return Reply(200, account.callback_url(call.owner.callback, call.now))


def set_callback_url(call: Call) -> Reply:
    """200 with the values set; 400 for a URL that cannot be called."""
    url, method = call.fields["url"], call.fields["method"]
    if reason := reason_to_refuse(url):
        note(call, reason)
        return refuse_parameters({"url": [reason]})
    config = call.sandbox.apply(SetCallback(call.owner.code, url, method), call.now)
    return Reply(200, account.callback_url(config, call.now))


def set_low_balance_threshold(call: Call) -> Reply:
    """200 with the value set; 400 for an invalid amount or threshold."""
    amount = parse_amount(call.fields["amount"])
    if amount is None:
        return _bad_threshold(call)
    try:
        reseller = call.sandbox.apply(SetThreshold(call.owner.code, amount), call.now)
    except Unacceptable:
        return _bad_threshold(call)
    return Reply(200, account.low_balance_threshold(reseller.email, reseller.wallet.threshold, call.now))


def _bad_threshold(call: Call) -> Reply:
    text = f"must be {schema('low-balance-threshold-query')['properties']['amount']['title']}"
    return invalid_parameters(call, {"amount": [text]})


def reason_to_refuse(url: str) -> str | None:
    """Why a URL is rejected. Host names are resolved and checked only when they are called."""
    try:
        target = parse_target(url)
        return AddressPolicy().refuse(ip_address(target.host)) if isinstance(target, HttpTarget) else None
    except BadTarget as bad:
        return bad.reason
    except ValueError:
        return None
