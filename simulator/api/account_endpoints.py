"""The account endpoints: balance, threshold, callback URL, balance webhook, history, balance statement (SPEC 4.14 to
4.19)."""

from datetime import UTC, date
from urllib.parse import urlsplit

from simulator.api.call import ApiCall, Reply
from simulator.api.notes import no_product, note, note_filters, note_problems, page_size
from simulator.api.refusals import UNKNOWN_PRODUCT, refuse_input, refuse_parameters
from simulator.contract.query import whole
from simulator.contract.schemas import schema
from simulator.contract.surplus import suggestion
from simulator.domain import commands
from simulator.domain.errors import Unacceptable
from simulator.domain.model.history import HistoryQuery, figures_of
from simulator.domain.model.inbox_programs import INBOX_SCHEME
from simulator.domain.model.likeness import nearest
from simulator.domain.model.money import SERVICE_ZONE, ZERO, parse_amount
from simulator.domain.model.wallet import EntryType
from simulator.http_client.targets import reason_to_refuse
from simulator.runtime.inboxes import INBOX_PATH
from simulator.wire import account, error_bodies, history_page, webhook_bodies
from simulator.wire.diagnoses import shown
from simulator.wire.formats import day_range, encode
from simulator.wire.option_lists import Page

PAGE_MAX = 1000


def balance(call: ApiCall) -> Reply:
    """Return 200 with the wallet's balance."""
    flat = call.sandbox.core.state.assumes("balance-record", "flat")
    return Reply(200, account.balance(call.owner.wallet.balance, flat=flat))


def set_threshold(call: ApiCall) -> Reply:
    """Return 200 with the value set; 400 for an invalid amount or threshold."""
    amount = parse_amount(call.fields["amount"]) or ZERO  # a text that is no amount is refused as 0 is
    try:
        reseller = call.sandbox.apply(commands.SetThreshold(call.owner.code, amount), call.now)
    except Unacceptable:
        text = f"must be {schema(call.endpoint.schema)['properties']['amount']['x-must-be']}"
        return refuse_input(call, {"amount": [text]})
    return Reply(200, account.threshold(reseller.email, reseller.wallet.threshold, call.now))


def read_url(call: ApiCall) -> Reply:
    """Return 200 with the callback configuration; empty strings without a configuration."""
    return Reply(200, account.configuration(call.owner.callback, call.now))


def set_url(call: ApiCall) -> Reply:
    """Return 200 with the values set; 400 for a URL that cannot be called."""
    url, method = call.fields["url"], call.fields["method"]
    if reason := reason_to_refuse(url):
        note(call, reason)
        return refuse_parameters({"url": [reason]})
    config = call.sandbox.apply(commands.SetCallback(call.owner.code, url, method), call.now)
    return Reply(200, account.configuration(config, call.now))


def read_webhook(call: ApiCall) -> Reply:
    """Return 200 with the webhook configuration, empty without a webhook."""
    return Reply(200, webhook_bodies.configuration(call.owner.webhook))


def put_webhook(call: ApiCall) -> Reply:
    """Return 200 with the secret on creation, without it on an update; 400 for an address that cannot be called."""
    url = call.fields["url"]
    if reason := reason_to_refuse(url) or _reason_in_production(call, url):
        note(call, reason)
        return refuse_parameters({"url": [reason]})
    if call.sandbox.apply(commands.SetWebhook(call.owner.code, url), call.now):
        return _with_secret(call)
    return Reply(200, webhook_bodies.url_alone(call.owner.webhook))


def enable_webhook(call: ApiCall) -> Reply:
    """Return 200 with the values set; 404 without a webhook."""
    wanted = call.fields["enabled"]
    if not call.sandbox.apply(commands.EnableWebhook(call.owner.code, wanted), call.now):
        return _no_webhook(call)
    return Reply(200, {"enabled": wanted})


def rotate_secret(call: ApiCall) -> Reply:
    """Return 200 with the new secret; 404 without a webhook."""
    if not call.sandbox.apply(commands.RotateWebhookSecret(call.owner.code), call.now):
        return _no_webhook(call)
    return _with_secret(call)


def remove_webhook(call: ApiCall) -> Reply:
    """Return 204, with or without a webhook."""
    call.sandbox.apply(commands.RemoveWebhook(call.owner.code), call.now)
    return Reply(204, b"")


def _with_secret(call: ApiCall) -> Reply:
    shown = webhook_bodies.with_secret(call.owner.webhook)
    masked = webhook_bodies.with_secret(call.owner.webhook, masked=True)
    return Reply(200, encode(shown), journaled=encode(masked))


def _no_webhook(call: ApiCall) -> Reply:
    note(call, f"{call.owner.code} has no balance webhook; create it with PUT")
    return Reply(404, error_bodies.parameters("There is no balance webhook; create it with PUT.", {}))


def _reason_in_production(call: ApiCall, url: str) -> str | None:
    """Return why production refuses a URL: it requires https, except for inboxes of the simulator."""
    if call.sandbox.scenario.environment != "production" or url.startswith(("https://", INBOX_SCHEME)):
        return None
    parts = urlsplit(url)
    host = call.headers.get(b"host", b"").decode("latin-1").lower()
    if parts.scheme == "https" or (parts.netloc.lower() == host and parts.path.startswith(INBOX_PATH)):
        return None
    return "the address must begin with https:// in production"


def _days_of(call: ApiCall) -> tuple[tuple[date, date], dict[str, list[str]]]:
    """Return the first and the last day that a request asks for, and the errors of these parameters."""
    try:
        first, last = day_range(call.fields["date"])
    except ValueError as bad:
        return (date.min, date.max), {"date": [str(bad)]}
    if first <= last:
        return (first, last), {}
    if call.sandbox.core.state.assumes("reversed-ranges", "empty"):
        note(call, f"date ends before it begins: no day lies between {first} to {last}")
        return (first, last), {}
    return (first, last), {"date": ["must not end before it begins"]}


def _note_empty(call: ApiCall, days: tuple[date, date], total: int, offset: int, what: str) -> None:
    """Note why a page is empty although records exist: its days exclude today, or it begins after the end."""
    if total:
        if offset >= total:
            note(call, f"this page begins after the end: there are {total} {what}")
        return
    first, last = days
    today, in_utc = call.now.astimezone(SERVICE_ZONE).date(), call.now.astimezone(UTC).date()
    if first <= today <= last or last < first:
        return
    asked = first if first == last else f"{first} to {last}"
    utc = f" ({in_utc} in UTC)" if in_utc != today else ""
    note(call, f"no {what} of {asked}: days are in GMT+8, where it is {today}{utc}")


def transactions(call: ApiCall) -> Reply:
    """Return 200 with a page of the reseller's transactions and the figures of the whole search."""
    state, history = call.sandbox.core.state, call.owner.history
    days, problems = _days_of(call)
    limit, too_large = page_size(call, "limit", PAGE_MAX, "history-limit")
    problems |= too_large
    product = call.fields.get("product", "")
    is_unknown = bool(product) and product not in state.catalog.products and product not in history.products()
    note_problems(call, problems)
    if is_unknown:
        note(call, no_product(call, product))
        if not state.assumes("history-unknown-product", "empty"):
            problems["product"] = [UNKNOWN_PRODUCT]
    if problems:
        return refuse_parameters(problems)
    sent = call.fields.get("status", [])
    names = [sent] if isinstance(sent, str) else sent
    wanted = HistoryQuery(
        *days,
        statuses=frozenset(history_page.STATUS_FILTERS[name] for name in names or history_page.STATUS_FILTERS),
        product=product,
        account=call.fields.get("account", ""),
    )
    newest_first = not state.assumes("history-order", "oldest_first")
    offset = whole(call.fields, "offset", 0)
    if state.assumes("history-offset", "pages"):
        offset *= limit
    page, figures = history.find(wanted, offset, limit, newest_first=newest_first)
    total = sum(figures.counts.values())
    _note_empty(call, days, total, offset, "transactions")
    if not total:
        found, every = history.find(HistoryQuery(*days), 0, PAGE_MAX)
        if not _note_account(call, wanted.account, {transaction.account for transaction in found}):
            note_filters(call, ("status", "product", "account"), sum(every.counts.values()), "transaction")
    if state.assumes("history-meta", "page"):
        figures = figures_of(page)
    body = history_page.body(
        page,
        figures,
        state.catalog.products,
        category_ids=state.assumes("history-category", "id"),
        payment_names=state.assumes("history-status-names", "payment"),
    )
    return Reply(200, body)


def _note_account(call: ApiCall, number: str, others: set[str]) -> bool:
    """Suggest a similar account, such as the number without its country code. False without a suggestion."""
    likely = nearest(number, others) if number and number not in others else ""
    if likely:
        note(call, f"no transaction has the account {shown(number)}{suggestion(likely)}")
    return bool(likely)


STATEMENT = "/v2/balance-statement"


def balance_statement(call: ApiCall) -> Reply:
    """Return 200 with a page of the wallet's ledger and the totals of the whole search."""
    state = call.sandbox.core.state
    days, problems = _days_of(call)
    limit, too_large = page_size(call, "limit", PAGE_MAX, "statement-limit")
    problems |= too_large
    if problems:
        return refuse_input(call, problems)
    type_ = call.fields.get("type", "")
    types = frozenset({EntryType(type_)} if type_ else EntryType)
    number = whole(call.fields, "page", 1)
    offset = (number - 1) * limit
    newest_first = not state.assumes("statement-order", "oldest_first")
    entries, totals = call.owner.wallet.find(*days, types, offset, limit, newest_first=newest_first)
    total = sum(each.count for each in totals.values())
    _note_empty(call, days, total, offset, "entries")
    if not total:
        _, every = call.owner.wallet.find(*days, frozenset(EntryType), 0, 1)
        note_filters(call, ("type",), sum(each.count for each in every.values()), "entry")
    body = account.statement(
        entries,
        Page.of(total, number, limit),
        totals,
        _address(call),
        {name: call.fields[name] for name in ("date", "type") if call.fields.get(name)},
        unsigned=state.assumes("statement-summary", "unsigned"),
        commissions=state.assumes("statement-commission", "in_deposits"),
    )
    return Reply(200, body)


def _address(call: ApiCall) -> str:
    """Return the statement's own address, for its links."""
    state = call.sandbox.core.state
    if state.assumes("statement-links", "unprefixed"):
        return STATEMENT
    if not state.assumes("statement-links", "absolute"):
        return call.exchange.prefix + STATEMENT
    host = call.headers.get(b"host", b"").decode("latin-1")
    return f"{call.exchange.scheme or 'http'}://{host}{call.exchange.prefix}{STATEMENT}"
