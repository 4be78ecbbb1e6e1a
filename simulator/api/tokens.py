"""`POST /v2/token` and `/v2/token/refresh`: tokens for a username and password (SPEC 4.2, 4.3), deprecated."""

import hmac

from simulator.api.authentication import refuse_address_of
from simulator.api.bearers import known_reseller, realm_of
from simulator.api.call import Call, Reply
from simulator.api.notes import note
from simulator.auth.signature import Denied
from simulator.auth.tokens import Holder, Use, issue, verify
from simulator.domain.model.resellers import Reseller
from simulator.wire import errors, tokens

_NOBODY = "no user of this sandbox has this name and this password"


def denied_at_token(refusal: Denied) -> Reply:
    """What can go wrong before anybody's name is read, in the shape of these endpoints (SPEC 7.1)."""
    return Reply(401, errors.parameters(refusal.message, {}))


def token(call: Call) -> Reply:
    """200 with new tokens; 401 for a wrong password and for a user that does not exist alike."""
    owner = call.sandbox.core.state.users.get(call.fields["username"])
    expected = owner[1].password if owner else ""
    # Compared even when there is nobody, so that both take as long.
    is_right = hmac.compare_digest(_bytes(call.fields["password"]), _bytes(expected))
    if owner is None or not is_right:
        return _refuse(call, "the password is wrong" if owner else "this sandbox has no user of this name", _NOBODY)
    reseller, user = owner
    return _answer(call, reseller, Holder(user.username, reseller.code), fresh=True)


def refresh(call: Call) -> Reply:
    """200 with new tokens for a refresh token that is good; 401 for any other."""
    holder = verify(realm_of(call.sandbox), call.fields["refresh_token"], Use.REFRESH, call.now)
    if isinstance(holder, Denied):
        return _refuse(call, holder.diagnosis)
    reseller = known_reseller(call.sandbox, holder)
    if isinstance(reseller, Denied):
        return _refuse(call, reseller.diagnosis)
    return _answer(call, reseller, holder, fresh=call.sandbox.core.state.assumes("refreshed-token", "new"))


def _answer(call: Call, reseller: Reseller, holder: Holder, *, fresh: bool) -> Reply:
    """Tokens that live by the sandbox's clock; a RefreshToken only when it is `fresh`."""
    if refusal := refuse_address_of(call, reseller):
        return refusal
    call.reseller = reseller
    call.exchange.reseller = reseller.code
    realm, limits, now = realm_of(call.sandbox), call.sandbox.scenario.limits, call.now
    lifetime = limits.token_lifetime
    issued = tokens.Issued(
        access=issue(realm, Use.ACCESS, holder, now, lifetime),
        id=issue(realm, Use.ID, holder, now, lifetime),
        refresh=issue(realm, Use.REFRESH, holder, now, limits.refresh_token_lifetime) if fresh else None,
        expires_in_s=int(lifetime.total_seconds()),
    )
    shape = call.sandbox.scenario.assume.get("token-answer", "both")
    return Reply(200, tokens.authentication_result(issued, shape))


def _refuse(call: Call, diagnosis: str, told: str = "") -> Reply:
    call.exchange.error = "invalid_credentials"
    note(call, diagnosis, told)
    return Reply(401, errors.parameters("The credentials are wrong; do not retry with the same ones.", {}))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
