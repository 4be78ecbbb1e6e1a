"""Resellers of a scenario: wallet, keys, users, callback, settings, their own view of the catalog, and webhooks."""

from collections.abc import Collection
from decimal import Decimal
from ipaddress import ip_network
from types import MappingProxyType

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.catalog import Overlay
from simulator.domain.model.inbox_programs import INBOX_SCHEME
from simulator.domain.model.money import is_whole_cents
from simulator.domain.model.resellers import KeyState, User
from simulator.domain.model.scenario import KeyStart, ResellerStart
from simulator.domain.model.webhooks import Signature, WebhookPolicy, WebhookStart
from simulator.scenario.reading.value_reader import ValueReader, refuse_repeats, secret_bytes, target
from simulator.scenario.sections.product_forms import price_adjustment

# Headers of HTTP or of every delivery; a second value would make the request invalid or change its meaning.
TAKEN_HEADERS = frozenset(
    {
        "accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "keep-alive",
        "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "x-forwarded-for",
    }
)  # fmt: skip


def webhook(item: ValueReader) -> WebhookStart | None:
    """Return a webhook that exists from the start, None when absent."""
    if not item.is_mapping:
        return None
    url = item["url"].parsed(target, "bad_url")
    return WebhookStart(url or "", item["secret"].text().lower(), item["enabled"].boolean(True)) if url else None


def webhooks(section: ValueReader) -> WebhookPolicy:
    """Return the delivery policy of events; absent keys keep their defaults."""
    usual = WebhookPolicy()
    waits = section["retry_after"]
    return WebhookPolicy(
        retry_limit=section["retry_limit"].integer(usual.retry_limit),
        retry_after=tuple(wait.duration() for wait in waits.items()) or usual.retry_after,
        signature=_signature(section["signature"]),
        timeout=section["timeout"].optional_duration(),
        catalog=webhook(section["catalog"]),
        hold=section["hold"].text(),
        duplicate=section["duplicate"].integer(0),
    )


def _signature(item: ValueReader) -> Signature:
    """Parse `standard`, or an object that names a header."""
    if not item.is_mapping:
        return Signature()
    header = item["header"]
    if header.text().lower() in TAKEN_HEADERS:
        header.problem("bad_header", f"{header.text()!r} is in use; choose a header that deliveries do not have yet")
    return Signature(header.text(), item["prefix"].text(), item["key"].text("bytes"))


def refuse_plain_addresses(items: list[ValueReader], environment: str) -> None:
    """Report webhooks without https in production (SPEC 4.19), except the sandbox's own inboxes."""
    if environment != "production":
        return
    for url in (item["url"] for item in items):
        if url.text()[:8].lower() not in ("", "https://") and not url.text().startswith(INBOX_SCHEME):
            url.problem("bad_url", f"{url.text()!r} must begin with https:// in production")


KEYLESS = (KeyState.NO_SECRET, KeyState.UNDECRYPTABLE)
DEFAULT_EMAIL = "owner@example.com"


def resellers(section: ValueReader, products: Collection[str] | None) -> tuple[ResellerStart, ...]:
    """Return all resellers. `products` are the codes that overlays may name; None allows any."""
    refuse_repeats([item["code"] for item in section.items()], "reseller")
    refuse_repeated_credentials(section.items())
    return tuple(reseller(item, products) for item in section.items())


def refuse_repeated_credentials(items: list[ValueReader]) -> None:
    """Report keys and usernames that several resellers share."""
    refuse_repeats([key["key"] for item in items for key in item["api_keys"].items()], "API key")
    refuse_repeats([user["username"] for item in items for user in item["users"].items()], "username")


def reseller(item: ValueReader, products: Collection[str] | None) -> ResellerStart:
    balance = item["balance"].amount()
    if not is_whole_cents(balance):
        item["balance"].problem("bad_amount", f"a balance is in whole sen, not {balance}")
    settings = item["settings"]
    return ResellerStart(
        code=item["code"].text(),
        email=item["email"].text(DEFAULT_EMAIL),
        balance=balance,
        keys=tuple(_key(key) for key in item["api_keys"].items()),
        users=tuple(User(user["username"].text(), user["password"].text()) for user in item["users"].items()),
        callback=callback(item["callback"]),
        webhook=webhook(item["balance_webhook"]),
        require_api_key_for_topup=settings["require_api_key_for_topup"].boolean(),
        ip_allowlist=allowlist(settings["ip_allowlist"]),
        overlay=MappingProxyType({code: _overlay(entry, products) for code, entry in item["catalog"].entries()}),
        low_balance_threshold=threshold(item["low_balance_threshold"]),
    )


def _key(item: ValueReader) -> KeyStart:
    state = item["state"].text(KeyState.ACTIVE)
    secret = item["secret"]
    if not secret.is_given and state not in KEYLESS:
        item.problem(
            "missing_key", "'secret' is missing; only keys in the state no_secret or undecryptable have no secret"
        )
    secret.parsed(secret_bytes, "bad_secret")
    return KeyStart(item["key"].text(), secret.text(), key_state(state))


def key_state(text: str) -> KeyState:
    """Return the state of this name."""
    return next((state for state in KeyState if state == text), KeyState.ACTIVE)


def callback(item: ValueReader) -> CallbackConfig:
    """Return the callback target; disabled when absent."""
    if not item.is_mapping:
        return CallbackConfig()
    url = item["url"].parsed(target, "bad_url")
    return CallbackConfig(url or "", item["method"].text("POST"))


def threshold(item: ValueReader) -> Decimal | None:
    """Return the balance below which the reseller is alerted; None when absent."""
    amount = item.optional_amount()
    if amount is not None and (amount < 1 or not is_whole_cents(amount)):
        item.problem("bad_amount", f"a threshold is at least 1 and in whole sen, not {amount}")
    return amount


def allowlist(section: ValueReader) -> tuple[str, ...]:
    """Return the addresses and networks that may call."""
    return tuple(_network(entry) for entry in section.items())


def _network(entry: ValueReader) -> str:
    text = entry.text()
    try:
        ip_network(text, strict=False)
    except ValueError:
        entry.problem("bad_address", f"{text!r} must be an IP address or network such as 10.0.0.0/8")
    return text


def _overlay(entry: ValueReader, products: Collection[str] | None) -> Overlay:
    if products is not None:
        entry.refuse_unknown("product", products, at_key=True)
    is_active = entry["is_active"].boolean() if entry["is_active"].is_given else None
    return Overlay(is_active, price_adjustment(entry["price_adjustment"]))
