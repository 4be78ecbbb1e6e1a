"""Webhooks of a scenario: targets of balance and catalog events, signatures and retries."""

from simulator.domain.model.inboxes import INBOX_SCHEME
from simulator.domain.model.webhooks import Signature, WebhookPolicy, WebhookStart
from simulator.scenario.reading.reader import Reader
from simulator.scenario.reading.values import target

# Headers of HTTP or of every delivery; a second value would make the request invalid or change its meaning.
TAKEN_HEADERS = frozenset(
    [
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "x-forwarded-for",
    ]
)


def webhook(item: Reader) -> WebhookStart | None:
    """A webhook that exists from the start, None when absent."""
    if not item.is_mapping:
        return None
    url = item["url"].parsed(target, "bad_url")
    return WebhookStart(url or "", item["secret"].text().lower(), item["enabled"].boolean(True)) if url else None


def webhooks(section: Reader) -> WebhookPolicy:
    """How events are delivered; absent keys keep their defaults."""
    usual = WebhookPolicy()
    waits = section["retry_after"]
    return WebhookPolicy(
        retry_limit=section["retry_limit"].integer(usual.retry_limit),
        retry_after=tuple(wait.duration() for wait in waits.items()) or usual.retry_after,
        signature=_signature(section["signature"]),
        timeout=section["timeout"].optional_duration(),
        catalog=webhook(section["catalog"]),
    )


def _signature(item: Reader) -> Signature:
    """`standard`, or an object that names a header."""
    if not item.is_mapping:
        return Signature()
    header = item["header"]
    if header.text().lower() in TAKEN_HEADERS:
        header.problem("bad_header", f"{header.text()!r} is in use; choose a header that deliveries do not have yet")
    return Signature(header.text(), item["prefix"].text(), item["key"].text("bytes"))


def refuse_plain_addresses(items: list[Reader], environment: str) -> None:
    """Report webhooks without https in production (SPEC 4.19), except the sandbox's own inboxes."""
    if environment != "production":
        return
    for url in (item["url"] for item in items):
        if url.text()[:8].lower() not in ("", "https://") and not url.text().startswith(INBOX_SCHEME):
            url.problem("bad_url", f"{url.text()!r} must begin with https:// in production")
