"""Authentication of one call: headers, body, signature, and the nonce last, checked and spent in one step."""

from simulator.api.body import BodyTooLarge, Receive, read_body
from simulator.api.exchange import Access, Call, Endpoint, Reply
from simulator.api.refusals import deny, nonce_service_down
from simulator.api.unsigned import admit, authenticate_bearer
from simulator.auth.canonical import QueryRules
from simulator.auth.diagnose import diagnose
from simulator.auth.signature import Claim, Denied, check_headers, verify
from simulator.domain.faults import FaultThen
from simulator.domain.resellers import ApiKey
from simulator.runtime.sandboxes import LiveSandbox

NO_QUERY = QueryRules()


def query_rules(sandbox: LiveSandbox) -> QueryRules:
    """How a sandbox reads what SPEC 5.1 leaves open about queries."""
    assume = sandbox.scenario.assume
    return QueryRules(str(assume.get("repeated-query-keys", "either")), str(assume.get("empty-query-values", "either")))


async def authenticate(call: Call, endpoint: Endpoint, receive: Receive, fault: FaultThen | None) -> Reply | None:
    """Read and verify the call; None when it is whom it says. The body is in the exchange afterwards.

    Of an API key and a bearer token the key counts; an empty one is none.
    """
    if endpoint.access is Access.OPEN:
        return await admit(call, endpoint, receive, fault)
    claim = _claim(call)
    if isinstance(claim, Denied):
        if claim.code == "missing_api_key" and b"authorization" in call.headers:
            return await authenticate_bearer(call, endpoint, receive, fault)
        return deny(call, endpoint, claim)
    try:
        call.exchange.body = await read_body(call.headers, receive)
    except BodyTooLarge:
        return deny(call, endpoint, Denied("body_too_large"))
    exchange = call.exchange
    rules = query_rules(call.sandbox) if exchange.query else NO_QUERY
    refusal = verify(claim, exchange.method.encode(), exchange.query, exchange.body, rules)
    if refusal is not None:
        if refusal.code == "invalid_signature":
            reason = diagnose(claim, exchange.method, exchange.path, exchange.query, exchange.body)
            refusal = Denied(refusal.code, reason)
        return deny(call, endpoint, refusal)
    return _spend_nonce(call, endpoint, claim, fault)


def _claim(call: Call) -> Claim | Denied:
    state = call.sandbox.core.state

    def find(api_key: str) -> ApiKey | None:
        found = state.keys.get(api_key)
        return found[1] if found else None

    clock = call.sandbox.scenario.clock
    compared_with = call.now if clock.signature == "sandbox" else call.sandbox.clock.wall() + clock.skew
    tolerance_s = call.sandbox.scenario.limits.timestamp_tolerance.total_seconds()
    return check_headers(call.headers, find, compared_with.timestamp(), tolerance_s)


def _spend_nonce(call: Call, endpoint: Endpoint, claim: Claim, fault: FaultThen | None) -> Reply | None:
    if fault is not None and fault.nonce_service_down:
        call.exchange.error = "nonce_service_unavailable"
        return nonce_service_down()
    core = call.sandbox.core
    reseller, _ = core.state.keys[claim.api_key]
    if not core.spend_nonce(reseller.code, claim.api_key, claim.nonce.decode("ascii"), call.now):
        return deny(call, endpoint, Denied("nonce_reused", "each request needs a nonce of its own, a repeated one too"))
    if fault is not None and fault.internal_error:
        return deny(call, endpoint, Denied("internal_error", "a fault of the scenario"))
    call.reseller = reseller
    call.exchange.reseller = reseller.code
    return None
