"""Webhooks: a reseller's balance webhook (SPEC 3.3), events and their delivery jobs (SPEC 3.2, 6.3), and alerts on a
low balance."""

from datetime import datetime, timedelta

import msgspec

from simulator.domain.commands import (
    EnableWebhook,
    PutWebhook,
    RemoveWebhook,
    ReplayDelivery,
    RotateWebhookSecret,
    SetThreshold,
    SetWebhook,
)
from simulator.domain.errors import Unacceptable, Unknown
from simulator.domain.model import draw
from simulator.domain.model.delivery_attempts import Attempt, AttemptEnd, AttemptResult, counted, is_accepted
from simulator.domain.model.domain_events import EmailNotification, NotificationKind
from simulator.domain.model.money import CENT, is_bounded, is_whole_cents
from simulator.domain.model.outcomes import DomainOutcome
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
    WebhookStart,
)
from simulator.domain.queries import reseller_of
from simulator.domain.state import State


def initial_webhook(state: State, start: WebhookStart | None, code: str = "") -> Webhook:
    """Return the initial webhook of a reseller, or without `code` the webhook of catalog events."""
    if start is None:
        return Webhook()
    webhook = Webhook(url=start.url, secret=start.secret, enabled=start.enabled, created=state.now, updated=state.now)
    if webhook.secret:
        state.secrets.add(webhook.secret)
    else:
        _draw_secret(state, webhook, code)
    return webhook


def set_webhook(state: State, command: SetWebhook, now: datetime) -> bool:
    """Create the webhook, enabled and with a new secret, or change its URL. Return True when created."""
    reseller = state.resellers[command.reseller]
    webhook = reseller.webhook
    is_new = not webhook.url
    if webhook.url != command.url or state.assumes("webhook-updated", "requests"):
        webhook.url, webhook.updated = command.url, now
    if is_new:
        webhook.enabled, webhook.created = True, now
        _draw_secret(state, webhook, reseller.code)
    return is_new


def enable_webhook(state: State, command: EnableWebhook, now: datetime) -> bool:
    """Enable or disable the webhook; return False without a webhook."""
    webhook = state.resellers[command.reseller].webhook
    if not webhook.url:
        return False
    if webhook.enabled is not command.enabled or state.assumes("webhook-updated", "requests"):
        webhook.enabled, webhook.updated = command.enabled, now
    return True


def rotate_secret(state: State, command: RotateWebhookSecret, now: datetime) -> bool:
    """Sign with a new secret from now on, including retries of earlier events; return False without a webhook."""
    reseller = state.resellers[command.reseller]
    if not reseller.webhook.url:
        return False
    reseller.webhook.updated = now
    _draw_secret(state, reseller.webhook, reseller.code)
    return True


def put_webhook(state: State, command: PutWebhook, now: datetime) -> None:
    """Create or change the webhook. Raise `Unknown` for a change of a webhook that does not exist."""
    webhook = reseller_of(state, command.reseller).webhook
    if not (command.url or webhook.url):
        raise Unknown("no_webhook", f"reseller {command.reseller!r} has no balance webhook")
    if command.url:
        set_webhook(state, SetWebhook(command.reseller, command.url), now)
    if command.secret:
        state.secrets.add(command.secret, replaced=webhook.secret)
        webhook.secret, webhook.updated = command.secret, now
    if command.enabled is not None:
        enable_webhook(state, EnableWebhook(command.reseller, command.enabled), now)


def remove_webhook(state: State, command: RemoveWebhook, now: datetime) -> None:
    """Delete the webhook, if any. Pending jobs hold the old object, which is disabled and ends them."""
    reseller: Reseller = state.resellers[command.reseller]
    reseller.webhook.enabled = False
    state.secrets.add("", replaced=reseller.webhook.secret)
    reseller.webhook = Webhook(secrets_drawn=reseller.webhook.secrets_drawn)


def _draw_secret(state: State, webhook: Webhook, code: str) -> None:
    """Draw a secret from the seed, the reseller, and the number of its earlier secrets."""
    webhook.secrets_drawn += 1
    former = webhook.secret
    webhook.secret = draw.secret(state.seed, "webhook-secret", state.key_scope, code, webhook.secrets_drawn).hex()
    state.secrets.add(webhook.secret, replaced=former)


def set_threshold(state: State, command: SetThreshold, now: datetime) -> Reseller:
    """Set a reseller's threshold. Raise `Unacceptable` below 1 and for fractions of a sen."""
    amount = command.amount
    if not is_bounded(amount) or amount < 1 or not is_whole_cents(amount):
        raise Unacceptable("invalid_amount", "a threshold is at least 1, with at most two decimals", "amount")
    reseller = state.resellers[command.reseller]
    reseller.wallet.threshold = amount.quantize(CENT)
    if reseller.wallet.balance < amount and state.assumes("low-balance-at-setting", "alert"):
        alert(state, reseller, now)
    return reseller


def alert(state: State, reseller: Reseller, now: datetime) -> None:
    """E-mail a reseller that its balance is below its threshold."""
    wallet = reseller.wallet
    balance, threshold = f"RM {wallet.balance:.2f}", f"RM {wallet.threshold:.2f}"
    text = f"The balance of {reseller.code} is {balance}, below the threshold of {threshold}."
    notification = EmailNotification(
        at=now,
        kind=NotificationKind.LOW_BALANCE,
        reseller=reseller.code,
        to=(reseller.email,),
        subject="Low balance",
        text=text,
    )
    state.publish(state.notifications.add(notification))


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
    state.agenda.add(now, delivery)
    return delivery


def may_attempt(state: State, delivery: Delivery, now: datetime) -> bool:
    """Return False when the webhook of a job was disabled or removed, which ends the job."""
    if delivery.webhook.enabled:
        return True
    text = "the webhook was disabled or removed before this attempt"
    state.deliveries.end(delivery, DeliveryState.FAILED, text, now)
    state.noted[DomainOutcome.WEBHOOK_FAILED] += 1
    state.webhook_counts[delivery.reseller].failed += 1
    return False


def end_attempt(
    state: State, delivery: Delivery, attempt: Attempt, result: AttemptResult, now: datetime
) -> timedelta | None:
    """Record an attempt's result. Return the wait before a retry, which all results other than 2xx have until the
    retries are exhausted."""
    attempt.result = msgspec.structs.replace(result, body=result.body[:RESPONSE_CHARS_MAX], headers=())
    count = counted(delivery.attempts)
    if is_accepted(result):
        state.deliveries.end(delivery, DeliveryState.SUCCEEDED, "", now)
        state.noted[DomainOutcome.WEBHOOK_DELIVERED] += 1
        return None
    if result.kind is AttemptEnd.INTERRUPTED or count <= delivery.retry_limit:
        state.noted[DomainOutcome.WEBHOOK_RETRIED] += 1
        return state.scenario.webhooks.wait(count)
    text = result.error or f"the receiver answered {result.status}"
    state.deliveries.end(delivery, DeliveryState.FAILED, text, now)
    state.noted[DomainOutcome.WEBHOOK_FAILED] += 1
    return None


def replay_delivery(state: State, command: ReplayDelivery, now: datetime) -> Delivery | ReplayRefused:
    """Create a new job for the event of a failed job, addressed to the webhook's current URL."""
    result = _replay(state, command, now)
    state.noted[DomainOutcome.WEBHOOK_REPLAYED if isinstance(result, Delivery) else DomainOutcome.REPLAY_REFUSED] += 1
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
