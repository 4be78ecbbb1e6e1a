"""Events and the jobs that deliver them: emission, attempts and their retries, manual replays (SPEC 3.2, 6.3)."""

from datetime import datetime

import msgspec

from simulator.domain.commands import ReplayDelivery
from simulator.domain.due import DeliveryDue
from simulator.domain.model import draw
from simulator.domain.model.domain_events import Attempted
from simulator.domain.model.effects import (
    Attempt,
    AttemptEnd,
    AttemptResult,
    Send,
    counted,
    is_accepted,
)
from simulator.domain.model.outcomes import Noted
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.wallet import Entry, EntryType
from simulator.domain.model.webhooks import (
    BALANCE_ADDED,
    REPLAYS_MAX,
    RESPONSE_CHARS_MAX,
    BalanceAdded,
    Delivery,
    DeliveryState,
    Event,
    EventData,
    ReplayRefused,
    Webhook,
)
from simulator.domain.state import State


def publish_credit(state: State, reseller: Reseller, entry: Entry, now: datetime) -> None:
    """Publish a credit to the reseller's webhook, if its type is eligible."""
    is_eligible = entry.type is EntryType.DEPOSIT or (
        entry.type is EntryType.COMMISSION and state.assumes("webhook-credits", "deposits_and_commissions")
    )
    if is_eligible and reseller.webhook.enabled:
        data = BalanceAdded(reseller.code, entry.amount, entry.balance, entry.remarks)
        emit(state, reseller.webhook, reseller.code, BALANCE_ADDED, data, now, entry.id)


def emit(
    state: State, webhook: Webhook, reseller: str, type_: str, data: EventData, now: datetime, *identity: object
) -> Delivery:
    """Create an event and the jobs that deliver it now; return the first job. `identity` distinguishes events of the
    same type and reseller."""
    assert webhook.enabled, "only an enabled webhook gets events"
    letters = draw.alphanumeric(state.seed, 24, "event", state.key_scope, reseller, type_, *identity)
    event = Event("evt_" + letters.lower(), type_, now, data)
    first = _begin(state, event, reseller, webhook, now)
    for copy in range(state.scenario.webhooks.duplicate):
        _begin(state, event, reseller, webhook, now, None, copy)
    return first


def _begin(
    state: State,
    event: Event,
    reseller: str,
    webhook: Webhook,
    now: datetime,
    original: str | None = None,
    *copy: int,
) -> Delivery:
    delivery = Delivery(
        id=draw.uuid(state.seed, "delivery", event.id, event.replays, *copy),
        event=event,
        reseller=reseller,
        webhook=webhook,
        url=webhook.url,
        retry_limit=state.scenario.webhooks.retry_limit,
        created=now,
        original=original,
    )
    state.deliveries.add(delivery)
    state.webhook_counts[reseller].begun += 1
    state.agenda.add(now, DeliveryDue(delivery))
    return delivery


def attempt_due(state: State, delivery: Delivery, now: datetime) -> Send | None:
    """Start the next attempt of a job. Return None when its webhook was disabled or removed, which ends the job."""
    if not delivery.webhook.enabled:
        text = "the webhook was disabled or removed before this attempt"
        state.deliveries.end(delivery, DeliveryState.FAILED, text, now)
        state.noted[Noted.WEBHOOK_FAILED] += 1
        state.webhook_counts[delivery.reseller].failed += 1
        return None
    attempt = Attempt(len(delivery.attempts) + 1, now)
    delivery.attempts.append(attempt)
    return Send(delivery, attempt)


def attempt_ended(state: State, delivery: Delivery, attempt: Attempt, result: AttemptResult, now: datetime) -> None:
    """Record an attempt's result. Results other than 2xx are retried until the retries are exhausted, interruptions at
    once."""
    assert attempt.result is None, "an attempt ends once"
    is_interrupted, count = result.kind is AttemptEnd.INTERRUPTED, counted(delivery.attempts)
    next_at = now if is_interrupted else now + state.scenario.webhooks.wait(count)
    attempt.result = msgspec.structs.replace(result, body=result.body[:RESPONSE_CHARS_MAX], headers=())
    if is_accepted(result):
        state.deliveries.end(delivery, DeliveryState.SUCCEEDED, "", now)
        state.noted[Noted.WEBHOOK_DELIVERED] += 1
    elif is_interrupted or count <= delivery.retry_limit:
        state.agenda.add(next_at, DeliveryDue(delivery))
        state.noted[Noted.WEBHOOK_RETRIED] += 1
    else:
        text = result.error or f"the receiver answered {result.status}"
        state.deliveries.end(delivery, DeliveryState.FAILED, text, now)
        state.noted[Noted.WEBHOOK_FAILED] += 1
    attempt.state = ended = delivery.state
    counts = state.webhook_counts[delivery.reseller]
    counts.count_attempt(delivered=ended is DeliveryState.SUCCEEDED, failed=ended is DeliveryState.FAILED)
    is_over = delivery.state is not DeliveryState.UNDER_WAY
    next_due = None if is_over else next_at
    state.publish(Attempted(delivery.id, attempt.number, now, next_due))


def replay(state: State, command: ReplayDelivery, now: datetime) -> Delivery | ReplayRefused:
    """Create a new job for the event of a failed job, addressed to the webhook's current URL."""
    result = _replay(state, command, now)
    state.noted[Noted.WEBHOOK_REPLAYED if isinstance(result, Delivery) else Noted.REPLAY_REFUSED] += 1
    return result


def _replay(state: State, command: ReplayDelivery, now: datetime) -> Delivery | ReplayRefused:
    failed = state.deliveries.find(command.job)
    if failed is None or command.reseller not in (None, failed.reseller):
        return ReplayRefused.UNKNOWN
    if failed.state is not DeliveryState.FAILED:
        is_over = failed.state is DeliveryState.SUCCEEDED
        return ReplayRefused.SUCCEEDED if is_over else ReplayRefused.UNDER_WAY
    if failed.event.replays >= REPLAYS_MAX:
        return ReplayRefused.LIMIT
    webhook = state.resellers[failed.reseller].webhook if failed.reseller else failed.webhook
    if not webhook.enabled:
        return ReplayRefused.DISABLED if webhook.url else ReplayRefused.NO_WEBHOOK
    failed.event.replays += 1
    return _begin(state, failed.event, failed.reseller, webhook, now, original=failed.id)
