"""The history of transactions and the balance statement (SPEC 4.14, 4.17)."""

from simulator.api.call import ApiCall, Reply
from simulator.api.notes import no_product, note, note_problems, suggestion
from simulator.api.paging import PAGE_MAX, days_of, note_empty, note_filters, page_size
from simulator.api.refusals import UNKNOWN_PRODUCT, invalid_parameters, refuse_parameters
from simulator.contract.query import whole
from simulator.domain.model.history import HistoryQuery, figures_of
from simulator.domain.model.likeness import nearest
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.wallet import EntryType
from simulator.wire import account, history_page
from simulator.wire.diagnoses import shown


def transactions(call: ApiCall) -> Reply:
    """Return 200 with a page of the reseller's transactions and the figures of the whole search."""
    state, records = call.sandbox.core.state, call.owner.history
    days, problems = days_of(call)
    limit, too_large = page_size(call, "limit", PAGE_MAX, "history-limit")
    problems |= too_large
    product = call.fields.get("product", "")
    is_unknown = bool(product) and not _is_known(call, product)
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
    page, figures = records.find(wanted, offset, limit, newest_first=newest_first)
    total = sum(figures.counts.values())
    note_empty(call, days, total, offset, "transactions")
    if not total:
        found, every = records.find(HistoryQuery(*days), 0, PAGE_MAX)
        if not _note_account(call, wanted.account, [one.account for one in found]):
            note_filters(call, ("status", "product", "account"), sum(every.counts.values()), "transaction")
    if state.assumes("history-meta", "page"):
        figures = figures_of(page)
    return Reply(200, history_page.body([_record(call, one) for one in page], figures))


def _note_account(call: ApiCall, number: str, others: list[str]) -> bool:
    """Suggest an account that is the same number without country code, signs, or a lost zero, or is spelt alike. False
    when there is none."""
    if not number or number in others:
        return False
    same = (other for other in others if _local_number(other) == _local_number(number))
    if likely := next(same, "") or nearest(number, set(others)):
        note(call, f"no transaction has the account {shown(number)}{suggestion(likely)}")
    return bool(likely)


def _local_number(number: str) -> str:
    """Return the digits of a number without the country code of Malaysia and the zero before it."""
    digits = "".join(filter(str.isdecimal, number))
    return digits.removeprefix("60").lstrip("0")


def _is_known(call: ApiCall, product: str) -> bool:
    return product in call.sandbox.core.state.catalog.products or product in call.owner.history.products()


def _record(call: ApiCall, one: Transaction) -> dict[str, str | None]:
    state = call.sandbox.core.state
    return history_page.record(
        one,
        state.catalog.products.get(one.product),
        category_ids=state.assumes("history-category", "id"),
        payment_names=state.assumes("history-status-names", "payment"),
    )


STATEMENT = "/v2/balance-statement"


def balance_statement(call: ApiCall) -> Reply:
    """Return 200 with a page of the wallet's ledger and the totals of the whole search."""
    state = call.sandbox.core.state
    days, problems = days_of(call)
    limit, too_large = page_size(call, "limit", PAGE_MAX, "statement-limit")
    problems |= too_large
    if problems:
        return invalid_parameters(call, problems)
    type_ = call.fields.get("type", "")
    types = frozenset({EntryType(type_)} if type_ else EntryType)
    page = whole(call.fields, "page", 1)
    newest_first = not state.assumes("statement-order", "oldest_first")
    entries, totals = call.owner.wallet.find(*days, types, (page - 1) * limit, limit, newest_first=newest_first)
    asked = {name: call.fields[name] for name in ("date", "type") if call.fields.get(name)}
    shown = account.StatementPage(
        page=page,
        limit=limit,
        total=sum(each.count for each in totals.values()),
        address=_address(call),
        query=asked,
    )
    note_empty(call, days, shown.total, (page - 1) * limit, "entries")
    if not shown.total:
        _, every = call.owner.wallet.find(*days, frozenset(EntryType), 0, 1)
        note_filters(call, ("type",), sum(each.count for each in every.values()), "entry")
    body = account.statement(
        entries,
        shown,
        totals,
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
