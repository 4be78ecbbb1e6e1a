"""The biller list of SPEC 2.14."""

from typing import Any
from urllib.parse import urlencode

from simulator.domain.model.catalog import Option, OptionList, Product
from simulator.domain.model.options import limits
from simulator.wire.money import limit_text
from simulator.wire.paging import Page

PATH = "/v1/interbank/billers"


def billers(product: Product | None, found: OptionList, page: Page, filters: dict[str, str], *, is_paged: bool) -> Any:
    """The whole body. `filters` are repeated in the links; without paging there is one page and one link."""
    first, last = page.bounds
    return {
        "message": "Success",
        "data": [] if product is None else [_biller(product, option) for option in found[page.items]],
        "links": _links(page, filters, is_paged),
        "meta": {
            "current_page": page.current,
            "from": first,
            "last_page": page.last,
            "path": PATH,
            "per_page": page.size,
            "to": last,
            "total": page.total,
        },
    }


def _biller(product: Product, option: Option) -> dict[str, Any]:
    low, high = limits(product, option)
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


def _links(page: Page, filters: dict[str, str], is_paged: bool) -> dict[str, str | None]:
    def link(number: int) -> str:
        paging = {"page": str(number), "limit": str(page.size)} if is_paged else {}
        query = urlencode(filters | paging)
        return f"{PATH}?{query}" if query else PATH

    before, after = min(page.current - 1, page.last), page.current + 1
    return {
        "first": link(1),
        "last": link(page.last),
        "prev": link(before) if before >= 1 else None,
        "next": link(after) if after <= page.last else None,
    }
