"""Credentials: tokens for a username and password (SPEC 4.2, 4.3), their holders (SPEC 5.4), and the sandbox that a
request to the root selects by its credentials."""

import hmac
import re
from datetime import datetime
from typing import Any

import msgspec

from simulator.api.call import Access, ApiCall, ApiEndpoint, ApiRequest, BodyIncomplete, Reply, read_body
from simulator.api.notes import note
from simulator.api.refusals import refuse_address_of
from simulator.auth import headers as names
from simulator.auth.signature import Denied
from simulator.auth.tokens import REFUSED, Realm, TokenHolder, Use, claimed, issue, verify
from simulator.contract.body import OUTLINE_BYTES_MAX, decode_form
from simulator.domain.model import draw
from simulator.domain.model.resellers import Reseller
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from simulator.wire import error_bodies, token_answers
from simulator.wire.token_answers import PATH, PATHS, REFRESH_PATH

_BEARER = re.compile(rb"bearer(?: +(.*))?", re.IGNORECASE | re.DOTALL)


def holder_of(sandbox: LiveSandbox, access: Access, authorization: bytes | None, now: datetime) -> Reseller | Denied:
    """Return the reseller of the IdToken in an `Authorization` header, where this access accepts tokens."""
    token = bearer_of(authorization)
    if token is None:
        return Denied("missing_api_key", "Authorization has no bearer token; write Bearer before the IdToken")
    if access is Access.SIGNED and sandbox.core.state.assumes("bearer-endpoints", "legacy"):
        return Denied("missing_api_key", "a bearer token is not accepted here")
    if not token:
        return Denied(REFUSED, "Authorization has no token after the word Bearer")
    holder = verify(realm_of(sandbox), token, Use.ID, now)
    return known_reseller(sandbox, holder) if isinstance(holder, TokenHolder) else holder


def closed_to_token(endpoint: ApiEndpoint, reseller: Reseller, now: datetime) -> Denied | None:
    """Return the refusal of a token where its reseller requires a signature (SPEC 5.3)."""
    if not endpoint.may_want_key or not reseller.closed_to_tokens.is_on(now):
        return None
    text = f"{reseller.code} has require_api_key_for_topup on; sign the request with an API key"
    return Denied("api_key_required", text)


def realm_of(sandbox: LiveSandbox) -> Realm:
    """Return the realm of a sandbox's tokens, derived from its seed and id, so that signatures are reproducible. A fork
    shares the realm and the tokens of its original."""
    id_ = sandbox.spec.drawn_for or sandbox.id
    return Realm(id_, draw.secret(sandbox.seed, "token-key", id_))


def bearer_of(authorization: bytes | None) -> str | None:
    """Return the token of an `Authorization` header, "" when the scheme has no token; None for another scheme."""
    found = _BEARER.fullmatch(authorization) if authorization else None
    return None if found is None else (found[1] or b"").strip().decode("latin-1")


def claimed_reseller(call: ApiCall) -> str:
    """Return the reseller code that a bearer token claims, unverified; "" without a claim."""
    token = bearer_of(call.headers.get(names.AUTHORIZATION))
    return str(claimed(token).get("reseller", "")) if token else ""


def known_reseller(sandbox: LiveSandbox, holder: TokenHolder) -> Reseller | Denied:
    """Return the reseller of a token's holder, who may have been removed since."""
    owner = sandbox.core.state.users.get(holder.username)
    if owner is None or owner[0].code != holder.reseller:
        return Denied(REFUSED, f"this sandbox has no user {holder.username!r} of {holder.reseller!r} any more")
    return owner[0]


_NOBODY = "no user of this sandbox has this name and this password"


def token(call: ApiCall) -> Reply:
    """Return 200 with new tokens; 401 for a wrong password and for an unknown user alike."""
    owner = call.sandbox.core.state.users.get(call.fields["username"])
    expected = owner[1].password if owner else ""
    # Compared even without a user, so that the time is the same.
    is_right = hmac.compare_digest(_bytes(call.fields["password"]), _bytes(expected))
    if owner is None or not is_right:
        return _refuse(call, "the password is wrong" if owner else "this sandbox has no user of this name", _NOBODY)
    reseller, user = owner
    return _answer(call, reseller, TokenHolder(user.username, reseller.code), fresh=True)


def refresh(call: ApiCall) -> Reply:
    """Return 200 with new tokens for a valid refresh token; 401 for any other."""
    holder = verify(realm_of(call.sandbox), call.fields["refresh_token"], Use.REFRESH, call.now)
    if isinstance(holder, Denied):
        return _refuse(call, holder.diagnosis)
    reseller = known_reseller(call.sandbox, holder)
    if isinstance(reseller, Denied):
        return _refuse(call, reseller.diagnosis)
    return _answer(call, reseller, holder, fresh=call.sandbox.core.state.assumes("refreshed-token", "new"))


def _answer(call: ApiCall, reseller: Reseller, holder: TokenHolder, *, fresh: bool) -> Reply:
    """Return tokens that expire by the sandbox's clock, with a RefreshToken only when `fresh`."""
    if refusal := refuse_address_of(call, reseller):
        return refusal
    call.reseller = reseller
    call.exchange.reseller = reseller.code
    realm, limits, now = realm_of(call.sandbox), call.sandbox.scenario.limits, call.now
    lifetime = limits.token_lifetime
    issued = token_answers.IssuedTokens(
        access=issue(realm, Use.ACCESS, holder, now, lifetime),
        id=issue(realm, Use.ID, holder, now, lifetime),
        refresh=issue(realm, Use.REFRESH, holder, now, limits.refresh_token_lifetime) if fresh else None,
        expires_in_s=int(lifetime.total_seconds()),
    )
    shape = call.sandbox.scenario.assume.get("token-answer", "both")
    return Reply(200, token_answers.authentication_result(issued, shape))


def _refuse(call: ApiCall, diagnosis: str, public_text: str = "") -> Reply:
    call.exchange.error = "invalid_credentials"
    note(call, diagnosis, public_text)
    return Reply(401, error_bodies.parameters("The credentials are wrong; do not retry with the same ones.", {}))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


async def owner_at_root(
    sandboxes: Sandboxes, default: LiveSandbox, path: str, request: ApiRequest
) -> tuple[LiveSandbox, ApiRequest]:
    """Return the sandbox of a request to the root, and the request, whose body can still be read.

    This is `default`, unless the API key, bearer token, username or refresh token is unknown to it and belongs to
    exactly one other sandbox. For a token endpoint, the credentials are read from the body.
    """
    headers = request.by_name
    if request.method == "POST" and path in PATHS:
        request = await _with_body(request)
        fields, _ = decode_form(headers.get(b"content-type", b""), request.body or b"", any_type=True)
        if path == REFRESH_PATH:
            return _by_token(sandboxes, fields.get("refresh_token")) or default, request
        username = fields.get("username")
        if not isinstance(username, str) or username in default.core.state.users:
            return default, request
        return sandboxes.unique_users.get(username, default), request
    if key := headers.get(names.API_KEY, b"").decode("latin-1"):
        known = key in default.core.state.keys
        return default if known else sandboxes.unique_keys.get(key) or default, request
    token = bearer_of(headers.get(names.AUTHORIZATION))
    return _by_token(sandboxes, token) or default, request


def has_key_or_username(path: str, request: ApiRequest) -> bool:
    """Return whether a request has an API key or a username. Tokens do not count, since they can be forged."""
    return names.API_KEY in request.by_name or path == PATH


def _by_token(sandboxes: Sandboxes, token: object) -> LiveSandbox | None:
    """Return the sandbox that a token names, if credentials may select it; that sandbox verifies the token."""
    named = claimed(token).get("aud") if isinstance(token, str) else None
    sandbox = sandboxes.find(named) if isinstance(named, str) else None
    return sandbox if sandbox is not None and sandbox.spec.unique_credentials else None


async def _with_body(request: ApiRequest) -> ApiRequest:
    """Return a request with its whole body. If that fails, receiving it from the returned request fails again."""
    if request.body is not None or request.receive is None:
        return request
    try:
        return msgspec.structs.replace(request, body=await read_body(request.receive, OUTLINE_BYTES_MAX))
    except BodyIncomplete as incomplete:
        reason = incomplete

    async def fail() -> Any:
        raise reason

    return msgspec.structs.replace(request, receive=fail)
