"""The account endpoints: balance, threshold, callback URL, balance webhook (SPEC 4.15, 4.16, 4.18, 4.19)."""

from urllib.parse import urlsplit

from simulator.api.call import ApiCall, Reply
from simulator.api.notes import note
from simulator.api.refusals import invalid_parameters, refuse_parameters
from simulator.contract.schemas import schema
from simulator.domain.commands import (
    EnableWebhook,
    RemoveWebhook,
    RotateWebhookSecret,
    SetCallback,
    SetThreshold,
    SetWebhook,
)
from simulator.domain.errors import Unacceptable
from simulator.domain.model.inbox_programs import INBOX_SCHEME
from simulator.domain.model.money import parse_amount
from simulator.http_client.targets import reason_to_refuse
from simulator.runtime.inboxes import INBOX_PATH
from simulator.wire import account, error_bodies, webhook_bodies
from simulator.wire.money import encode


def balance(call: ApiCall) -> Reply:
    """Return 200 with the wallet's balance."""
    flat = call.sandbox.core.state.assumes("balance-record", "flat")
    return Reply(200, account.balance(call.owner.wallet.balance, flat=flat))


def set_threshold(call: ApiCall) -> Reply:
    """Return 200 with the value set; 400 for an invalid amount or threshold."""
    amount = parse_amount(call.fields["amount"])
    if amount is None:
        return _bad_threshold(call)
    try:
        reseller = call.sandbox.apply(SetThreshold(call.owner.code, amount), call.now)
    except Unacceptable:
        return _bad_threshold(call)
    return Reply(200, account.threshold(reseller.email, reseller.wallet.threshold, call.now))


def _bad_threshold(call: ApiCall) -> Reply:
    text = f"must be {schema('low-balance-threshold-query')['properties']['amount']['x-must-be']}"
    return invalid_parameters(call, {"amount": [text]})


def read_url(call: ApiCall) -> Reply:
    """Return 200 with the callback configuration, empty strings without one."""
    return Reply(200, account.configuration(call.owner.callback, call.now))


def set_url(call: ApiCall) -> Reply:
    """Return 200 with the values set; 400 for a URL that cannot be called."""
    url, method = call.fields["url"], call.fields["method"]
    if reason := reason_to_refuse(url):
        note(call, reason)
        return refuse_parameters({"url": [reason]})
    config = call.sandbox.apply(SetCallback(call.owner.code, url, method), call.now)
    return Reply(200, account.configuration(config, call.now))


def read_webhook(call: ApiCall) -> Reply:
    """Return 200 with the webhook configuration, empty without a webhook."""
    return Reply(200, webhook_bodies.configuration(call.owner.webhook))


def put_webhook(call: ApiCall) -> Reply:
    """Return 200 with the secret on creation, without it on an update; 400 for an address that cannot be called."""
    url = call.fields["url"]
    if reason := reason_to_refuse(url) or _reason_in_production(call, url):
        note(call, reason)
        return refuse_parameters({"url": [reason]})
    if call.sandbox.apply(SetWebhook(call.owner.code, url), call.now):
        return _with_secret(call)
    return Reply(200, webhook_bodies.url_alone(call.owner.webhook))


def enable_webhook(call: ApiCall) -> Reply:
    """Return 200 with the values set; 404 without a webhook."""
    wanted = call.fields["enabled"]
    if not call.sandbox.apply(EnableWebhook(call.owner.code, wanted), call.now):
        return _no_webhook(call)
    return Reply(200, {"enabled": wanted})


def rotate_secret(call: ApiCall) -> Reply:
    """Return 200 with the new secret; 404 without a webhook."""
    if not call.sandbox.apply(RotateWebhookSecret(call.owner.code), call.now):
        return _no_webhook(call)
    return _with_secret(call)


def remove_webhook(call: ApiCall) -> Reply:
    """Return 204, with or without a webhook."""
    call.sandbox.apply(RemoveWebhook(call.owner.code), call.now)
    return Reply(204, b"")


def _with_secret(call: ApiCall) -> Reply:
    shown = webhook_bodies.with_secret(call.owner.webhook)
    masked = webhook_bodies.with_secret(call.owner.webhook, masked=True)
    return Reply(200, encode(shown), journaled=encode(masked))


def _no_webhook(call: ApiCall) -> Reply:
    note(call, f"{call.owner.code} has no balance webhook; create it with PUT")
    return Reply(404, error_bodies.parameters("There is no balance webhook; create it with PUT.", {}))


def _reason_in_production(call: ApiCall, url: str) -> str | None:
    """Return why production refuses a URL: it requires https, except for inboxes of the simulator."""
    if call.sandbox.scenario.environment != "production" or url.startswith(("https://", INBOX_SCHEME)):
        return None
    parts = urlsplit(url)
    host = call.headers.get(b"host", b"").decode("latin-1").lower()
    if parts.scheme == "https" or (parts.netloc.lower() == host and parts.path.startswith(INBOX_PATH)):
        return None
    return "the address must begin with https:// in production"
