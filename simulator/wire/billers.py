"""The biller list of SPEC 2.14."""

from typing import Any

from simulator.domain.model.catalog import Option, OptionList, Product
from simulator.domain.model.options import amount_range
from simulator.wire.money import limit_text
from simulator.wire.paging import Page, link

PATH = "/v1/interbank/billers"


def billers(
    product: Product | None, found: OptionList, page: Page, prefix: str, filters: dict[str, str], *, is_paged: bool
) -> Any:
    """The whole body. `prefix` is the path of the sandbox and `filters` are repeated in the links; without paging there
    is one page and one link."""
    path = prefix + PATH
    first, last = page.bounds
    return {
        "message": "Success",
        "data": [] if product is None else [_biller(product, option) for option in found[page.items]],
        "links": _links(path, page, filters, is_paged),
        "meta": {
            "current_page": page.current,
            "from": first,
            "last_page": page.last,
            "path": path,
            "per_page": page.size,
            "to": last,
            "total": page.total,
        },
    }


def _biller(product: Product, option: Option) -> dict[str, Any]:
    low, high = amount_range(product, option)
    shown: dict[str, Any] = {
        "biller_code": option.code,
        "display_name": option.label,
        "denomination": None,
        "face_value": None,
        "validity": option.validity,
        "account_number": None,
        "additional_description": list(option.additional_description),
        "min": limit_text(low),
        "max": limit_text(high),
        "suggested_category": option.suggested_category,
    }
    if option.description:
        shown["description"] = option.description
    return shown


def _links(path: str, page: Page, filters: dict[str, str], is_paged: bool) -> dict[str, str | None]:
    def to(number: int) -> str:
        return link(path, filters | ({"page": str(number), "limit": str(page.size)} if is_paged else {}))

    before, after = min(page.current - 1, page.last), page.current + 1
    return {
        "first": to(1),
        "last": to(page.last),
        "prev": to(before) if before >= 1 else None,
        "next": to(after) if after <= page.last else None,
    }
