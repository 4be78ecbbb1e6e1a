"""Callbacks of status changes: scheduling, attempts, retries."""

from datetime import datetime, timedelta

import msgspec

from simulator.domain.commands import SendCallback
from simulator.domain.errors import Conflict, Unknown
from simulator.domain.model import draw
from simulator.domain.model.callbacks import Callback, CallbackState, is_retried
from simulator.domain.model.delivery_attempts import Attempt, AttemptEnd, AttemptResult, counted, is_accepted
from simulator.domain.model.draw import drawn
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.transactions import Distortion, PaymentResult, Status, Transaction
from simulator.domain.state import State


def schedule(state: State, transaction: Transaction, now: datetime) -> None:
    """Schedule the callbacks of the latest result, as the transaction's rule distorts them.

    In reverse order, nothing is sent until the transaction is settled; then the latest status is sent first. A later
    void is sent alone.
    """
    result, distortion = transaction.results[-1], transaction.kind.callbacks
    if not state.resellers[transaction.kind.reseller].callback.url:
        return
    if not distortion.reverse or result.kind.status is Status.REFUNDED:
        _add_copies(state, transaction, result, now)
    elif transaction.is_settled:
        state.noted[DomainOutcome.CALLBACKS_REVERSED] += 1
        for result in reversed(transaction.results[1:]):
            _add_copies(state, transaction, result, now)


def send_now(state: State, command: SendCallback, now: datetime) -> Callback:
    """Schedule a repeated callback of the latest status for now. Raise `Unknown`. Raise `Conflict` for a reseller
    without a callback URL, and for a payment whose only status was its answer, which has no callback (SPEC 6.1)."""
    transaction = state.transactions.get(command.trxid)
    if transaction is None:
        raise Unknown("unknown_transaction", f"this sandbox has no transaction {command.trxid!r}; ?refid= finds one")
    if not state.resellers[transaction.reseller].callback.url:
        text = f"the reseller {transaction.reseller} has no callback URL; POST /v2/callback-url sets one"
        raise Conflict("no_callback_url", text)
    if len(transaction.results) < 2:
        text = "the answer to the payment reported its only status; a callback reports a later status"
        raise Conflict("no_later_status", text)
    result = transaction.result
    copies = [one.copy for one in state.callbacks.of(transaction.trxid) if one.result.status is result.status]
    repeat = _add(state, transaction, result, max(copies, default=-1) + 1, is_repeat=True)
    state.agenda.add(now, repeat)
    return repeat


def _add_copies(state: State, transaction: Transaction, result: PaymentResult, now: datetime) -> None:
    distortion = transaction.kind.callbacks.of(result.kind.status)
    for copy in range(distortion.duplicates + 1):
        callback = _add(state, transaction, result, copy)
        if distortion.drop:
            callback.state = CallbackState.DROPPED
            state.callback_counts[transaction.reseller].begun -= 1
            state.noted[DomainOutcome.CALLBACK_DROPPED] += 1
        else:
            state.agenda.add(now + _delay(state, callback, distortion), callback)
            if copy:
                state.noted[DomainOutcome.CALLBACK_DUPLICATED] += 1
    if distortion.again_after is not None and not distortion.drop:
        repeat = _add(state, transaction, result, distortion.duplicates + 1, is_repeat=True)
        state.agenda.add(now + _delay(state, repeat, distortion) + distortion.again_after, repeat)


def _delay(state: State, callback: Callback, distortion: Distortion) -> timedelta:
    """Return the delay of a callback; its repetition has the same delay as the original."""
    if isinstance(distortion.delay, timedelta):
        return distortion.delay
    copy = 0 if callback.is_repeat else callback.copy
    identity = callback.transaction.trxid, callback.result.status.value, copy
    return drawn(distortion.delay, draw.fraction(state.seed, "callback delay", *identity))


def _add(
    state: State, transaction: Transaction, result: PaymentResult, copy: int, *, is_repeat: bool = False
) -> Callback:
    config = state.resellers[transaction.kind.reseller].callback
    state.callbacks_made += 1
    callback = Callback(
        id=f"cb-{state.callbacks_made}",
        transaction=transaction,
        result=result,
        url=config.url,
        method=config.method,
        copy=copy,
        is_repeat=is_repeat,
    )
    state.callbacks.add(callback)
    state.callback_counts[transaction.kind.reseller].begun += 1
    return callback


def may_attempt(state: State, callback: Callback) -> bool:
    """Prepare the next attempt of a callback. A callback of an earlier status than the current status is stale. Return
    False for a retry of a stale callback when the scenario skips these, which ends the callback."""
    if callback.attempts and state.assumes("callback-order", "skip_stale") and _is_stale(state, callback):
        callback.state = callback.attempts[-1].state = CallbackState.FAILED
        state.noted[DomainOutcome.CALLBACK_FAILED] += 1
        state.callback_counts[callback.reseller].failed += 1
        return False
    if callback.is_repeat and not callback.attempts:
        state.noted[
            DomainOutcome.CALLBACK_STALE if _is_stale(state, callback) else DomainOutcome.CALLBACK_DUPLICATED
        ] += 1
    if state.assumes("callback-balance", "at_sending"):
        wallet = state.resellers[callback.reseller].wallet
        callback.result = msgspec.structs.replace(callback.result, balance=wallet.balance)
    return True


def _is_stale(state: State, callback: Callback) -> bool:
    return state.transactions[callback.transaction.trxid].result.status is not callback.result.status


def end_attempt(state: State, callback: Callback, attempt: Attempt, result: AttemptResult) -> timedelta | None:
    """Record an attempt's result. Return the wait before a retry, which only temporary failures have (SPEC 6.1)."""
    state.callbacks.end_attempt(callback, attempt, result)
    policy = state.scenario.limits.callback_retry
    if is_accepted(result):
        callback.state = CallbackState.DELIVERED
        state.noted[DomainOutcome.CALLBACK_DELIVERED] += 1
        if attempt.number > 1:
            state.noted[DomainOutcome.CALLBACK_DELIVERED_LATE] += 1
        return None
    is_temporary = is_retried(result, redirects=state.assumes("callback-redirect", "retry"))
    if result.kind is AttemptEnd.INTERRUPTED or (is_temporary and counted(callback.attempts) <= policy.retries):
        state.noted[DomainOutcome.CALLBACK_RETRIED] += 1
        return policy.after
    callback.state = CallbackState.FAILED
    state.noted[DomainOutcome.CALLBACK_FAILED] += 1
    return None
