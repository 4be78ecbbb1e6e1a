"""The account of a reseller: balance, threshold of alerts, configuration of callbacks, and the balance statement
(SPEC 2.5, 2.8, 2.9, 4.15)."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.history import Total
from simulator.domain.model.wallet import Entry, EntryType
from simulator.wire.formats import day_first, number, year_first, year_first_ms
from simulator.wire.option_lists import link


def balance(amount: Decimal, *, flat: bool = False) -> dict[str, Any]:
    """Return the balance record; SPEC does not show it."""
    record = {"balance": number(amount), "currency": "MYR"}
    return record if flat else {"data": record}


def threshold(email: str, amount: Decimal, now: datetime) -> dict[str, Any]:
    """Return the threshold that was set; the date in this `@metadata` has the year first."""
    note = f"An alert goes to {email} when the balance falls below RM {amount:.2f}."
    return {
        "data": {"Status": "Success", "Email": email, "BalanceThreshold": number(amount), "Note": note},
        "@metadata": {"status_code": 200, "last_updated": year_first(now)},
    }


def configuration(config: CallbackConfig, now: datetime) -> dict[str, Any]:
    """Return the callback configuration; `last_updated` is now when it was never set."""
    return {
        "data": {"Status": "Success", "CallbackUrl": config.url, "Method": config.method},
        "@metadata": {"status_code": 200, "last_updated": day_first(config.updated or now)},
    }


SUMMARY: Mapping[str, EntryType] = {
    "total_transactions": EntryType.TRANSACTION,
    "total_deposit": EntryType.DEPOSIT,
    "total_refund": EntryType.REFUND,
}


class StatementPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page: its number from 1, its length, the number of entries in the search; `address` is the statement's URL
    and `query` the parameters other than page and limit."""

    page: int
    limit: int
    total: int
    address: str
    query: Mapping[str, str]

    @property
    def last(self) -> int:
        """Return the last page's number; an empty statement has a single page."""
        return max(1, -(-self.total // self.limit))


def statement(
    entries: list[Entry],
    sheet: StatementPage,
    totals: Mapping[EntryType, Total],
    *,
    unsigned: bool = False,
    commissions: bool = False,
) -> dict[str, Any]:
    """Return the body of a 200. `totals` cover the whole search; `unsigned` omits their sign, and `commissions`
    counts commissions as deposits."""
    if commissions:
        deposits, others = totals[EntryType.DEPOSIT], totals[EntryType.COMMISSION]
        both = Total(deposits.count + others.count, deposits.amount + others.amount)
        totals = {**totals, EntryType.DEPOSIT: both}
    return {
        "data": [_entry(entry) for entry in entries],
        "links": _links(sheet),
        "meta": _meta(sheet, len(entries)),
        "summary": {name: _total(totals[type_], unsigned) for name, type_ in SUMMARY.items()},
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "date": year_first_ms(entry.at),
        "amount": number(entry.amount),
        "balance": number(entry.balance),
        "remarks": entry.remarks,
        "type": entry.type.value,
    }


def _links(sheet: StatementPage) -> dict[str, str | None]:
    before, after = min(sheet.page - 1, sheet.last), sheet.page + 1
    return {
        "first": _link(sheet, 1),
        "last": _link(sheet, sheet.last),
        "prev": _link(sheet, before) if before else None,
        "next": _link(sheet, after) if after <= sheet.last else None,
    }


def _link(sheet: StatementPage, page: int) -> str:
    return link(sheet.address, {**sheet.query, "page": page, "limit": sheet.limit})


def _meta(sheet: StatementPage, count: int) -> dict[str, Any]:
    before = (sheet.page - 1) * sheet.limit
    return {
        "current_page": sheet.page,
        "from": before + 1 if count else 0,
        "last_page": sheet.last,
        "path": sheet.address,
        "per_page": sheet.limit,
        "to": before + count if count else 0,
        "total": sheet.total,
    }


def _total(total: Total, unsigned: bool) -> dict[str, Any]:
    return {"amount": number(abs(total.amount) if unsigned else total.amount), "count": total.count}
