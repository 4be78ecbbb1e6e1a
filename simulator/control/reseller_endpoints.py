"""`/_sim/sandboxes/{id}/resellers` and `…/ledger`: accounts and their configuration, deposits, settings, API keys, and
the entries of all wallets."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from heapq import merge
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.filters import list_query, query_of
from simulator.control.http import InvalidInput, body_of, page, reply, sandboxes_of
from simulator.control.render import members
from simulator.domain.commands import AddApiKey, AddReseller, ChangeSettings, Credit, RevokeApiKey
from simulator.domain.model.money import parse_amount
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.wallet import Entry, EntryType
from simulator.domain.model.webhooks import BALANCE_ADDED, Webhook
from simulator.domain.queries import reseller_of
from simulator.domain.state import State, payment_with
from simulator.http_client.targets import reason_to_refuse
from simulator.redaction import redact_urls
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.build import build_reseller
from simulator.wire.formats import number
from simulator.wire.webhook_bodies import SECRET_SHOWN_CHARS


def _code(request: Request, live: LiveSandbox) -> str:
    """Return the code of the reseller in the path, checked to exist before the body is validated."""
    return reseller_of(live.core.state, request.path_params["code"]).code


async def list_all(request: Request, live: LiveSandbox) -> Response:
    """List the resellers with their configuration, without secrets, and the webhook of catalog events."""
    query = query_of(request, "resellers-query")
    rows = page("resellers", query, live.core.state.resellers.values(), lambda reseller: reseller_row(live, reseller))
    webhook = live.core.state.catalog_webhook  # its events belong to no reseller
    shown = _webhook(live, webhook, "catalog", CATALOG_EVENTS) if webhook.url else None
    return reply(await rows | {"catalog_webhook": shown})


async def add(request: Request, live: LiveSandbox) -> Response:
    """Add a reseller to this sandbox."""
    wanted = await body_of(request, "reseller-request")
    products = live.core.state.catalog.products.keys()
    start = build_reseller(wanted, products, live.scenario.environment)
    targets = {"callback.url": start.callback.url, "balance_webhook.url": start.webhook.url if start.webhook else ""}
    for place, url in targets.items():  # deliveries are never sent there: `POST /v2/callback-url` refuses them, too
        if url and (reason := reason_to_refuse(url)):
            raise InvalidInput(reason, place)
    added = await live.settle_and_apply(AddReseller(start))
    sandboxes_of(request).learn_keys(live)
    return reply(render.reseller(added), 201)


async def deposit(request: Request, live: LiveSandbox) -> Response:
    """Add external money."""
    code = _code(request, live)
    wanted = await body_of(request, "deposit-request")
    amount = parse_amount(wanted["amount"])
    if amount is None:
        raise InvalidInput("amount must be a decimal number such as 10.50", "amount")
    type_ = EntryType(wanted.get("type", EntryType.DEPOSIT))
    entry = await live.settle_and_apply(Credit(code, amount, wanted.get("description", ""), type_))
    return reply(render.entry(entry), 201)


async def change_settings(request: Request, live: LiveSandbox) -> Response:
    """Change some settings; absent settings keep their values."""
    code = _code(request, live)
    changes = await body_of(request, "settings-request")
    if "ip_allowlist" in changes:
        changes["ip_allowlist"] = tuple(changes["ip_allowlist"])
    settings = await live.settle_and_apply(ChangeSettings(code, changes))
    return reply(members(settings, "require_api_key_for_topup", "ip_allowlist"))


async def add_api_key(request: Request, live: LiveSandbox) -> Response:
    """Create a key pair; only this answer has its secret."""
    code = _code(request, live)
    await body_of(request, "api-key-request", may_be_empty=True)
    key = await live.settle_and_apply(AddApiKey(code))
    sandboxes_of(request).learn_keys(live)
    return reply({"api_key": key.key, "api_secret": key.secret}, 201)


async def revoke_api_key(request: Request, live: LiveSandbox) -> Response:
    """Revoke a key, effective at once."""
    await live.settle_and_apply(RevokeApiKey(_code(request, live), request.path_params["key"]))
    return Response(status_code=204)


CATALOG_EVENTS: Final = ("product.*", "option.*", "category.*", "group.*")


def reseller_row(live: LiveSandbox, reseller: Reseller) -> dict[str, Any]:
    """Return a reseller for the list. `retries` and `timeout` are the scenario's; times are seconds."""
    limits, webhook = live.scenario.limits, reseller.webhook
    return {
        **members(reseller, "code", "email", "created"),
        "balance": number(reseller.wallet.balance),
        "low_balance_threshold": number(reseller.wallet.threshold) if reseller.wallet.threshold else None,
        "callback": {
            "url": redact_urls(reseller.callback.url),
            "method": reseller.callback.method or None,
            "updated": render.moment(reseller.callback.updated),
            "retries": limits.callback_retry.retries,
            "retry_after": [limits.callback_retry.after.total_seconds()],
            "timeout": limits.callback_timeout.total_seconds(),
        },
        "webhooks": [_webhook(live, webhook, "balance", (BALANCE_ADDED,))] if webhook.url else [],
        "settings": {
            "require_api_key_for_topup": reseller.settings.require_api_key_for_topup,
            "in_effect": reseller.closed_to_tokens.is_on(live.clock.now()),
            "ip_allowlist": list(reseller.settings.ip_allowlist),
        },
        "api_keys": [members(key, "key", "state", "created") for key in reseller.keys],
        "users": [user.username for user in reseller.users],
    }


def _webhook(live: LiveSandbox, webhook: Webhook, kind: str, events: tuple[str, ...]) -> dict[str, Any]:
    policy = live.scenario.webhooks
    timeout = live.scenario.limits.callback_timeout if policy.timeout is None else policy.timeout
    return {
        "url": redact_urls(webhook.url),
        "kind": kind,
        "events": list(events),
        "enabled": webhook.enabled,
        "secret_last_four": webhook.secret[-SECRET_SHOWN_CHARS:],
        **members(webhook, "created", "updated"),
        "retries": policy.retry_limit,
        "retry_after": [wait.total_seconds() for wait in policy.retry_after],
        "timeout": timeout.total_seconds(),
        "signature": {"header": policy.signature.header or None, "prefix": policy.signature.prefix},
    }


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class LedgerPlace(NamedTuple):
    """The place of an entry in the ledger: its time, the number of its reseller and its `id`.

    Entries of equal times are ordered by reseller and number. Places are stable while entries are posted, and bisection
    finds them in each wallet: a page costs the same for any number of entries.
    """

    at: datetime
    reseller: int
    id: int

    def __str__(self) -> str:
        return f"{(self.at - EPOCH) // MICROSECOND}.{self.reseller}.{self.id}"


def _place(cursor: str) -> LedgerPlace:
    microseconds, reseller, id_ = map(int, cursor.split("."))
    return LedgerPlace(EPOCH + microseconds * MICROSECOND, reseller, id_)


LedgerLine = tuple[LedgerPlace, Reseller, Entry]


async def list_ledger(request: Request, live: LiveSandbox) -> Response:
    """List the entries of all wallets, newest first; `reseller`, `type` and `refid` are filters."""
    query = list_query(request, live, "ledger-query")
    state, code = live.core.state, query.get("reseller")
    before = _place(query["cursor"]) if "cursor" in query else None
    lists = [
        _entries(state, number, reseller, before, query)
        for number, reseller in enumerate(state.resellers.values())
        if code in (None, reseller.code)
    ]
    found = merge(*lists, key=lambda line: line[0], reverse=True)

    def row(line: LedgerLine) -> dict[str, Any]:
        _, one, entry = line
        paid = state.transactions.get(entry.trxid)
        return render.entry(entry) | {"refid": paid.refid if paid else "", "reseller": one.code}

    return reply(await page("entries", query, found, row, lambda line: line[0]))


def _entries(
    state: State, number: int, reseller: Reseller, before: LedgerPlace | None, query: Mapping[str, Any]
) -> Iterator[LedgerLine]:
    """Yield the matching entries of the reseller with this number, newest first."""

    def place(entry: Entry) -> LedgerPlace:
        return LedgerPlace(entry.at, number, entry.id)

    posted = reseller.wallet.entries
    count = len(posted) if before is None else bisect_left(posted, before, key=place)
    type_ = EntryType(query["type"]) if "type" in query else None
    if "refid" not in query:
        entries = reseller.wallet.newest_first(type_, count)
    else:
        paid = payment_with(state, reseller, query["refid"])
        ids = [id_ for id_ in reversed(paid.entry_ids if paid else ()) if id_ <= count]
        entries = (entry for entry in map(reseller.wallet.entry, ids) if type_ in (None, entry.type))
    for entry in entries:
        yield place(entry), reseller, entry
