"""`GET /v2/transactions`: the history of a reseller's transactions (SPEC 4.14)."""

from simulator.api.call import Call, Reply
from simulator.api.diagnoses import no_product
from simulator.api.notes import note, note_problems
from simulator.api.paging import days_of, page_size
from simulator.api.refusals import UNKNOWN_PRODUCT, refuse_parameters
from simulator.contract.query import whole
from simulator.domain.model.history import HistoryQuery, figures_of
from simulator.domain.model.transactions import Transaction
from simulator.wire import history

LIMIT_MAX = 1000


def transactions(call: Call) -> Reply:
    """200 with a page of the reseller's transactions and the figures of the whole search."""
    state, records = call.sandbox.core.state, call.owner.history
    days, problems = days_of(call)
    limit, too_large = page_size(call, "limit", LIMIT_MAX, "history-limit")
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
        statuses=frozenset(history.STATUS_FILTERS[name] for name in names or history.STATUS_FILTERS),
        product=product,
        account=call.fields.get("account", ""),
    )
    newest_first = not state.assumes("history-order", "oldest_first")
    offset = whole(call.fields, "offset", 0)
    if state.assumes("history-offset", "pages"):
        offset *= limit
    page, figures = records.find(wanted, offset, limit, newest_first=newest_first)
    if state.assumes("history-meta", "page"):
        figures = figures_of(page)
    return Reply(200, history.body([_record(call, one) for one in page], figures))


def _is_known(call: Call, product: str) -> bool:
    return product in call.sandbox.core.state.catalog.products or product in call.owner.history.products()


def _record(call: Call, one: Transaction) -> dict[str, str | None]:
    state = call.sandbox.core.state
    return history.record(
        one,
        state.catalog.products.get(one.product),
        category_ids=state.assumes("history-category", "id"),
        payment_names=state.assumes("history-status-names", "payment"),
    )
