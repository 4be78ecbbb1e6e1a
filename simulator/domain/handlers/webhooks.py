"""Commands about a reseller's balance webhook: set, enable, rotate, remove (SPEC 3.3)."""

from datetime import datetime

from simulator.domain.commands import EnableWebhook, RemoveWebhook, RotateWebhookSecret, SetWebhook
from simulator.domain.model import draw
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.webhooks import Webhook, WebhookStart
from simulator.domain.state import State


def initial_webhook(state: State, start: WebhookStart | None, code: str = "") -> Webhook:
    """The webhook that a reseller starts with; without `code`, the webhook of catalog events."""
    if start is None:
        return Webhook()
    webhook = Webhook(url=start.url, secret=start.secret, enabled=start.enabled, created=state.now, updated=state.now)
    if webhook.secret:
        state.secrets.add(webhook.secret)
    else:
        _draw_secret(state, webhook, code)
    return webhook


def set_webhook(state: State, command: SetWebhook, now: datetime) -> bool:
    """Create the webhook, enabled and with a new secret, or change the URL of the existing one; True when created."""
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
    """Enable or disable the webhook; False when there is none."""
    webhook = state.resellers[command.reseller].webhook
    if not webhook.url:
        return False
    if webhook.enabled is not command.enabled or _every_request_updates(state):
        webhook.enabled, webhook.updated = command.enabled, now
    return True


def rotate_secret(state: State, command: RotateWebhookSecret, now: datetime) -> bool:
    """Sign with a new secret from now on, including retries of earlier events; False when there is no webhook."""
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
    """Delete the webhook, if any. Jobs under way keep the old object, which is disabled and ends them."""
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
