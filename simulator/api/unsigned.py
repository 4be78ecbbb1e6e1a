"""Requests without a signature: those with a bearer token (SPEC 5.4), and those that nobody has to sign (SPEC 4.2)."""

import re

from simulator.api.allowlist import refuse_address_of
from simulator.api.body import BodyTooLarge, Receive, read_body
from simulator.api.exchange import Access, Call, Endpoint, Reply
from simulator.api.refusals import deny, key_required_for_topup
from simulator.auth.signature import BODY_BYTES_MAX, Denied
from simulator.auth.tokens import REFUSED, Holder, Realm, Use, claimed, verify
from simulator.domain import draw
from simulator.domain.faults import FaultThen
from simulator.domain.resellers import Reseller
from simulator.runtime.sandboxes import LiveSandbox

_BEARER = re.compile(rb"bearer(?: +(.*))?", re.IGNORECASE | re.DOTALL)


def realm_of(sandbox: LiveSandbox) -> Realm:
    """Where a sandbox's tokens are good; drawn from its seed and its id, so that it signs the same in every run."""
    return Realm(sandbox.id, draw.secret(sandbox.seed, "token-key", sandbox.id))


def bearer_of(authorization: bytes | None) -> str | None:
    """The token of an `Authorization` header, "" when there is none behind the word; None for another scheme."""
    found = _BEARER.fullmatch(authorization) if authorization else None
    return None if found is None else (found[1] or b"").strip().decode("latin-1")


def claimed_reseller(call: Call) -> str:
    """The code of the reseller that a bearer token names, true or not; "" when there is none."""
    token = bearer_of(call.headers.get(b"authorization"))
    return str(claimed(token).get("reseller", "")) if token else ""


async def authenticate_bearer(
    call: Call, endpoint: Endpoint, receive: Receive, fault: FaultThen | None
) -> Reply | None:
    """Let a request without an API key in by its IdToken; None when it may. The body is in the exchange afterwards."""
    call.is_unsigned = call.is_deprecated = True
    token = bearer_of(call.headers.get(b"authorization"))
    if token is None:
        return deny(call, endpoint, Denied("missing_api_key", "Authorization is there, but it is no bearer token"))
    if endpoint.access is Access.SIGNED and call.sandbox.core.state.assumes("bearer-endpoints", "legacy"):
        return deny(call, endpoint, Denied("missing_api_key", "a bearer token is not accepted here"))
    reseller = _reseller_of(call, token)
    if isinstance(reseller, Denied):
        return deny(call, endpoint, reseller)
    if refusal := refuse_address_of(call, reseller):
        return refusal
    if endpoint.may_want_key and reseller.closed_to_tokens.is_on(call.now):
        call.exchange.error = "api_key_required"
        return key_required_for_topup()
    if refusal := await _read(call, endpoint, receive, fault):
        return refusal
    call.reseller = reseller
    call.exchange.reseller = reseller.code
    return None


def _reseller_of(call: Call, token: str) -> Reseller | Denied:
    if not token:
        return Denied(REFUSED, "Authorization has no token behind the word Bearer")
    holder = verify(realm_of(call.sandbox), token, Use.ID, call.now)
    return known_reseller(call, holder) if isinstance(holder, Holder) else holder


def known_reseller(call: Call, holder: Holder) -> Reseller | Denied:
    """The reseller of a token's holder, who may have gone since."""
    owner = call.sandbox.core.state.users.get(holder.username)
    if owner is None or owner[0].code != holder.reseller:
        return Denied(REFUSED, f"this sandbox has no user {holder.username!r} of {holder.reseller!r} any more")
    return owner[0]


async def admit(call: Call, endpoint: Endpoint, receive: Receive, fault: FaultThen | None) -> Reply | None:
    """Let anybody in where nothing has to be proved before the body is read."""
    call.is_unsigned = call.is_deprecated = True
    return await _read(call, endpoint, receive, fault)


async def _read(call: Call, endpoint: Endpoint, receive: Receive, fault: FaultThen | None) -> Reply | None:
    try:
        call.exchange.body = await read_body(call.headers, receive)
    except BodyTooLarge:
        return deny(call, endpoint, Denied("body_too_large", f"at most {BODY_BYTES_MAX} bytes are read"))
    if fault is not None and fault.internal_error:
        return deny(call, endpoint, Denied("internal_error", "a fault of the scenario"))
    return None
