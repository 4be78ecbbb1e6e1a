"""Webhooks on the wire: configuration (SPEC 2.11), delivery records in camelCase (2.12), events (2.13, 6.4)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import msgspec

from simulator.domain.model.catalog import Option, Product
from simulator.domain.model.delivery_attempts import AttemptEnd, counted
from simulator.domain.model.webhooks import (
    REPLAYS_MAX,
    BalanceAdded,
    CatalogEntry,
    Delivery,
    Event,
    EventData,
    ReplayRefused,
    Webhook,
)
from simulator.wire import catalog_answers, option_lists
from simulator.wire.formats import encode, iso_utc, number

EVENT_VERSION = "1.0"
METHOD = "POST"
SECRET_SHOWN_CHARS = 4

# Why a delivery is not replayed, for both APIs.
REPLAY_REFUSALS = {
    ReplayRefused.UNKNOWN: "there is no such delivery, or it was evicted from the log",
    ReplayRefused.SUCCEEDED: "only failed deliveries can be replayed; this delivery succeeded",
    ReplayRefused.UNDER_WAY: "only failed deliveries can be replayed; this delivery is in progress",
    ReplayRefused.NO_WEBHOOK: "there is no balance webhook to deliver to; create it with PUT",
    ReplayRefused.DISABLED: "the balance webhook is disabled; enable it first",
    ReplayRefused.LIMIT: f"this event has already been replayed {REPLAYS_MAX} times",
}


def configuration(webhook: Webhook) -> dict[str, Any]:
    """Return the answer to GET; empty strings, false and nulls without a webhook."""
    return {
        "webhook_url": webhook.url,
        "enabled": webhook.enabled,
        "secret_last_four": webhook.secret[-SECRET_SHOWN_CHARS:],
        "created_at": iso_utc(webhook.created) if webhook.created else None,
        "updated_at": iso_utc(webhook.updated) if webhook.updated else None,
    }


def url_alone(webhook: Webhook) -> dict[str, Any]:
    """Return the answer to a PUT that updates."""
    return {"webhook_url": webhook.url}


def with_secret(webhook: Webhook, *, masked: bool = False) -> dict[str, Any]:
    """Return the answer to creation and rotation; `masked` hides all but the end of the secret, at equal length."""
    secret = webhook.secret
    if masked:
        secret = "*" * (len(secret) - SECRET_SHOWN_CHARS) + secret[-SECRET_SHOWN_CHARS:]
    return {"webhook_url": webhook.url, "webhook_secret": secret}


def event(webhook_event: Event) -> dict[str, Any]:
    """Return the event's body."""
    return {
        "type": webhook_event.type,
        "version": EVENT_VERSION,
        "id": webhook_event.id,
        "created_at": iso_utc(webhook_event.created),
        "data": _data(webhook_event.data),
    }


def _data(data: EventData) -> dict[str, Any]:
    if isinstance(data, BalanceAdded):
        return {
            "resellerCode": data.reseller,
            "amount": number(data.amount),
            "balance": number(data.balance),
            "description": data.description,
        }
    return _resource(data) | ({"resellerCode": data.reseller} if data.reseller else {})


def _resource(entry: CatalogEntry) -> dict[str, Any]:
    newer = entry.by_denomination
    match entry.resource:
        case Option() as option:
            assert entry.product is not None, "an option comes with its product"
            return option_lists.option(entry.product, entry.field_id, option, by_denomination=newer)
        case Product() as product:
            return catalog_answers.product_body(product, by_denomination=newer, has_loss_risk=entry.has_loss_risk)
        case part:
            return catalog_answers.tree_part(part)


def record(delivery: Delivery, *, counts_attempts: bool = False) -> dict[str, Any]:
    """Return a delivery record. It has the receiver's answer to the latest attempt, null before the first attempt.

    `retryCount` counts retries, or with `counts_attempts` all attempts.
    """
    last = delivery.attempts[-1].result if delivery.attempts else None
    answered = last if last is not None and last.kind is AttemptEnd.ANSWERED else None
    payload = event(delivery.event)
    return {
        "id": delivery.id,
        "eventId": delivery.event.id,
        "status": delivery.state.value,
        "error": delivery.error,
        "retryCount": counted(delivery.attempts) if counts_attempts else max(0, counted(delivery.attempts) - 1),
        "retryLimit": delivery.retry_limit,
        "createdAt": iso_utc(delivery.created),
        "completedAt": iso_utc(delivery.completed) if delivery.completed else None,
        "webhookUrl": delivery.url,
        "webhookMethod": METHOD,
        "replayCount": delivery.event.replays,
        "originalJobId": delivery.original,
        "payload": payload,
        "webhookPayload": payload,
        "responseCode": answered.status if answered else None,
        "responseStatusCode": answered.status if answered else None,
        "responseBody": answered.body if answered else None,
    }


def replayed(delivery: Delivery) -> dict[str, Any]:
    """Return the answer to a single replay."""
    return {"jobId": delivery.id, "originalJobId": delivery.original, "eventId": delivery.event.id}


def bulk_done(job: str, new: Delivery) -> dict[str, Any]:
    """Return one result of a bulk replay."""
    return {"jobId": job, "success": True, "newJobId": new.id}


def bulk_refused(job: str, text: str) -> dict[str, Any]:
    """Return one refused result of a bulk replay."""
    return {"jobId": job, "success": False, "newJobId": None, "error": text}


class PageEnd(msgspec.Struct, array_like=True):
    """The end of a page of deliveries, which its cursor contains: the id of its last job, and the filters."""

    job: str
    filters: dict[str, str]

    def cursor(self) -> str:
        """Return the cursor of the next page."""
        return urlsafe_b64encode(encode(self)).decode().rstrip("=")


def page_end(cursor: str) -> PageEnd:
    """Return the end of the page that a cursor follows. Raise `ValueError` when it is not a cursor."""
    try:
        return msgspec.json.decode(urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)), type=PageEnd)
    except (ValueError, msgspec.DecodeError):
        raise ValueError("is not a cursor of this list; send it exactly as the previous page returned it") from None
