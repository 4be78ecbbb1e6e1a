"""Who a bearer token names, and whether an endpoint takes it (SPEC 5.3, 5.4)."""

import re
from datetime import datetime

from simulator.api.call import Access, Call, Endpoint
from simulator.auth import headers as names
from simulator.auth.signature import Denied
from simulator.auth.tokens import REFUSED, Holder, Realm, Use, claimed, verify
from simulator.domain.model import draw
from simulator.domain.model.resellers import Reseller
from simulator.runtime.live_sandbox import LiveSandbox

_BEARER = re.compile(rb"bearer(?: +(.*))?", re.IGNORECASE | re.DOTALL)


def holder_of(sandbox: LiveSandbox, access: Access, authorization: bytes | None, now: datetime) -> Reseller | Denied:
    """The reseller of the IdToken in an `Authorization` header, where an endpoint of this access takes one."""
    token = bearer_of(authorization)
    if token is None:
        return Denied("missing_api_key", "Authorization has no bearer token; write Bearer before the IdToken")
    if access is Access.SIGNED and sandbox.core.state.assumes("bearer-endpoints", "legacy"):
        return Denied("missing_api_key", "a bearer token is not accepted here")
    if not token:
        return Denied(REFUSED, "Authorization has no token behind the word Bearer")
    holder = verify(realm_of(sandbox), token, Use.ID, now)
    return known_reseller(sandbox, holder) if isinstance(holder, Holder) else holder


def closed_to_token(endpoint: Endpoint, reseller: Reseller, now: datetime) -> Denied | None:
    """The refusal of a token where its reseller wants a signature (SPEC 5.3)."""
    if not endpoint.may_want_key or not reseller.closed_to_tokens.is_on(now):
        return None
    text = f"{reseller.code} has require_api_key_for_topup on; sign the request with an API key"
    return Denied("api_key_required", text)


def realm_of(sandbox: LiveSandbox) -> Realm:
    """The realm of a sandbox's tokens; derived from its seed and id, so that signatures are the same in every run. A
    fork has that of its original, whose tokens it has, too."""
    id_ = sandbox.spec.drawn_for or sandbox.id
    return Realm(id_, draw.secret(sandbox.seed, "token-key", id_))


def bearer_of(authorization: bytes | None) -> str | None:
    """The token of an `Authorization` header, "" when the scheme has no token; None for another scheme."""
    found = _BEARER.fullmatch(authorization) if authorization else None
    return None if found is None else (found[1] or b"").strip().decode("latin-1")


def claimed_reseller(call: Call) -> str:
    """The code of the reseller that a bearer token claims, unverified; "" when there is none."""
    token = bearer_of(call.headers.get(names.AUTHORIZATION))
    return str(claimed(token).get("reseller", "")) if token else ""


def known_reseller(sandbox: LiveSandbox, holder: Holder) -> Reseller | Denied:
    """The reseller of a token's holder, who may have been removed since."""
    owner = sandbox.core.state.users.get(holder.username)
    if owner is None or owner[0].code != holder.reseller:
        return Denied(REFUSED, f"this sandbox has no user {holder.username!r} of {holder.reseller!r} any more")
    return owner[0]
