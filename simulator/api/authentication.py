"""Authentication of one call: headers, body, signature, and the nonce last, checked and spent in one step."""

from simulator.api.addresses import is_named
from simulator.api.body import BodyTooLarge, Receive, read_body
from simulator.api.exchange import Call, Endpoint, Reply
from simulator.api.refusals import address_blocked, address_not_allowed, nonce_service_down
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


def refuse_address(call: Call) -> Reply | None:
    """403 when the reseller that the API key names has an allowlist without this client."""
    owner = call.sandbox.core.state.keys.get(call.headers.get(b"x-api-key", b"").decode("latin-1"))
    if owner is None or not (allowlist := owner[0].settings.ip_allowlist):
        return None
    if is_named(call.exchange.client, allowlist):
        return None
    call.exchange.error = "ip_not_allowed"
    return address_not_allowed(call.exchange.client)


def refuse_blocked(call: Call) -> Reply | None:
    """403 for an address that sent too many requests; this one is counted (SPEC 8)."""
    core, client = call.sandbox.core, call.exchange.client
    if not core.blocks(client, call.now):
        return None
    limits = core.state.scenario.limits
    call.exchange.error = "ip_blocked"
    call.exchange.diagnosis = (
        f"more than {limits.requests_per_interval} requests came from {client} within "
        f"{limits.rate_limit_interval.total_seconds():g} s of the sandbox's time, which blocks it for "
        f"{limits.rate_limit_block.total_seconds():g} s; limits.requests_per_interval: null in the scenario lifts it"
    )
    return address_blocked(client)


async def authenticate(call: Call, endpoint: Endpoint, receive: Receive, fault: FaultThen | None) -> Reply | None:
    """Read and verify the call; None when it is whom it says. The body is in the exchange afterwards."""
    claim = _claim(call)
    if isinstance(claim, Denied):
        return _deny(call, endpoint, claim)
    try:
        call.exchange.body = await read_body(call.headers, receive)
    except BodyTooLarge:
        return _deny(call, endpoint, Denied("body_too_large"))
    exchange = call.exchange
    rules = query_rules(call.sandbox) if exchange.query else NO_QUERY
    refusal = verify(claim, exchange.method.encode(), exchange.query, exchange.body, rules)
    if refusal is not None:
        if refusal.code == "invalid_signature":
            reason = diagnose(claim, exchange.method, exchange.path, exchange.query, exchange.body)
            refusal = Denied(refusal.code, reason)
        return _deny(call, endpoint, refusal)
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
        return _deny(
            call, endpoint, Denied("nonce_reused", "each request needs a nonce of its own, a repeated one too")
        )
    if fault is not None and fault.internal_error:
        return _deny(call, endpoint, Denied("internal_error", "a fault of the scenario"))
    call.reseller = reseller
    call.exchange.reseller = reseller.code
    return None


def _deny(call: Call, endpoint: Endpoint, refusal: Denied) -> Reply:
    call.exchange.error = refusal.code
    call.exchange.diagnosis = refusal.diagnosis
    return endpoint.denied(refusal)
