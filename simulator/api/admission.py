"""Who may send how much: quotas of a sandbox, and the request rate of an address.

Refusals have the service's own shape, and the journal has the reason.
"""

from collections.abc import Callable
from datetime import datetime
from weakref import WeakKeyDictionary

from simulator.api.call import ApiCall, Reply
from simulator.api.refusals import refuse
from simulator.domain.state import payment_with
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import Quotas

RATE, BYTES, TRANSACTIONS = "quota_rate", "quota_bytes", "quota_transactions"
UNREAD_REFUSALS = (RATE, BYTES)
"""Quotas that refuse a request before it is read. Replays repeat the refusal, which the state cannot reproduce."""


class RequestPace:
    """A rate limit of `rate` requests per second; a burst may have the requests of a second, and at least a single
    request."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._left = self._most
        self._at: datetime | None = None

    def passes(self, wall: datetime) -> bool:
        """Return whether another request may pass now; a wall clock that goes back counts as stopped."""
        if self._at is not None and wall > self._at:
            gained = (wall - self._at).total_seconds() * self._rate
            self._left = min(self._most, self._left + gained)
        self._at = wall if self._at is None else max(wall, self._at)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


_paces: WeakKeyDictionary[LiveSandbox, RequestPace] = WeakKeyDictionary()

Refuse = Callable[[ApiCall], Reply]


def refusal_by_quota(sandbox: LiveSandbox, quotas: Quotas, wall: datetime) -> Refuse | None:
    """Return the refusal of a request before it is read, if any; count it for the rate."""
    if quotas.rate is not None:
        pace = _paces.get(sandbox)
        if pace is None:
            pace = _paces[sandbox] = RequestPace(quotas.rate)
        if not pace.passes(wall):
            shown, text = f"{quotas.rate:g} requests a second", "It has sent too many requests; retry a little later."
            return lambda call: _refuse(call, RATE, shown, text)
    if quotas.bytes is not None and sandbox.tape.bytes + sandbox.tape.left_bytes >= quotas.bytes:
        shown, text = f"{quotas.bytes} bytes", "It has used all its bytes; a reset empties it."
        return lambda call: _refuse(call, BYTES, shown, text)
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
