"""Who may send a request: quotas and request rates, the address and its allowlist, an API key or a bearer token, the
signature, and last the nonce, which is checked and spent atomically (SPEC 5, 8)."""

from itertools import chain

import msgspec

from simulator.api.call import Access, ApiCall, Reply
from simulator.api.refusals import deny, refuse, refuse_address_of
from simulator.api.token_credentials import closed_to_token, holder_of
from simulator.auth import headers as names
from simulator.auth.canonical import QueryRules
from simulator.auth.signature import Claim, Denied, check_headers, verify
from simulator.contract.endpoints import fields_of
from simulator.domain.commands import ReturnNonce, SpendNonce
from simulator.domain.model.fault_kinds import Denial
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.outcomes import ConnectionEnd
from simulator.domain.state import payment_with
from simulator.runtime.journal import Exchange

DEFAULT_RULES = QueryRules()
LOST = (ConnectionEnd.ABORTED, ConnectionEnd.CUT, ConnectionEnd.GONE)
REPEATED = (
    "the answer to these very bytes was lost, and your HTTP library, as Java's HttpURLConnection and Go's transport "
    "do, or your own retry sent them again; repeat with the same refid and a new nonce, timestamp and signature"
)
UNANSWERED = (
    "these very bytes are still being answered: your HTTP library or your own retry sent them again before the answer "
    "came; wait longer, and repeat with the same refid and a new nonce, timestamp and signature"
)
SENT_TWICE = "these very bytes were sent before; make a nonce, a timestamp and a signature for each attempt"


NONCE_RETRY = ((b"retry-after", b"5"),)


def refuse_address(call: ApiCall) -> Reply | None:
    """Find the API key of the headers. Return 403 when its reseller has an allowlist that excludes this client.

    A revoked key is rejected as revoked, from any address (SPEC 5.2).
    """
    key = call.headers.get(names.API_KEY, b"").decode("latin-1")
    call.named = named = call.sandbox.core.state.keys.get(key)
    if named is None or not named[0].settings.ip_allowlist or named[1].state == "revoked":
        return None
    return refuse_address_of(call, named[0])


def identify(call: ApiCall) -> Reply | None:
    """Check the identity in the headers, as far as possible without the body; store it in `call.claim`.

    An API key takes precedence over a bearer token; an empty key counts as absent.
    """
    sandbox, named = call.sandbox, call.named
    if call.endpoint.access is Access.OPEN:
        call.claim = None
        return None
    tolerance_s = sandbox.scenario.limits.timestamp_tolerance.total_seconds()
    claim = check_headers(call.headers, named and named[1], sandbox.signing_time(call.wall).timestamp(), tolerance_s)
    if isinstance(claim, Denied):
        has_token = claim.code == "missing_api_key" and names.AUTHORIZATION in call.headers
        return _identify_bearer(call) if has_token else deny(call, claim)
    call.claim = claim
    return None


def _identify_bearer(call: ApiCall) -> Reply | None:
    """Identify the caller by the IdToken of a request without an API key (SPEC 5.4)."""
    call.claim = None
    reseller = holder_of(call.sandbox, call.endpoint.access, call.headers.get(names.AUTHORIZATION), call.now)
    if isinstance(reseller, Denied):
        return deny(call, reseller)
    if refusal := refuse_address_of(call, reseller):
        return refusal
    if closed := closed_to_token(call.endpoint, reseller, call.now):
        text = "This reseller requires API-key authentication for topup; JWT is not allowed."
        return refuse(call, 403, "api_key_required", text, closed.diagnosis)
    call.claim = reseller
    return None


def authenticate(call: ApiCall) -> Reply | None:
    """Verify the signature and spend the nonce; return None on success."""
    claim, exchange, verdict = call.claim, call.exchange, call.request.verdict
    if not isinstance(claim, Claim):  # no signature: a caller is admitted unless a fault denies authentication
        call.reseller = claim
        reply = refused_by_fault(call)
        if claim is not None and reply is None:
            exchange.reseller = claim.code
        return reply
    if verdict is None:
        rules = QueryRules.of(call.sandbox.scenario.assume) if exchange.query else DEFAULT_RULES
        refusal = verify(claim, exchange.method.encode(), exchange.query, exchange.body, rules)
    else:
        refusal = verdict()
    if refusal is not None:
        is_undiagnosed = verdict is None and refusal.code == "invalid_signature"
        return deny(call, _diagnosed(call, claim, rules) if is_undiagnosed else refusal)
    assert call.named is not None, "who claims something names a key that is known"
    reseller, key = call.named
    if call.fault is not None and (reply := refused_by_fault(call)):
        call.reseller = reseller
        return reply
    # The timestamp was checked at the same time; a nonce expires when its timestamp is too old.
    spend = SpendNonce(
        reseller=reseller.code,
        api_key=key.key,
        nonce=claim.nonce,
        timestamp_s=claim.timestamp_s,
        signing_s=claim.checked_s,
    )
    if not call.sandbox.apply(spend, call.now):
        return deny(call, _nonce_reused(call, claim))
    call.reseller, call.key = reseller, key.key
    exchange.reseller = reseller.code
    return None


def _diagnosed(call: ApiCall, claim: Claim, rules: QueryRules) -> Denied:
    """Return the refusal of a signature with the mistake that explains it."""
    from simulator.auth.autopsy.report import diagnose  # imported lazily: the search takes as long as all of `auth`

    exchange = call.exchange
    fields = fields_of(exchange.method, exchange.path)
    sent = (exchange.method, exchange.path, exchange.query, exchange.body)
    reason = diagnose(claim, *sent, rules, exchange.prefix, call.headers, fields)
    return Denied("invalid_signature", reason)


def _nonce_reused(call: ApiCall, claim: Claim) -> Denied:
    """Return the refusal of a nonce, with the request that spent it if the journal has it."""
    window_s = call.sandbox.scenario.limits.nonce_window.total_seconds()
    again = f"it is accepted again {window_s:g} s of the sandbox's time after its use, with a later X-Timestamp"
    text = f"each request needs a nonce of its own, also a retry; {again}"
    spender = _spender(call, claim)
    if spender is None:
        return Denied("nonce_reused", text)
    at = spender.at.astimezone(SERVICE_ZONE).isoformat(" ", timespec="milliseconds")
    who = f"request {spender.n}" if spender.n else "a request that is still being answered"
    text = f"{who} spent this nonce at {at}; {text}"
    is_same = dict(spender.headers).get(names.SIGNATURE) == call.headers.get(names.SIGNATURE)
    if is_same and spender.path == call.exchange.path:
        sent_again = REPEATED if spender.ending in LOST else SENT_TWICE if spender.n else UNANSWERED
        text = f"{sent_again}; {text}"
    return Denied("nonce_reused", text)


def _spender(call: ApiCall, claim: Claim) -> Exchange | None:
    """Return the latest request that spent this nonce. Unanswered requests are searched first, then the journal."""
    assert call.named is not None, "who claims something names a key that is known"
    for exchange in chain(reversed(call.sandbox.unanswered), reversed(call.sandbox.journal)):
        if claim.nonce in exchange.packed_headers and exchange.reseller == call.named[0].code:
            headers, is_any_key = dict(exchange.headers), call.sandbox.core.state.nonces_by_reseller
            is_key = is_any_key or headers.get(names.API_KEY) == call.headers.get(names.API_KEY)
            if is_key and headers.get(names.NONCE) == claim.nonce:
                return exchange
    return None


def refused_by_fault(call: ApiCall) -> Reply | None:
    """Return the refusal of an authentication fault, if any; unsigned requests have no nonce that could fail."""
    match call.fault and call.fault.rule.then.denial:
        case Denial.NONCE_SERVICE_DOWN if isinstance(call.claim, Claim):
            diagnosis = "a fault of the scenario: nonces cannot be looked up; this nonce is not spent"
            text = "The nonce cannot be validated now; retry with backoff."
            reply = refuse(call, 503, "nonce_service_unavailable", text, diagnosis)
            return msgspec.structs.replace(reply, headers=NONCE_RETRY)
        case Denial.INTERNAL_ERROR:
            return deny(call, Denied("internal_error", "a fault of the scenario"))
    return None


def refuse_late(call: ApiCall) -> Reply | None:
    """Return the refusal of a fault found after the nonce was spent. Release the nonce, and remove the caller from the
    journal entry."""
    reply = refused_by_fault(call)
    if reply is not None and isinstance(call.claim, Claim):
        assert call.named is not None, "who claims something names a key that is known"
        call.sandbox.apply(ReturnNonce(call.owner.code, call.named[1].key, call.claim.nonce), call.now)
    if reply is not None:
        call.exchange.reseller = ""
    return reply


RATE, BYTES, TRANSACTIONS = "quota_rate", "quota_bytes", "quota_transactions"
UNREAD_REFUSALS = (RATE, BYTES)
"""Quotas that refuse a request before it is read. Replays repeat the refusal, which the state cannot reproduce."""


def refuse_over_quota(call: ApiCall) -> Reply | None:
    """Refuse a request above the sandbox's quota of requests or bytes; count it for the rate."""
    sandbox, quotas = call.sandbox, call.sandbox.spec.quotas
    if call.request.recorded is not None:  # its replay repeats the refusal that the tape has
        return None
    if quotas.rate is not None and not sandbox.request_pace.passes(call.wall):
        text = "It has sent too many requests; retry a little later."
        return _refuse(call, RATE, f"{quotas.rate:g} requests a second", text)
    if quotas.bytes is not None and sandbox.tape.bytes + sandbox.tape.left_bytes >= quotas.bytes:
        return _refuse(call, BYTES, f"{quotas.bytes} bytes", "It has used all its bytes; a reset empties it.")
    return None


def refuse_payment(call: ApiCall, refid: str) -> Reply | None:
    """Refuse a new payment above the sandbox's quota; existing payments are still found."""
    quotas, state = call.sandbox.spec.quotas, call.sandbox.core.state
    if quotas.transactions is None or len(state.transactions) < quotas.transactions:
        return None
    if payment_with(state, call.owner, refid) is not None:
        return None
    text = "It has as many payments as it may; a reset empties it."
    return _refuse(call, TRANSACTIONS, f"{quotas.transactions} payments", text)


def _refuse(call: ApiCall, code: str, shown: str, text: str) -> Reply:
    hint = "POST /_sim/sandboxes and the flags of `serve` set it"  # a fork says the same
    text = f"This sandbox has a quota of {shown}. {text}"
    return refuse(call, 403, code, text, f"the quota of this sandbox is {shown}; {hint}")


def refuse_blocked(call: ApiCall) -> Reply:
    """Return 403: the address exceeded the request rate and is blocked for a while (SPEC 7.2, 8)."""
    client, limits = call.exchange.client, call.sandbox.scenario.limits
    diagnosis = (
        f"more than {limits.requests_per_interval} requests came from {client} within "
        f"{limits.rate_limit_interval.total_seconds():g} s of the sandbox's time, which blocks it for "
        f"{limits.rate_limit_block.total_seconds():g} s; limits.requests_per_interval: null in the scenario lifts it"
    )
    return refuse(call, 403, "ip_blocked", f"Requests from {client} are blocked: it has sent too many.", diagnosis)
