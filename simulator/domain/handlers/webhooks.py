"""Commands about a reseller's balance webhook: set, enable, rotate, remove (SPEC 3.3), alert on a low balance."""

from datetime import datetime
from decimal import Decimal
from weakref import ref

from simulator.domain.commands import EnableWebhook, RemoveWebhook, RotateWebhookSecret, SetThreshold, SetWebhook
from simulator.domain.errors import Unacceptable
from simulator.domain.model import draw
from simulator.domain.model.domain_events import NotificationKind
from simulator.domain.model.money import CENT, is_bounded, is_whole_cents
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.wallet import Entry
from simulator.domain.model.webhooks import Webhook, WebhookStart
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
    if webhook.url != command.url or _every_request_updates(state):
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
    if webhook.enabled is not command.enabled or _every_request_updates(state):
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


def put_secret(state: State, webhook: Webhook, secret: str, now: datetime) -> None:
    """Sign with this secret from now on, 64 hexadecimal digits."""
    state.secrets.add(secret, replaced=webhook.secret)
    webhook.secret, webhook.updated = secret, now


def remove_webhook(state: State, command: RemoveWebhook, now: datetime) -> None:
    """Delete the webhook, if any. Pending jobs hold the old object, which is disabled and ends them."""
    reseller: Reseller = state.resellers[command.reseller]
    reseller.webhook.enabled = False
    state.secrets.add("", replaced=reseller.webhook.secret)
    reseller.webhook = Webhook(secrets_drawn=reseller.webhook.secrets_drawn)


def _every_request_updates(state: State) -> bool:
    return state.assumes("webhook-updated", "requests")


def _draw_secret(state: State, webhook: Webhook, code: str) -> None:
    """Draw a secret from the seed, the reseller, and the number of its earlier secrets."""
    webhook.secrets_drawn += 1
    former = webhook.secret
    webhook.secret = draw.secret(state.seed, "webhook-secret", state.key_scope, code, webhook.secrets_drawn).hex()
    state.secrets.add(webhook.secret, replaced=former)


THRESHOLD_MIN = Decimal(1)


def enable_alerts(state: State, reseller: Reseller, threshold: Decimal | None) -> None:
    """Alert whenever this reseller's wallet falls below its threshold; None for no threshold yet."""
    owner, code, wallet = ref(state), reseller.code, reseller.wallet  # weakly, to avoid a reference cycle

    def alert(entry: Entry) -> None:
        alive = owner()
        assert alive is not None, "its wallets are in it"
        _alert(alive, alive.resellers[code], entry.at)

    wallet.on_low = alert
    if threshold is not None:
        wallet.threshold = threshold


def set_threshold(state: State, command: SetThreshold, now: datetime) -> Reseller:
    """Set a reseller's threshold. Raise `Unacceptable` below 1 and for fractions of a sen."""
    amount = command.amount
    if not is_bounded(amount) or amount < THRESHOLD_MIN or not is_whole_cents(amount):
        raise Unacceptable("invalid_amount", "a threshold is at least 1, with at most two decimals", "amount")
    reseller = state.resellers[command.reseller]
    reseller.wallet.threshold = amount.quantize(CENT)
    if reseller.wallet.balance < amount and state.assumes("low-balance-at-setting", "alert"):
        _alert(state, reseller, now)
    return reseller


def _alert(state: State, reseller: Reseller, now: datetime) -> None:
    wallet = reseller.wallet
    balance, threshold = f"RM {wallet.balance:.2f}", f"RM {wallet.threshold:.2f}"
    text = f"The balance of {reseller.code} is {balance}, below the threshold of {threshold}."
    notification = state.notifications.add(
        at=now,
        kind=NotificationKind.LOW_BALANCE,
        reseller=reseller.code,
        to=[reseller.email],
        subject="Low balance",
        text=text,
    )
    state.publish(notification)
