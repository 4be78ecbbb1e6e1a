"""Transaction history (SPEC 2.4): every value is a string. Here success is spelled with a double s."""

from collections.abc import Mapping
from typing import Any

from simulator.domain.model.catalog import Category, Product
from simulator.domain.model.history import HISTORY_STATUSES, Figures, HistoryStatus
from simulator.domain.model.transactions import SETTLED, Transaction
from simulator.wire import payment_answers
from simulator.wire.formats import amount_text, year_first_ms

STATUS_FILTERS: Mapping[str, HistoryStatus] = {
    "SUCCESSFUL": HistoryStatus.SUCCESSFUL,
    "PENDING": HistoryStatus.PENDING,
    "FAILED": HistoryStatus.FAILED,
    "REFUND": HistoryStatus.REFUND,
}
HISTORY_STATUS_NAMES: Mapping[HistoryStatus, str] = {
    status: name.capitalize() for name, status in STATUS_FILTERS.items()
}


def record(
    transaction: Transaction,
    product: Product | None,
    *,
    category_ids: bool = False,
    payment_names: bool = False,
) -> dict[str, str | None]:
    """Return one element of `data`. `product` is None when the catalog no longer has it; `category_ids` writes the
    category's id instead of its name, `payment_names` distinguishes the non-final statuses."""
    result = transaction.result
    texts = result.texts
    status = HISTORY_STATUSES[result.kind.status]
    is_named_apart = payment_names and status is HistoryStatus.PENDING
    name = payment_answers.STATUS_NAMES[result.kind.status] if is_named_apart else HISTORY_STATUS_NAMES[status]
    return {
        "trxid": transaction.trxid,
        "date": year_first_ms(transaction.created),
        "product_code": transaction.product,
        "product_name": transaction.kind.product_name,
        "biller_code": _biller(transaction, product),
        "product_image_url": product.image_url if product else "",
        "category": _category(transaction.kind.category, category_ids),
        "amount": amount_text(transaction.amount),
        "account": transaction.account,
        "sender": transaction.sender,
        "member_id": transaction.reseller,
        "status_code": str(result.kind.code),
        "status_name": name,
        "response_date": year_first_ms(result.at) if result.kind.status in SETTLED else "",
        "price": amount_text(result.kind.cost),
        "sn": texts.sn,
        "pin": texts.pin,
        "expiry": f"{texts.expiry:%Y%m%d}" if texts.expiry else "",
        "remarks": texts.remarks or None,
        "refid": transaction.refid,
        "voucherlink": texts.voucherlink or None,
        "currency": transaction.kind.currency,
    }


def meta(figures: Figures) -> dict[str, str]:
    """Return the summary beside the page."""
    counts = figures.counts
    return {
        "transaction_count": str(sum(counts.values())),
        "total_amount": amount_text(figures.amount),
        "total_price": amount_text(figures.price),
        "profit": amount_text(figures.amount - figures.price),
        "successful_count": str(counts[HistoryStatus.SUCCESSFUL]),
        "failed_count": str(counts[HistoryStatus.FAILED]),
        "pending_count": str(counts[HistoryStatus.PENDING]),
        "refund_count": str(counts[HistoryStatus.REFUND]),
    }


def body(
    page: list[Transaction],
    figures: Figures,
    products: Mapping[str, Product],
    *,
    category_ids: bool = False,
    payment_names: bool = False,
) -> dict[str, Any]:
    """Return the body of a 200; see `record`."""
    data = [
        record(transaction, products.get(transaction.product), category_ids=category_ids, payment_names=payment_names)
        for transaction in page
    ]
    return {"data": data, "meta": meta(figures)}


def _category(category: Category | None, as_id: bool) -> str:
    """Empty for a product without a category."""
    if category is None:
        return ""
    return category.id if as_id else category.name


def _biller(transaction: Transaction, product: Product | None) -> str | None:
    """Return the biller of a payment, if its product is paid to billers."""
    biller = transaction.extras.get("biller_code")
    takes_one = product is None or "biller_code" in product.fulfillment.extras
    return str(biller) if takes_one and biller else None
