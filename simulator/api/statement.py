"""`GET /v2/balance-statement`: the ledger of the reseller's wallet (SPEC 4.17)."""

from simulator.api.call import Call, Reply
from simulator.api.paging import days_of, page_size
from simulator.api.refusals import invalid_parameters
from simulator.contract.query import whole
from simulator.domain.model.wallet import EntryType
from simulator.wire import statement

LIMIT_MAX = 1000
STATEMENT = "/v2/balance-statement"


def balance_statement(call: Call) -> Reply:
    """200 with a page of the wallet's ledger and the totals of the whole search."""
    state = call.sandbox.core.state
    days, problems = days_of(call)
    limit, too_large = page_size(call, "limit", LIMIT_MAX, "statement-limit")
    problems |= too_large
    if problems:
        return invalid_parameters(call, problems)
    type_ = call.fields.get("type", "")
    types = frozenset({EntryType(type_)} if type_ else EntryType)
    page = whole(call.fields, "page", 1)
    newest_first = not state.assumes("statement-order", "oldest_first")
    entries, totals = call.owner.wallet.find(*days, types, (page - 1) * limit, limit, newest_first=newest_first)
    asked = {name: call.fields[name] for name in ("date", "type") if call.fields.get(name)}
    shown = statement.StatementPage(
        page=page,
        limit=limit,
        total=sum(each.entries for each in totals.values()),
        address=_address(call),
        query=asked,
    )
    body = statement.body(
        entries,
        shown,
        totals,
        unsigned=state.assumes("statement-summary", "unsigned"),
        commissions=state.assumes("statement-commission", "in_deposits"),
    )
    return Reply(200, body)


def _address(call: Call) -> str:
    """The statement's own address, as links begin with it."""
    state = call.sandbox.core.state
    if state.assumes("statement-links", "unprefixed"):
        return STATEMENT
    if not state.assumes("statement-links", "absolute"):
        return call.prefix + STATEMENT
    host = call.headers.get(b"host", b"").decode("latin-1")
    return f"{call.exchange.scheme or 'http'}://{host}{call.prefix}{STATEMENT}"
