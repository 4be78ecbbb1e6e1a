"""Quotas of a sandbox: refusals in the service's own shape, with the reason in the journal."""

from collections.abc import Callable
from datetime import datetime
from weakref import WeakKeyDictionary

from simulator.api.call import Call, Reply
from simulator.domain.queries import payment_with
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.quotas import Quotas, RequestPace
from simulator.wire import error_bodies

RATE, BYTES, TRANSACTIONS = "quota_rate", "quota_bytes", "quota_transactions"
AHEAD = (RATE, BYTES)
"""Quotas that refuse a request before it is read. Replays repeat the refusal, which the state cannot reproduce."""

_paces: WeakKeyDictionary[LiveSandbox, RequestPace] = WeakKeyDictionary()

Refuse = Callable[[Call], Reply]


def refusal_ahead(sandbox: LiveSandbox, quotas: Quotas, wall: datetime) -> Refuse | None:
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


def refuse_payment(call: Call, refid: str) -> Reply | None:
    """Refuse a new payment above the sandbox's quota; existing payments are still found."""
    quotas, state = call.sandbox.spec.quotas, call.sandbox.core.state
    if quotas.transactions is None or len(state.transactions) < quotas.transactions:
        return None
    if payment_with(state, call.owner, refid) is not None:
        return None
    text = "It has as many payments as it may; a reset empties it."
    return _refuse(call, TRANSACTIONS, f"{quotas.transactions} payments", text)


def as_before(recorded: Exchange) -> Refuse:
    """Return the recorded refusal of a request that was refused before it was read, for a replay."""

    def again(call: Call) -> Reply:
        call.exchange.error, call.exchange.diagnosis = recorded.error, recorded.diagnosis
        return Reply(recorded.status, recorded.content)

    return again


def _refuse(call: Call, code: str, shown: str, text: str) -> Reply:
    call.exchange.error = code
    whence = "POST /_sim/sandboxes and the flags of `serve` set it"
    call.exchange.diagnosis = f"the quota of this sandbox is {shown}; {whence}"  # a fork says the same
    return Reply(403, error_bodies.coded(code, f"This sandbox has a quota of {shown}. {text}"))
