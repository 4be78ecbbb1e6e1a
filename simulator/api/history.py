"""What was paid and what it did to the wallet: `GET /v2/transactions` (SPEC 4.14), `/v2/balance-statement` (4.17)."""

from datetime import date

from simulator.api.call import Call, Reply
from simulator.api.diagnoses import no_product
from simulator.api.notes import note, note_problems
from simulator.api.refusals import UNKNOWN_PRODUCT, invalid_parameters, refuse_parameters
from simulator.contract.query import whole
from simulator.domain.model.history.query import Figures, HistoryQuery
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.wallet import EntryType
from simulator.wire import history, statement
from simulator.wire.timestamps import day_range

LIMIT_MAX = 1000
LIMIT_DEFAULT = 100
STATEMENT = "/v2/balance-statement"


def transactions(call: Call) -> Reply:
    """200 with a page of the reseller's transactions and the figures of the whole search."""
    state, records = call.sandbox.core.state, call.owner.records.history
    days, problems = _days(call)
    limit = _limit(call, "history-limit", problems)
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
        statuses=frozenset(history.FILTERS[name] for name in names or history.FILTERS),
        product=product,
        account=call.fields.get("account", ""),
    )
    newest_first = not state.assumes("history-order", "oldest_first")
    page, figures = records.find(wanted, whole(call.fields, "offset", 0), limit, newest_first=newest_first)
    if state.assumes("history-meta", "page"):
        figures = Figures.of(page)
    return Reply(200, history.body([_record(call, one) for one in page], figures))


def balance_statement(call: Call) -> Reply:
    """200 with a page of the wallet's ledger and the totals of the whole search."""
    state = call.sandbox.core.state
    days, problems = _days(call)
    limit = _limit(call, "statement-limit", problems)
    if problems:
        return invalid_parameters(call, problems)
    type_ = call.fields.get("type", "")
    types = frozenset({EntryType(type_)} if type_ else EntryType)
    page = whole(call.fields, "page", 1)
    newest_first = not state.assumes("statement-order", "oldest_first")
    entries, totals = call.owner.records.statement.find(
        *days, types, (page - 1) * limit, limit, newest_first=newest_first
    )
    asked = {name: call.fields[name] for name in ("date", "type") if call.fields.get(name)}
    sheet = statement.StatementPage(
        page=page,
        limit=limit,
        total=sum(each.entries for each in totals.values()),
        address=_address(call),
        query=asked,
    )
    return Reply(200, statement.body(entries, sheet, totals, unsigned=state.assumes("statement-summary", "unsigned")))


def _days(call: Call) -> tuple[tuple[date, date], dict[str, list[str]]]:
    """The days that are asked for, and what is wrong with them."""
    try:
        return day_range(call.fields["date"]), {}
    except ValueError as bad:
        return (date.min, date.max), {"date": [str(bad)]}


def _limit(call: Call, assumption: str, problems: dict[str, list[str]]) -> int:
    limit = whole(call.fields, "limit", LIMIT_DEFAULT)
    if limit > LIMIT_MAX and call.sandbox.core.state.assumes(assumption, "reject"):
        problems["limit"] = [f"must be at most {LIMIT_MAX}"]
    elif limit > LIMIT_MAX:
        note(call, f"a limit of {limit} was reduced to {LIMIT_MAX}, the maximum of a page")
    return min(limit, LIMIT_MAX)


def _is_known(call: Call, product: str) -> bool:
    return product in call.sandbox.core.state.catalog.products or call.owner.records.history.has_product(product)


def _record(call: Call, one: Transaction) -> dict[str, str | None]:
    state = call.sandbox.core.state
    return history.record(
        one,
        state.catalog.products.get(one.product),
        category_ids=state.assumes("history-category", "id"),
        payment_names=state.assumes("history-status-names", "payment"),
    )


def _address(call: Call) -> str:
    """The statement's own address, as links begin with it."""
    if not call.sandbox.core.state.assumes("statement-links", "absolute"):
        return call.prefix + STATEMENT
    host = call.headers.get(b"host", b"").decode("latin-1")
    return f"http://{host}{call.prefix}{STATEMENT}"
