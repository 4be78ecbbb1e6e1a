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
from simulator.auth.canonical import QueryRules
from simulator.auth.diagnose import diagnose
from simulator.auth.signature import Claim, Denied, check_headers, verify
from simulator.domain.commands import CountRequest, ReturnNonce, SpendNonce
from simulator.domain.model.faults import FaultThen, InternalError, NonceServiceDown
from simulator.domain.model.resellers import ApiKey, Reseller
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


def check_claim(call: Call, endpoint: Endpoint) -> Claim | Bearer | Denied | Reply:
    """The claim in the headers, validated as far as possible before the body is read.

    An API key takes precedence over a bearer token; an empty key counts as absent.
    """
    if endpoint.access is Access.OPEN:
        call.is_unsigned = True
        return ANYBODY
    held = None if call.named is None else call.named[1]
    tolerance_s = call.sandbox.scenario.limits.timestamp_tolerance_s
    call.signing_s = call.sandbox.signing_time(call.wall).timestamp()
    claim = check_headers(call.headers, held, call.signing_s, tolerance_s)
    if type(claim) is Denied and claim.code == "missing_api_key" and names.AUTHORIZATION in call.headers:
        return check_bearer(call, endpoint)
    return claim


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
            reason = diagnose(claim, exchange.method, exchange.path, exchange.query, exchange.body)
            refusal = Denied(refusal.code, reason)
        return deny(call, endpoint, refusal)
    if fault is not None and (reply := refused_by(fault, call, endpoint)):
        return reply
    assert call.named is not None, "who claims something names a key that is known"
    reseller, key = call.named
    if refusal := _spend(call, reseller, key, claim):
        return deny(call, endpoint, refusal)
    call.reseller = reseller
    exchange.reseller = reseller.code
    return None


def _spend(call: Call, reseller: Reseller, key: ApiKey, claim: Claim) -> Denied | None:
    """Spend the nonce. The timestamp was checked at this very time; a nonce expires when its timestamp is too old."""
    spend = SpendNonce(
        reseller=reseller.code,
        api_key=key.key,
        nonce=claim.nonce,
        timestamp_s=claim.timestamp_s,
        signing_s=call.signing_s,
    )
    if call.apply(spend):
        return None
    return Denied("nonce_reused", "each request needs a nonce of its own, one that is sent again too")


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
