"""Unsigned requests: those with a bearer token (SPEC 5.4), and those that need no signature (SPEC 4.2)."""

import re

import msgspec

from simulator.api.addresses import refuse_address_of
from simulator.api.call import (
    Access,
    Call,
    Endpoint,
    Reply,
)
from simulator.api.refusals import deny, key_required_for_topup
from simulator.auth import headers as names
from simulator.auth.signature import Denied
from simulator.auth.tokens import REFUSED, Holder, Realm, Use, claimed, verify
from simulator.domain.model import draw
from simulator.domain.model.faults import FaultThen, InternalError
from simulator.domain.model.resellers import Reseller
from simulator.runtime.sandboxes import LiveSandbox

_BEARER = re.compile(rb"bearer(?: +(.*))?", re.IGNORECASE | re.DOTALL)


class Bearer(msgspec.Struct, frozen=True, gc=False):
    """The caller of an unsigned request; `reseller` is None where anybody may call."""

    reseller: Reseller | None = None


ANYBODY = Bearer()


def realm_of(sandbox: LiveSandbox) -> Realm:
    """The realm of a sandbox's tokens; derived from its seed and id, so that signatures are the same in every run."""
    return Realm(sandbox.id, draw.secret(sandbox.seed, "token-key", sandbox.id))


def bearer_of(authorization: bytes | None) -> str | None:
    """The token of an `Authorization` header, "" when the scheme has no token; None for another scheme."""
    found = _BEARER.fullmatch(authorization) if authorization else None
    return None if found is None else (found[1] or b"").strip().decode("latin-1")


def claimed_reseller(call: Call) -> str:
    """The code of the reseller that a bearer token claims, unverified; "" when there is none."""
    token = bearer_of(call.headers.get(names.AUTHORIZATION))
    return str(claimed(token).get("reseller", "")) if token else ""


def check_bearer(call: Call, endpoint: Endpoint) -> Bearer | Denied | Reply:
    """Validate the IdToken of a request without an API key."""
    call.is_unsigned = call.is_deprecated = True
    token = bearer_of(call.headers.get(names.AUTHORIZATION))
    if token is None:
        return Denied("missing_api_key", "Authorization has no bearer token; write Bearer before the IdToken")
    if endpoint.access is Access.SIGNED and call.sandbox.core.state.assumes("bearer-endpoints", "legacy"):
        return Denied("missing_api_key", "a bearer token is not accepted here")
    reseller = _reseller_of(call, token)
    if isinstance(reseller, Denied):
        return reseller
    if refusal := refuse_address_of(call, reseller):
        return refusal
    if endpoint.may_want_key and reseller.closed_to_tokens.is_on(call.now):
        call.exchange.error = "api_key_required"
        call.exchange.diagnosis = f"{reseller.code} has require_api_key_for_topup on; sign the request with an API key"
        return key_required_for_topup()
    return Bearer(reseller=reseller)


def _reseller_of(call: Call, token: str) -> Reseller | Denied:
    if not token:
        return Denied(REFUSED, "Authorization has no token behind the word Bearer")
    holder = verify(realm_of(call.sandbox), token, Use.ID, call.now)
    return known_reseller(call, holder) if isinstance(holder, Holder) else holder


def known_reseller(call: Call, holder: Holder) -> Reseller | Denied:
    """The reseller of a token's holder, who may have been removed since."""
    owner = call.sandbox.core.state.users.get(holder.username)
    if owner is None or owner[0].code != holder.reseller:
        return Denied(REFUSED, f"this sandbox has no user {holder.username!r} of {holder.reseller!r} any more")
    return owner[0]


def accept_bearer(call: Call, endpoint: Endpoint, bearer: Bearer, fault: FaultThen | None) -> Reply | None:
    """Admit a caller without signature, unless a fault of the scenario denies authentication."""
    if fault is not None and isinstance(fault.denial, InternalError):
        return deny(call, endpoint, Denied("internal_error", "a fault of the scenario"))
    if bearer.reseller is not None:
        call.reseller = bearer.reseller
        call.exchange.reseller = bearer.reseller.code
    return None
