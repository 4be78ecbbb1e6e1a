"""Authentication of one call: headers, body, signature, and last the nonce, checked and spent atomically."""

from simulator.api.bearer import (
    ANYBODY,
    Bearer,
    accept_bearer,
    check_bearer,
)
from simulator.api.call import (
    Access,
    Call,
    Endpoint,
    Reply,
)
from simulator.api.refusals import address_blocked, deny, nonce_service_down
from simulator.auth import headers as names
from simulator.auth.diagnose import diagnose
from simulator.auth.signature import Claim, Denied, QueryRules, check_headers, verify
from simulator.domain.commands import CountRequest, ReturnNonce, SpendNonce
from simulator.domain.model.faults import FaultThen, InternalError, NonceServiceDown
from simulator.runtime.sandboxes import LiveSandbox

NO_QUERY = QueryRules()


def query_rules(sandbox: LiveSandbox) -> QueryRules:
    """The sandbox's choices for what SPEC 5.1 leaves open about queries."""
    assume = sandbox.scenario.assume
    return QueryRules(str(assume.get("repeated-query-keys", "either")), str(assume.get("empty-query-values", "either")))


def refuse_blocked(call: Call) -> Reply | None:
    """403 for an address that exceeded the request rate; counts this request (SPEC 8)."""
    client = call.exchange.client
    if not call.apply(CountRequest(client)):
        return None
    limits = call.sandbox.scenario.limits
    call.exchange.error = "ip_blocked"
    call.exchange.diagnosis = (
        f"more than {limits.requests_per_interval} requests came from {client} within "
        f"{limits.rate_limit_interval.total_seconds():g} s of the sandbox's time, which blocks it for "
        f"{limits.rate_limit_block.total_seconds():g} s; limits.requests_per_interval: null in the scenario lifts it"
    )
    return address_blocked(client)


def identify(call: Call) -> Reply | None:
    """Validate who the headers say is calling, as far as possible before the body is read; stores it in `call.claim`.

    An API key takes precedence over a bearer token; an empty key counts as absent.
    """
    endpoint = call.endpoint
    if endpoint.access is Access.OPEN:
        call.is_unsigned = True
        call.claim = ANYBODY
        return None
    held = None if call.named is None else call.named[1]
    tolerance_s = call.sandbox.scenario.limits.timestamp_tolerance.total_seconds()
    claim = check_headers(call.headers, held, call.sandbox.signing_time(call.wall).timestamp(), tolerance_s)
    if isinstance(claim, Denied):
        return _identify_bearer(call, endpoint, claim)
    call.claim = claim
    return None


def _identify_bearer(call: Call, endpoint: Endpoint, denied: Denied) -> Reply | None:
    """The same for a request whose key was `denied`: it may have a bearer token instead of one."""
    claim: Bearer | Denied | Reply = denied
    if denied.code == "missing_api_key" and names.AUTHORIZATION in call.headers:
        claim = check_bearer(call, endpoint)
    if isinstance(claim, Denied):
        return deny(call, endpoint, claim)
    if isinstance(claim, Reply):
        return claim
    call.claim = claim
    return None


def authenticate(call: Call, endpoint: Endpoint, claim: Claim | Bearer, fault: FaultThen | None) -> Reply | None:
    """Verify the signature and spend the nonce; None on success."""
    if type(claim) is Bearer:
        return accept_bearer(call, endpoint, claim, fault)
    assert isinstance(claim, Claim)
    exchange = call.exchange
    rules = query_rules(call.sandbox) if exchange.query else NO_QUERY
    refusal = verify(claim, exchange.method.encode(), exchange.query, exchange.body, rules)
    if refusal is not None:
        if refusal.code == "invalid_signature":
            reason = diagnose(claim, exchange.method, exchange.path, exchange.query, exchange.body, rules)
            refusal = Denied(refusal.code, reason)
        return deny(call, endpoint, refusal)
    if fault is not None and (reply := refused_by(fault, call, endpoint)):
        return reply
    assert call.named is not None, "who claims something names a key that is known"
    reseller, key = call.named
    # The timestamp was checked at this very time; a nonce expires when its timestamp is too old.
    spend = SpendNonce(
        reseller=reseller.code,
        api_key=key.key,
        nonce=claim.nonce,
        timestamp_s=claim.timestamp_s,
        signing_s=claim.checked_s,
    )
    if not call.sandbox.apply(spend, call.now):
        return deny(call, endpoint, _nonce_reused(call))
    call.reseller = reseller
    exchange.reseller = reseller.code
    return None


def _nonce_reused(call: Call) -> Denied:
    window_s = call.sandbox.scenario.limits.nonce_window.total_seconds()
    again = f"{window_s:g} s of the sandbox's time after its use, and with a later X-Timestamp, it is good again"
    return Denied("nonce_reused", f"each request needs a nonce of its own, one that is sent again too; {again}")


def refused_by(fault: FaultThen, call: Call, endpoint: Endpoint) -> Reply | None:
    """The refusal caused by an authentication fault, if any; unsigned requests have no nonce that could fail."""
    match fault.denial:
        case NonceServiceDown() if not call.is_unsigned:
            call.exchange.error = "nonce_service_unavailable"
            call.exchange.diagnosis = "a fault of the scenario: nonces cannot be looked up; this one is not spent"
            return nonce_service_down()
        case InternalError():
            return deny(call, endpoint, Denied("internal_error", "a fault of the scenario"))
    return None


def refuse_late(fault: FaultThen, call: Call, endpoint: Endpoint) -> Reply | None:
    """The same for a fault found only after the nonce was spent: the nonce is released and the caller anonymous."""
    reply = refused_by(fault, call, endpoint)
    if reply is not None and isinstance(call.claim, Claim):
        assert call.named is not None, "who claims something names a key that is known"
        call.apply(ReturnNonce(call.owner.code, call.named[1].key, call.claim.nonce))
    return reply
